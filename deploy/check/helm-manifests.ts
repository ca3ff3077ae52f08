import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { makeCertificates } from '../../loadtest/stack/redis-node.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { Settings, StoreSettings } from '../../src/config/settings.ts';
import { hold } from './checker.ts';
import { environmentOf, type Manifest, parsed, type Release, type Rule, writeConfiguration } from './helm-release.ts';
import { ROOT } from './tools.ts';

const HOME = '/app';
const CONFIG_FILE = '/etc/serpcache/config/serpcache.yaml';
/** The memory of a process with a full L1: measured, 1.6 bytes for each byte of L1 over 190 MiB, and some room. */
const BYTES_PER_L1_BYTE = 1.7;
const BASE_BYTES = 300 * 2 ** 20;
const UNITS: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/** Facts that types cannot tell. @throws with the first that does not hold. */
export async function checkManifests(release: Release, folder: string): Promise<void> {
  const fault = (text: string): string => `deploy/helm/values/${release.name}.yaml: ${text}`;
  hold(!release.manifests.some(({ kind }) => kind === 'Secret'), fault('the chart makes a Secret'));
  const settings = await settingsOf(release, folder, fault);
  checkProcess(release, settings, fault);
  checkPod(release, fault);
  for (const manifest of release.manifests) {
    if (manifest.kind === 'NetworkPolicy') checkNetwork(manifest, settings, fault);
    if (manifest.kind === 'HorizontalPodAutoscaler') checkAutoscaler(manifest, fault);
    if (manifest.kind === 'ServiceMonitor') checkServiceMonitor(manifest, settings, release, fault);
  }
  checkCopies(release, fault);
}

type Fault = (text: string) => string;

/** The settings of the Pod: a variable that nothing sets, and a file that no Secret brings, are faults. */
async function settingsOf(release: Release, folder: string, fault: Fault): Promise<Settings> {
  const { certFile, keyFile } = await makeCertificates(folder);
  const env = environmentOf(release);
  hold(env['SERPCACHE_CONFIG'] === CONFIG_FILE, fault(`SERPCACHE_CONFIG is ${env['SERPCACHE_CONFIG']}`));
  const mounts = release.container.volumeMounts.map(({ mountPath }) => `${mountPath}/`);
  const file = writeConfiguration(release, folder);
  return loadSettings({
    env,
    cwd: HOME,
    readFile: (path) => {
      hold(
        mounts.some((mount) => path.startsWith(mount)),
        fault(`the configuration names ${path}, and no volume is mounted there`),
      );
      if (path === CONFIG_FILE) return readFileSync(file, 'utf8');
      return readFileSync(path.endsWith('.key') ? keyFile : certFile, 'utf8');
    },
  });
}

function checkProcess({ container, graceSeconds, manifests }: Release, settings: Settings, fault: Fault): void {
  const preStopSeconds = Number(container.lifecycle.preStop.exec.command.at(-1));
  const least = preStopSeconds + settings.public.drainMs / 1000;
  hold(
    preStopSeconds > 0 && graceSeconds > least,
    fault(`terminationGracePeriodSeconds is ${graceSeconds}, and preStop and drain alone take ${least} s`),
  );

  const portOf = (name: string): number | undefined =>
    container.ports.find((port) => port.name === name)?.containerPort;
  for (const name of ['public', 'admin'] as const) {
    const { host, port } = settings[name];
    hold(host === '0.0.0.0' && port === portOf(name), fault(`the ${name} listener is at ${host}:${port}`));
  }
  hold(settings.admin.token !== undefined, fault('the admin listener has no token'));
  // Clients may take all connections of the public listener.
  const { port, scheme = 'HTTP' } = container.livenessProbe.httpGet;
  const expected = settings.admin.tls === undefined ? 'HTTP' : 'HTTPS';
  hold(
    port === 'admin' && scheme === expected,
    fault(`the livenessProbe asks ${port} by ${scheme}, not admin by ${expected}`),
  );
  const { hosts } = settings.admin;
  const service = manifests.find(({ kind, metadata }) => kind === 'Service' && metadata.name.endsWith('-admin'));
  hold(service !== undefined, fault('there is no Service for operators'));
  const { type = 'ClusterIP', clusterIP } = service.spec ?? {};
  hold(type === 'ClusterIP' && clusterIP === 'None', fault(`the Service for operators is ${type}, ${clusterIP}`));
  // With a list, other names are refused.
  if (hosts.length > 0)
    hold(hosts.includes(service.metadata.name), fault(`admin.hosts lacks ${service.metadata.name}`));

  const l1 = settings.domains.reduce((sum, { memory }) => sum + memory.maxBytes, 0);
  const limit = bytesOf(container.resources.limits.memory);
  const needed = l1 * BYTES_PER_L1_BYTE + BASE_BYTES;
  hold(needed <= limit, fault(`the memory limit is ${limit} bytes, and an L1 of ${l1} needs ${Math.round(needed)}`));

  // The root is read-only.
  const writable = container.volumeMounts.filter(({ readOnly }) => readOnly !== true);
  const isWritable = (path: string): boolean =>
    writable.some(({ mountPath }) => path.startsWith(`${mountPath}/`) || path === mountPath);
  const written = ['/tmp', settings.drills.directory, settings.audit.file];
  for (const { engine } of settings.domains) if (engine.kind === 'sqlite') written.push(engine.directory);
  for (const path of written) hold(isWritable(path), fault(`${path} is on no volume that can be written`));
  for (const { name, lifeboat } of settings.domains) {
    const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
    if (lifeboat !== undefined)
      hold(mounts.includes(lifeboat.directory), fault(`no volume has the lifeboat of ${name}`));
  }
}

