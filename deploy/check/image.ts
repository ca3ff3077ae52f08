import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readManifest } from '../release/dependencies.ts';
import { type Checker, type CheckRun, hold } from './checker.ts';
import { COMPOSE_FILE, machineImage, mountsOf, readStack, SECRETS } from './compose.ts';
import { runContainer } from './container.ts';
import { createBuilder } from './image-build.ts';
import { checkService, TRY_COMMAND } from './image-service.ts';
import { checkStack } from './image-stack.ts';
import { hadolint, install, ROOT, run, schemas } from './tools.ts';

const DOCKERFILE = join(ROOT, 'deploy', 'docker', 'Dockerfile');
const SEARCHD_BUILD = 'docker build -t searchd -f deploy/docker/Dockerfile --target searchd .';
const PROMTOOL_LIMIT_MS = 30_000;

export const CHECKERS: readonly Checker[] = [
  { name: 'hadolint', about: 'deploy/docker/Dockerfile has no finding.', run: checkDockerfile },
  {
    name: 'compose',
    about: 'deploy/compose by the types of Compose, and the configurations that it mounts.',
    run: checkCompose,
  },
  { name: 'image', about: 'builds the images, runs the service and then all of deploy/compose.', run: checkImage },
];

async function checkDockerfile({ signal }: CheckRun): Promise<string> {
  // Every finding counts; an exception is a comment in the file, with its reason.
  await run(await hadolint(), ['--no-color', '--failure-threshold', 'style', DOCKERFILE], { signal });
  const lines = readFileSync(DOCKERFILE, 'utf8').split('\n');
  const ignored = lines.filter((line) => line.includes('hadolint ignore=')).length;
  return `no finding in ${lines.length} lines, ${ignored} ignored with its reason`;
}

async function checkCompose({ folder, signal }: CheckRun): Promise<string> {
  await run(await schemas(), ['compose', COMPOSE_FILE], { env: SECRETS, signal });
  const { services } = readStack();
  const files = services.flatMap((service) => mountsOf(service, { folder, uid: 0 })).map(({ source }) => source);
  for (const file of files) hold(existsSync(file), `compose.yaml mounts ${file}, which does not exist`);

  const env = { ...SECRETS, SERPCACHE_CONFIG: join(ROOT, 'deploy', 'compose', 'serpcache.yaml') };
  await run(process.execPath, ['src/cli.ts', 'config', 'check'], { cwd: ROOT, env, signal });

  install('prometheus');
  const prometheus = services.find(({ name }) => name === 'prometheus');
  hold(prometheus !== undefined, 'compose.yaml has no prometheus');
  const file = prometheus.command?.flatMap((word) => /^--config\.file=(.+)$/.exec(word)?.[1] ?? [])[0] ?? '';
  const { status, log } = await runContainer({
    name: 'promtool',
    image: machineImage(folder),
    folder,
    network: { kind: 'none' },
    limitMs: PROMTOOL_LIMIT_MS,
    volumes: [{ source: '/usr', target: '/usr', readOnly: true }, ...mountsOf(prometheus, { folder, uid: 65_534 })],
    command: ['promtool', 'check', 'config', file],
  });
  hold(status === 0, `promtool check config ${file}: ${log}`);
  const rules = [...log.matchAll(/SUCCESS: (\d+) rules/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  hold(rules > 0, `promtool found no rules at the paths as mounted: ${log}`);
  return `${services.length} services decoded, ${new Set(files).size} mounts; serpcache.yaml and prometheus.yaml with ${rules} rules valid`;
}

async function checkImage(check: CheckRun): Promise<string> {
  const { version } = readManifest(ROOT);
  const builder = await createBuilder(check);
  const [serviceBuild = ''] = TRY_COMMAND.split(' && ');
  const service = await builder.image(serviceBuild, { 'org.opencontainers.image.version': version });
  const searchd = await builder.image(SEARCHD_BUILD);
  const served = await checkService(service, check);
  const composed = await checkStack({ serpcache: service, 'serpcache-searchd': searchd }, check);
  return `${served}; ${composed}`;
}
