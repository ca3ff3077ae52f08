/**
 * `npm run bench`: hits through the whole service against the least a Node server can do, with one page of about 4 KB.
 * Server on processor 0, client (and store) on processor 1, rounds alternated, ratios within each round: absolute rates
 * of a shared machine say little. Needs wrk and two processors; load goes to loopback only and ends by itself.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from '../src/clock.ts';
import { searchDomainOf } from '../src/compose-engine.ts';
import { loadSettings } from '../src/config/load.ts';
import { makeDemoIndexes } from '../src/first-start.ts';
import { prepareSearch } from '../src/search/prepare.ts';
import type { BarePlan } from './bench/bare.ts';
import { fillDocument } from './bench/full-document.ts';
import { fetchPage, pageOfSize } from './bench/page.ts';
import { processorMs } from './bench/processor.ts';
import { load } from './bench/wrk.ts';
import { accepts, freePorts, type RunningProcess, startProcess } from './stack/process.ts';
import { startCluster, startStandalone } from './stack/redis.ts';

const ROUNDS = 5;
const CONTROL_STARTS = 7;
const SECONDS = 4;
const CONNECTIONS = 64;
const PAGE_BYTES = 4096;
/** Far more entries than the smallest L1 holds, so that nearly every request is an L2 hit. */
const STORE_QUERIES = 4000;
const [SERVER_CPU, CLIENT_CPU] = [0, 1];

const root = resolve(import.meta.dirname, '..');
const directory = mkdtempSync(join(tmpdir(), 'serpcache-bench-'));
const cleanUp: (() => Promise<void>)[] = [];

interface Bench {
  readonly name: string;
  readonly target: number;
  readonly baseline: string;
  readonly targets: readonly string[];
  readonly serpcache: string;
  readonly bare: string;
  readonly outcome: string;
  /** Requests per second of the server's processor: where both are nearly equal, the client is the bottleneck. */
  readonly perCpu?: true;
}

/** Of the servers, by URL. */
const pids = new Map<string, number>();
const pidOf = (url: string): number => pids.get(url) ?? 0;

try {
  execFileSync(process.execPath, [join(root, 'loadtest/stack/install.ts'), 'redis', 'wrk'], { stdio: 'inherit' });
  const benches = { l1: memoryBench, control: controlBench, l2: storeBench };
  const only = process.argv[2] ?? '';
  const chosen = Object.entries(benches).filter(([name]) => only === '' || only === name);
  if (chosen.length === 0) throw new Error(`no bench "${only}"; there are ${Object.keys(benches).join(', ')}`);
  for (const [name, bench] of chosen) await run(bench, name === 'control' ? CONTROL_STARTS : 1);
} finally {
  for (const stop of cleanUp.toReversed()) await stop();
  rmSync(directory, { recursive: true, force: true });
}

async function memoryBench(): Promise<Bench> {
  const serpcache = await startServer('l1', 'store: { kind: none }', '64MiB');
  const target = await pageOfSize(serpcache, PAGE_BYTES);
  const { headers, body } = await fetchPage(serpcache + target);
  const bare = await startBare('bare', { headers, body });
  return {
    name: 'L1 hit',
    target: 0.7,
    baseline: 'bare node:http',
    targets: [target],
    serpcache,
    bare,
    outcome: 'hit-l1',
  };
}

/** The same service twice: the one follows a document as full as it may be in a store, the other nothing. */
async function controlBench(): Promise<Bench> {
  const stack = await startStandalone({ flavour: 'redis' });
  cleanUp.push(stack.stop);
  const [node] = stack.nodes;
  if (node === undefined) throw new Error('a stack without a server');
  execFileSync('taskset', ['-cp', `${CLIENT_CPU}`, `${node.pid()}`], { stdio: 'ignore' });
  const control = `control: { kind: standalone, nodes: ["${node.host}:${node.port}"] }\n`;
  const serpcache = await startServer('following', 'store: { kind: none }', '64MiB', control);
  const bare = await startServer('alone', 'store: { kind: none }', '64MiB');
  const target = await pageOfSize(serpcache, PAGE_BYTES);
  await fetchPage(bare + target);
  const pairs = [...new URLSearchParams(target.slice(target.indexOf('?')))];
  const { bucket } = prepareSearch({ pairs }, settingsOf('following').domains.map(searchDomainOf));
  await fillDocument('goods', node, bucket);
  const baseline = 'the same without a document';
  return {
    name: 'L1 hit, following',
    target: 0.99,
    baseline,
    targets: [target],
    serpcache,
    bare,
    outcome: 'hit-l1',
    perCpu: true,
  };
}

async function storeBench(): Promise<Bench> {
  const cluster = await startCluster({ flavour: 'redis', masters: 3 });
  cleanUp.push(cluster.stop);
  for (const node of cluster.nodes)
    execFileSync('taskset', ['-cp', `${CLIENT_CPU}`, `${node.pid()}`], { stdio: 'ignore' });
  const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }));
  const list = nodes.map(({ host, port }) => `"${host}:${port}"`).join(', ');
  const serpcache = await startServer('l2', `store: { kind: cluster, nodes: [${list}], deadline: 1s }`, '1MiB');
  const page = await pageOfSize(serpcache, PAGE_BYTES);
  // The same page under many keys: an upper bound nothing reaches.
  const targets = Array.from({ length: STORE_QUERIES }, (_, i) => `${page}&filter=price:..${90_000_000 + i}`);
  for (const target of targets) await fetchPage(serpcache + target);
  const { headers, body } = await fetchPage(serpcache + targets[0]);

  const settings = settingsOf('l2');
  const domains = settings.domains.map(searchDomainOf);
  const nameOf = Object.fromEntries(
    targets.map((target) => {
      const pairs = [...new URLSearchParams(target.slice(target.indexOf('?')))];
      return [target, prepareSearch({ pairs }, domains).storeName];
    }),
  );
  const bare = await startBare('bare-store', { headers, body, store: { nodes, nameOf } });
  return { name: 'L2 hit', target: 0.8, baseline: 'node:http + ioredis', targets, serpcache, bare, outcome: 'hit-l2' };
}