function bytesOf(quantity: string): number {
  const [, number = '', unit = ''] = /^(\d+)([KMG]i)$/.exec(quantity) ?? [];
  const bytes = Number(number) * (UNITS[unit] ?? Number.NaN);
  hold(bytes > 0, `no quantity of bytes: ${quantity}`);
  return bytes;
}

const CONTAINER_RIGHTS = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
const POD_RIGHTS = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  fsGroup: 1000,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
};
/** One after the other, so that capacity never falls. */
const ROLLOUT = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };

/** The rights of the Pod, its life and its rollout: nothing else would notice a change of these. */
function checkPod({ manifests, container }: Release, fault: Fault): void {
  const specOf = (wanted: string) => manifests.find(({ kind }) => kind === wanted)?.spec ?? {};
  const deployment = specOf('Deployment');
  const template = deployment['template'] as {
    readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
    readonly spec: Readonly<Record<string, unknown>> & { readonly volumes: readonly { readonly secret?: object }[] };
  };
  const { startupProbe, livenessProbe } = container;
  const facts: readonly (readonly [name: string, is: unknown, expected: unknown])[] = [
    ['securityContext of the container', container.securityContext, CONTAINER_RIGHTS],
    ['securityContext of the Pod', template.spec['securityContext'], POD_RIGHTS],
    ['automountServiceAccountToken', template.spec['automountServiceAccountToken'], false],
    ['strategy', deployment['strategy'], ROLLOUT],
    ['path of livenessProbe', livenessProbe.httpGet.path, '/healthz'],
    // A late loop is no reason for a restart, and a start may build an index.
    ['livenessProbe waits for a minute', livenessProbe.failureThreshold * livenessProbe.periodSeconds >= 60, true],
    ['startupProbe waits for two minutes', startupProbe.failureThreshold * startupProbe.periodSeconds >= 120, true],
    ['preStop', container.lifecycle.preStop.exec.command[0], 'sleep'],
    ['maxUnavailable of the PodDisruptionBudget', specOf('PodDisruptionBudget')['maxUnavailable'], 1],
    ['a change of the configuration is a rollout', template.metadata.annotations['checksum/config']?.length, 64],
  ];
  for (const [name, is, expected] of facts)
    hold(isDeepStrictEqual(is, expected), fault(`${name}: ${JSON.stringify(is)}, not ${JSON.stringify(expected)}`));
  for (const { secret } of template.spec.volumes) {
    // Written 0440, which YAML 1.1 and Kubernetes read as octal; here it is a decimal number.
    const mode = secret === undefined ? 440 : 'defaultMode' in secret && secret.defaultMode;
    hold(mode === 440, fault(`files of a Secret have mode ${mode}: the group must read them`));
  }
}

/** Each server of the configuration may be reached, and the admin port by nobody who may reach the public one. */
function checkNetwork({ spec = {} }: Manifest, settings: Settings, fault: Fault): void {
  const [ingress, egress] = [spec['ingress'] as readonly Rule[], spec['egress'] as readonly Rule[]];
  hold(isDeepStrictEqual(spec['policyTypes'], ['Ingress', 'Egress']), fault('policyTypes leave a direction open'));
  for (const { ports = [], from, to } of [...ingress, ...egress]) {
    hold((from ?? to ?? []).length > 0, fault('a rule of the NetworkPolicy has no peers: it admits everybody'));
    hold(ports.length > 0, fault('a rule of the NetworkPolicy has no ports: it opens the admin port'));
  }
  const peersOf = (port: string): readonly unknown[] =>
    ingress.filter(({ ports = [] }) => ports.some((each) => each.port === port)).flatMap(({ from = [] }) => from);
  const [clients, operators] = [peersOf('public'), peersOf('admin')];
  hold(clients.length > 0 && operators.length > 0, fault('the NetworkPolicy admits no clients or no operators'));
  const both = clients.filter((peer) => operators.some((other) => isDeepStrictEqual(peer, other)));
  hold(both.length === 0, fault(`the NetworkPolicy opens the admin port to clients: ${JSON.stringify(both)}`));

  const open = new Set(egress.flatMap(({ ports = [] }) => ports.map(({ protocol, port }) => `${protocol} ${port}`)));
  for (const needed of ['UDP 53', ...portsOf(settings).map((port) => `TCP ${port}`)])
    hold(open.has(needed), fault(`no rule of egress opens ${needed}`));
}

