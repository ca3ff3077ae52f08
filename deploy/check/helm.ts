import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Checker, type CheckRun, hold } from './checker.ts';
import { checkManifests } from './helm-manifests.ts';
import { lint, type Release, render, template, VALUE_FILES } from './helm-release.ts';
import { checkRunning } from './helm-service.ts';
import { install, run, schemas } from './tools.ts';

export const CHECKERS: readonly Checker[] = [
  {
    name: 'helm',
    about: 'deploy/helm with three value files: lint, template, and values that are refused.',
    run: checkChart,
  },
  {
    name: 'manifests',
    about: 'what the chart renders, by the types of Kubernetes and the Prometheus operator; one release as a process.',
    run: checkRendered,
  },
];

/** Values that are wrong, and what helm must say of them. */
interface Refusal {
  readonly about: string;
  readonly more: readonly string[];
  readonly says: RegExp;
}

const DOMAINS = 'domains: { goods: { store: { kind: none }, engine: { kind: sqlite, demo: true } } }';

function refusals(folder: string): readonly Refusal[] {
  const config = (name: string, text: string): readonly string[] => {
    const path = join(folder, `${name}.yaml`);
    writeFileSync(path, text);
    return ['--set-file', `config=${path}`];
  };
  return [
    { about: 'a misspelt name', more: ['--set', 'replicaz=3'], says: /replicaz/ },
    { about: 'a misspelt name inside', more: ['--set', 'autoscaling.maxReplica=3'], says: /autoscaling.*maxReplica/s },
    { about: 'a negative number', more: ['--set', 'replicas=-1'], says: /replicas.*minimum/is },
    {
      about: 'a grace period that is too short',
      more: ['--set', 'terminationGracePeriodSeconds=20'],
      says: /terminationGracePeriodSeconds is 20, below 25: preStopSeconds 5, public\.drain 4 s/,
    },
    {
      about: 'a drain that is longer than the grace period',
      more: ['--set', 'terminationGracePeriodSeconds=40', ...config('drain', `public: { drain: 0.5m }\n${DOMAINS}\n`)],
      says: /terminationGracePeriodSeconds is 40, below 51: .*public\.drain 30 s/,
    },
    { about: 'no token', more: ['--set-json', 'secrets=[]'], says: /ADMIN_TOKEN/ },
    {
      about: 'a secret as a variable',
      more: ['--set', 'environment.STORE_PASSWORD=x'],
      says: /environment\.STORE_PASSWORD: a secret/,
    },
    { about: 'a variable of the chart', more: ['--set', 'environment.HOST=::'], says: /HOST is set twice/ },
    {
      about: 'a password in the configuration',
      more: config('password', `control: { kind: standalone, nodes: ["a:6379"], password: plain }\n${DOMAINS}\n`),
      says: /config: .* for the value of password/,
    },
    {
      about: 'a signing key in the configuration',
      more: config('signing', `signing: { key: 0123456789abcdef0123456789abcdef }\n${DOMAINS}\n`),
      says: /config: .* for the value of signing\.key/,
    },
    {
      about: 'a configuration without domains',
      more: config('empty', '# nothing yet\n'),
      says: /there are no domains/,
    },
    {
      about: 'a variable that nothing sets',
      more: config('unset', `${DOMAINS}\nlog: { level: "\${LEVEL}" }\n`),
      says: /config: \$\{LEVEL\} is set neither by secrets nor by environment/,
    },
    { about: 'a configuration that is no YAML', more: config('broken', 'public: {'), says: /config: .*yaml/i },
    {
      about: 'fewer replicas at most than at least',
      more: ['--set', 'autoscaling.enabled=true,autoscaling.minReplicas=9,autoscaling.maxReplicas=3'],
      says: /autoscaling\.minReplicas is 9, above maxReplicas 3/,
    },
  ];
}

async function checkChart({ folder, say, signal }: CheckRun): Promise<string> {
  for (const name of VALUE_FILES) {
    say(name);
    await lint(name, { signal });
    await template(name, { signal });
  }
  say('wrong values');
  const wrong = refusals(folder);
  for (const { about, more, says } of wrong) {
    const said = await template('small', { signal, more }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    hold(said !== undefined, `helm template takes ${about}: ${more.join(' ')}`);
    hold(says.test(said), `helm template refuses ${about} and does not say ${says}: ${said}`);
  }
  return `${VALUE_FILES.length} value files, ${wrong.length} wrong values refused by name`;
}

/** Faults of manifests, and what `schemas` must say of them. */
const FAULTS: readonly (readonly [from: string, to: string, says: RegExp])[] = [
  ['  replicas: 2', '  replicaz: 2', /Deployment\/serpcache: .*unknown field "spec\.replicaz"/],
  ['runAsUser: 1000', 'runAsUser: "1000"', /Deployment\/serpcache: .*runAsUser/],
  ['kind: PodDisruptionBudget', 'kind: PodDisruptionBudge', /PodDisruptionBudge\/serpcache: no kind/],
  ['targetPort: admin', 'targetPort: operators', /Service\/serpcache-admin: .*have no port operators/],
  [
    'httpGet: { path: /readyz, port: public }',
    'httpGet: { path: /readyz, port: pub }',
    /readinessProbe: there is no port pub/,
  ],
  ['serviceAccountName: serpcache', 'serviceAccountName: other', /there is no ServiceAccount other/],
];

async function checkDecoder(program: string, { text }: Release, signal: AbortSignal): Promise<void> {
  for (const [from, to, says] of FAULTS) {
    hold(text.includes(from), `the manifests have no ${from}`);
    const { stderr } = await run(program, ['manifests'], { input: text.replace(from, to), signal, allowed: [1] });
    hold(says.test(stderr), `of ${to} schemas does not say ${says}: ${stderr}`);
  }
}

async function checkRendered(check: CheckRun): Promise<string> {
  const { folder, say, signal } = check;
  const program = await schemas();
  let count = 0;
  const releases = await Promise.all(VALUE_FILES.map((name) => render(name, { signal })));
  for (const release of releases) {
    say(release.name);
    const { stdout } = await run(program, ['manifests'], { input: release.text, signal });
    count += stdout.trimEnd().split('\n').length;
    await checkManifests(release, folder);
  }
  const [small] = releases;
  hold(small !== undefined, 'there is no value file');
  await checkDecoder(program, small, signal);
  say('small as a process');
  install('valkey');
  const lived = await checkRunning(small, check);
  return `${releases.length} value files, ${count} manifests decoded, ${FAULTS.length} faults found; ${lived}`;
}
