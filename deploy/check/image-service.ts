import { spawn } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../../loadtest/stack/process.ts';
import { readManifest } from '../release/dependencies.ts';
import { type CheckRun, hold } from './checker.ts';
import { ask, type Container, type ContainerOptions, type Image, runContainer, startContainer } from './container.ts';
import type { TrafficReport } from './image-traffic.ts';
import { checkSbom, packageText } from './sbom.ts';
import { ROOT, run } from './tools.ts';

/** The README's command that shows the demo from a container. */
export const TRY_COMMAND =
  'docker build -t serpcache -f deploy/docker/Dockerfile . && docker run --rm -p 8080:8080 serpcache';
/** The user of the image, and the owner of its volumes. */
const USER = 1000;
const BASE = 'http://127.0.0.1:8080';
/** A word of the demo's goods; the demo is in Russian. */
export const QUERY = 'кроссовки';
const START_LIMIT_MS = 60_000;
const PROBE_LIMIT_MS = 10_000;
/** `public.drain` is 4 s by default; then every part may take 2.5 s to close. */
const DRAIN_LIMIT_MS = 8000;
const TRAFFIC_LIMIT_MS = 30_000;
/** The only folder that the service writes: the demo's indexes. */
const DATA = '/app/data';
/** All that is in /app: no tests, no load generator and no history. */
const FILES = ['data', 'node_modules', 'package.json', 'sbom.cdx.json', 'src'];

/** The service's image serves, is healthy, drains, and writes nothing outside its volume. @returns what was seen. */
export async function checkService(image: Image, { folder, say, signal }: CheckRun): Promise<string> {
  checkConfig(image);
  checkFiles(image);
  const packages = checkSbom(
    join(image.root, 'app/sbom.cdx.json'),
    new Set(packagesIn(join(image.root, 'app/node_modules'))),
  );
  const data = volumeFolder(folder, 'data');
  const volumes = [{ source: data, target: DATA }];
  // It holds the network while the service is gone, for a probe that must then fail.
  const holder = await startContainer({
    name: 'holder',
    image,
    folder,
    network: { kind: 'none' },
    command: ['sleep', 'infinity'],
  });
  const network = { kind: 'shared', pid: holder.pid } as const;
  const ends: Container[] = [holder];
  try {
    say('the service starts');
    const startedMs = Date.now();
    const service = await startContainer({ name: 'service', image, folder, network, volumes });
    ends.push(service);
    const probe = (): Promise<number> => probeHealth({ name: 'probe', image, folder, network });
    await untilServing(service);
    hold((await searchIn(service, { q: QUERY })) > 0, `GET /search: nothing found for ${QUERY}`);
    hold((await probe()) === 0, 'HEALTHCHECK fails while the service runs');

    say('SIGTERM under traffic');
    const { report, status, tookMs } = await drain(service, signal);
    hold(report.faults.length === 0, `SIGTERM: ${report.faults.length} requests were cut: ${report.faults[0]}`);
    const completed = report.completed.filter((each) => each === 200).length;
    hold(completed === report.completed.length, `SIGTERM: half-sent requests got ${report.completed}`);
    hold(status === 0, `SIGTERM: process 1 ended with ${status ?? `nothing after ${DRAIN_LIMIT_MS} ms`}`);
    hold((await probe()) !== 0, 'HEALTHCHECK passes after the service ended');

    hold(readdirSync(data).length > 0, `nothing was written to ${DATA}: the demo's indexes were expected`);
    hold(!/EROFS|EACCES|read-only/i.test(service.readLog()), 'the service tried to write outside its volume');
    const changed = await changedSince(image.root, startedMs, DATA);
    hold(changed.length === 0, `written outside the volume: ${changed.slice(0, 3).join(', ')}`);

    say('a volume that cannot be written');
    const refused = await startReadOnly({ image, folder, network, data: volumeFolder(folder, 'refused') });
    return (
      `${report.answered} searches and ${completed} half-sent batches over SIGTERM, none cut, exit 0 in ` +
      `${(tookMs / 1000).toFixed(1)} s; writes only ${DATA}; ${refused}; SBOM of ${packages} packages`
    );
  } finally {
    for (const each of ends.reverse()) await each.stop(0);
  }
}

/** A folder that the user of the images may write. */
function volumeFolder(folder: string, name: string): string {
  const volume = join(folder, name);
  mkdirSync(volume);
  chownSync(volume, USER, USER);
  return volume;
}

export async function untilServing(service: Container, url = `${BASE}/healthz`): Promise<void> {
  const serves = async (): Promise<boolean> =>
    service.hasEnded() ||
    (await ask(service.pid, url).then(
      ({ status }) => status === 200,
      // Its namespace is gone.
      () => false,
    ));
  const ready = (await waitUntil(serves, START_LIMIT_MS, 200)) && !service.hasEnded();
  hold(ready, `${service.name} does not serve: ${service.readLog().trim().split('\n').slice(-3).join('\n')}`);
}