function portsOf({ control, counters, domains, tracing }: Settings): readonly number[] {
  const stores: readonly StoreSettings[] = [control, counters, ...domains.map(({ store }) => store)];
  const url = tracing?.exporter.kind === 'otlp' ? new URL(tracing.exporter.url) : undefined;
  return [
    ...stores.flatMap((store) =>
      store.kind === 'none'
        ? []
        : (store.kind === 'sentinel' ? store.sentinels : store.nodes).flatMap((node) =>
            'port' in node ? node.port : [],
          ),
    ),
    ...domains.flatMap(({ engine }) => (engine.kind === 'sqlite' ? [] : engine.endpoints.map(({ port }) => port))),
    ...(url === undefined ? [] : [Number(url.port || (url.protocol === 'https:' ? 443 : 80))]),
  ];
}

/** By name: whatever else rises while the engine is slow would scale out its own attackers. */
function checkAutoscaler({ spec = {} }: Manifest, fault: Fault): void {
  const metrics = spec['metrics'] as readonly {
    readonly type: string;
    readonly resource?: { readonly name: string };
    readonly pods?: { readonly metric: { readonly name: string } };
  }[];
  const adapter = parsed('deploy', 'helm', 'prometheus-adapter.yaml') as {
    readonly rules: { readonly custom: readonly [{ readonly name: { readonly as: string } }] };
  };
  const names = metrics.map(({ type, resource, pods }) => `${type} ${resource?.name ?? pods?.metric.name}`);
  const allowed = ['Resource cpu', `Pods ${adapter.rules.custom[0].name.as}`];
  hold(isDeepStrictEqual(names, allowed), fault(`the autoscaler reads ${names.join(', ')}, not ${allowed.join(', ')}`));
}

function checkServiceMonitor({ spec = {} }: Manifest, { admin }: Settings, { manifests }: Release, fault: Fault): void {
  const [endpoint] = spec['endpoints'] as readonly [{ readonly scheme?: string; readonly honorLabels?: boolean }];
  const scheme = admin.tls === undefined ? undefined : 'https';
  hold(endpoint.scheme === scheme, fault(`the ServiceMonitor has scheme ${endpoint.scheme}, not ${scheme}`));
  hold(endpoint.honorLabels === true, fault('the label `endpoint` of metrics would be replaced'));
  // Every alert asks for this job.
  const service = manifests.find(({ kind, metadata }) => kind === 'Service' && metadata.name.endsWith('-admin'));
  const job = service?.metadata.labels[String(spec['jobLabel'])];
  hold(job === 'serpcache', fault(`the label job would be ${job}`));
}

/** Rules and dashboards are those of the project. */
function checkCopies({ manifests }: Release, fault: Fault): void {
  const rules = manifests.filter(({ kind }) => kind === 'PrometheusRule');
  for (const { metadata, spec } of rules) {
    const name = metadata.name.split('-').at(-1);
    const own = parsed('deploy', 'prometheus', `${name}.rules.yaml`);
    hold(isDeepStrictEqual(spec, own), fault(`${metadata.name} differs from deploy/prometheus/${name}.rules.yaml`));
  }
  const boards = manifests.find(({ metadata }) => metadata.name.endsWith('-dashboards'));
  hold(rules.length > 0 === (boards !== undefined), fault('it has rules and no dashboards, or the reverse'));
  if (boards?.data === undefined) return;
  const home = join(ROOT, 'deploy', 'grafana', 'dashboards');
  const own = Object.fromEntries(
    readdirSync(home).map((name) => [name, readFileSync(join(home, name), 'utf8').trim()]),
  );
  const rendered = Object.fromEntries(Object.entries(boards.data).map(([name, text]) => [name, text.trim()]));
  hold(rules.length === 2 && isDeepStrictEqual(rendered, own), fault('the dashboards differ from deploy/grafana'));
}