/** Of one start of both servers: ours over the other, in rounds that alternate. */
async function measureBench(bench: Bench, rounds: number): Promise<{ ours: number; bare: number }[]> {
  const measure = async (baseUrl: string): Promise<number> => {
    const { targets } = bench;
    const options = { baseUrl, targets, seconds: SECONDS, connections: CONNECTIONS, cpu: CLIENT_CPU, directory };
    const beforeMs = bench.perCpu ? processorMs(pidOf(baseUrl)) : 0;
    const result = await load(options);
    if (result.errors > 0)
      throw new Error(`${bench.name}: ${result.errors} errors at ${baseUrl}; nothing was measured`);
    if (!bench.perCpu) return result.requestsPerSecond;
    return (result.requestsPerSecond * SECONDS * 1000) / (processorMs(pidOf(baseUrl)) - beforeMs);
  };
  await measure(bench.serpcache);
  await measure(bench.bare);
  const measured: { ours: number; bare: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    measured.push({ ours: await measure(bench.serpcache), bare: await measure(bench.bare) });
  }
  return measured;
}

/** @param starts of both servers: one process may be a fifth faster than the next, for as long as it lives */
async function run(make: () => Promise<Bench>, starts: number): Promise<void> {
  const rounds: { ours: number; bare: number }[] = [];
  let last: Bench | undefined;
  let share = 1;
  for (let start = 0; start < starts; start += 1) {
    last = await make();
    rounds.push(...(await measureBench(last, starts === 1 ? ROUNDS : 1)));
    share = Math.min(share, await outcomeShare(last));
    for (const stop of cleanUp.splice(0).toReversed()) await stop();
  }
  if (last === undefined) return;
  // What a start was unlucky with is nobody's cost: the best of each are as near to it as one comes.
  const best = Math.max(...rounds.map(({ ours }) => ours)) / Math.max(...rounds.map(({ bare }) => bare));
  const ratios = rounds.map(({ ours, bare }) => ours / bare).sort((a, b) => a - b);
  const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  console.log(
    `${last.name}: ${median(ratios).toFixed(2)} × ${last.baseline} (min ${ratios[0]?.toFixed(2)}, max ${ratios.at(-1)?.toFixed(2)}; ` +
      `best against best ${best.toFixed(3)}; target ≥ ${last.target}); ${Math.round(median(rounds.map(({ ours }) => ours)))} against ` +
      `${Math.round(median(rounds.map(({ bare }) => bare)))} requests/s; ${(share * 100).toFixed(1)} % were ${last.outcome}`,
  );
}

/** From our own metrics: whether what was measured is what the name says. */
async function outcomeShare({ serpcache, outcome }: Bench): Promise<number> {
  const admin = serpcache.replace(/\d+$/, (port) => `${Number(port) + 10_000}`);
  const text = await (await fetch(`${admin}/metrics`)).text();
  const counts = [...text.matchAll(/^serpcache_requests_total\{(.*)\} (\d+)$/gm)];
  const sum = (rows: typeof counts): number => rows.reduce((total, [, , count]) => total + Number(count), 0);
  return sum(counts.filter(([, labels]) => labels?.includes(`outcome="${outcome}"`))) / sum(counts);
}

function configFile(name: string): string {
  return join(directory, `${name}.yaml`);
}

function settingsOf(name: string) {
  return loadSettings({ env: { SERPCACHE_CONFIG: configFile(name) }, cwd: root });
}

async function startServer(name: string, store: string, memory: string, more = ''): Promise<string> {
  const [port = 0] = await freePorts(1);
  writeFileSync(
    configFile(name),
    `${more}memory: { maxBytes: ${memory} }
compression: { coding: identity }
domains:
  goods:
    ${store}
    engine: { kind: sqlite, directory: ${join(root, 'data')}, demo: true }
    freshness: { ttl: 1h }
    attributes:
      category: { type: string, facet: true }
      brand: { type: string, facet: true }
      condition: { type: string, facet: true }
      city: { type: string, facet: true }
      price: { type: integer, sort: true }
      date: { type: date, sort: true }
`,
  );
  await makeDemoIndexes(settingsOf(name), { clock: systemClock, output: process.stderr });
  const env = {
    SERPCACHE_CONFIG: configFile(name),
    PORT: `${port}`,
    ADMIN_PORT: `${port + 10_000}`,
    LOG_LEVEL: 'warn',
  };
  await startPinned(name, ['src/main.ts'], port, env);
  return `http://127.0.0.1:${port}`;
}

async function startBare(name: string, plan: Omit<BarePlan, 'port'>): Promise<string> {
  const [port = 0] = await freePorts(1);
  const file = join(directory, `${name}.json`);
  writeFileSync(file, JSON.stringify({ ...plan, port }));
  await startPinned(name, ['loadtest/bench/bare.ts', file], port, {});
  return `http://127.0.0.1:${port}`;
}

async function startPinned(
  name: string,
  args: readonly string[],
  port: number,
  env: Record<string, string>,
): Promise<void> {
  const started: RunningProcess = await startProcess({
    name,
    command: 'taskset',
    args: ['-c', `${SERVER_CPU}`, process.execPath, ...args],
    cwd: root,
    env,
    logFile: join(directory, `${name}.log`),
    ready: () => accepts(port),
  });
  pids.set(`http://127.0.0.1:${port}`, started.pid);
  cleanUp.push(() => started.stop());
}