/** @returns how many documents a search found; each of its first page is in the answer. */
export async function searchIn(service: Container, query: Readonly<Record<string, string>>): Promise<number> {
  const { status, body } = await ask(service.pid, `${BASE}/search?${new URLSearchParams(query)}`);
  hold(status === 200, `${service.name}: GET /search got ${status}: ${body.slice(0, 200)}`);
  const { total, results } = JSON.parse(body) as { readonly total: number; readonly results: readonly unknown[] };
  hold(results.length > 0 || total === 0, `${service.name}: ${total} found, but no results in ${body.slice(0, 200)}`);
  return total;
}

function checkConfig({ config }: Image): void {
  hold(config.User === `${USER}:${USER}`, `USER is ${config.User}, not ${USER}:${USER}`);
  hold(config.StopSignal === 'SIGTERM', `STOPSIGNAL is ${config.StopSignal}`);
  hold(config.Cmd[0] === 'node', `CMD runs ${config.Cmd[0]}, which does not pass SIGTERM on`);
  // A runtime publishes this port of the container's interface: a listener on loopback is out of its reach.
  const port = / -p \d+:(\d+) /.exec(TRY_COMMAND)?.[1];
  for (const setting of ['HOST=0.0.0.0', `PORT=${port}`]) {
    hold(config.Env.includes(setting), `ENV has no ${setting}, so that "${TRY_COMMAND}" is not answered`);
  }
  const { version } = readManifest(ROOT);
  const label = config.Labels?.['org.opencontainers.image.version'];
  hold(label === version, `the label of the version is ${label}, not ${version}`);
}

function checkFiles({ root }: Image): void {
  const files = readdirSync(join(root, 'app')).sort();
  hold(files.join() === FILES.join(), `/app has ${files.join(', ')}, not ${FILES.join(', ')}`);
  // Without a volume the service makes its indexes in the image's own folder.
  const { uid } = statSync(join(root, DATA));
  hold(uid === USER, `${DATA} belongs to user ${uid}, not ${USER}`);
}

function packagesIn(modules: string): string[] {
  return readdirSync(modules, { withFileTypes: true }).flatMap((entry) => {
    const path = join(modules, entry.name);
    if (!entry.isDirectory() || entry.name.startsWith('.')) return [];
    if (entry.name.startsWith('@')) return packagesIn(path);
    const text = readFileSync(join(path, 'package.json'), 'utf8');
    const { name, version } = JSON.parse(text) as { readonly name: string; readonly version: string };
    const nested = statSync(join(path, 'node_modules'), { throwIfNoEntry: false });
    return [packageText({ name, version }), ...(nested?.isDirectory() ? packagesIn(join(path, 'node_modules')) : [])];
  });
}

/** Runs the image's HEALTHCHECK beside the service. */
async function probeHealth(options: Pick<ContainerOptions, 'name' | 'image' | 'folder' | 'network'>): Promise<number> {
  const [kind, ...command] = options.image.config.Healthcheck?.Test ?? [];
  hold(kind === 'CMD', 'HEALTHCHECK is missing, or needs a shell');
  return (await runContainer({ ...options, command, limitMs: PROBE_LIMIT_MS })).status;
}

async function drain(service: Container, signal: AbortSignal) {
  const program = join(import.meta.dirname, 'image-traffic.ts');
  const traffic = spawn('nsenter', [`--net=/proc/${service.pid}/ns/net`, process.execPath, program, BASE, QUERY], {
    signal: AbortSignal.any([signal, AbortSignal.timeout(TRAFFIC_LIMIT_MS)]),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const ended = new Promise<void>((resolve, reject) => {
    traffic.once('error', reject).once('close', () => resolve());
  });
  const opened = new Promise<void>((resolve) => {
    traffic.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('open\n')) resolve();
    });
  });
  await Promise.race([opened, ended]);
  const termedMs = performance.now();
  const status = await service.stop(DRAIN_LIMIT_MS);
  const tookMs = performance.now() - termedMs;
  await ended;
  const report = JSON.parse(said.trim().split('\n').at(-1) ?? '') as TrafficReport;
  return { report, status, tookMs };
}

/** Files of the image, which all its containers share read-only. `find` follows no link: some lead to this machine's /run. */
async function changedSince(root: string, sinceMs: number, except: string): Promise<readonly string[]> {
  const args = [root, '-path', join(root, except), '-prune', '-o', '-type', 'f', '-newermt', `@${sinceMs / 1000}`];
  const { stdout } = await run('find', [...args, '-printf', '/%P\\n']);
  return stdout.split('\n').filter((name) => name !== '');
}

async function startReadOnly({
  data,
  ...options
}: Pick<ContainerOptions, 'image' | 'folder' | 'network'> & { readonly data: string }): Promise<string> {
  const volumes = [{ source: data, target: DATA, readOnly: true }];
  const service = await startContainer({ name: 'read-only', ...options, volumes });
  try {
    const served = await untilServing(service).then(
      () => true,
      () => false,
    );
    if (served) return 'serves without writing';
    const status = await service.ended;
    hold(status !== 0 && service.readLog().includes(DATA), `a read-only volume: ${service.readLog().trim()}`);
    return 'a read-only volume is a clear error';
  } finally {
    await service.stop(0);
  }
}
