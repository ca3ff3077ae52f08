/**
 * `npm run bench -- tail`: the latency of L1 hits at a constant rate while the same process does other work, its garbage
 * collections and event loop delay meanwhile, and the cost of a miss. Versions take turns.
 */

import { randomInt } from 'node:crypto';
import { createHistogram } from 'node:perf_hooks';
import { createAdapters, searchDomainOf } from '../../src/engines/create-engines.ts';
import { systemClock } from '../../src/runtime.ts';
import { openLoop } from '../http-driver/loops.ts';
import { type HttpPlan, outcomeText, servedShare, timesOf } from '../http-driver/plan.ts';
import { type Series, seriesValue } from '../k6/kit/metrics-text.ts';
import { processorTimes } from '../labs/kit/meters.ts';
import { aligned } from '../labs/kit/print.ts';
import { inTurns } from '../labs/kit/rounds.ts';
import { httpDriven } from '../labs/peers/driven.ts';
import { loopDelayMsOf } from '../sample/replica.ts';
import { processorsHere } from '../stack/processors.ts';
import { drive, type Generator } from './load.ts';
import { processorTime } from './measure.ts';
import { fetchPage, fillStore, pageOfSize, preparedBy } from './pages.ts';
import { createProcesses, metricsOf, type Processes, type Server, type Service } from './processes.ts';
import { median } from './verdict.ts';

/** A service to measure: a checkout (this one when absent), and options of its Node. */
export interface Version {
  readonly name: string;
  readonly checkout?: string;
  readonly nodeOptions?: readonly string[];
}

/** The other work lasts longer than the hits, the start of their process included. */
const [SECONDS, LEAD_SECONDS, BESIDE_SECONDS] = [2, 0.5, 3];
const ROUNDS = 3;
const OTHERS_PER_SECOND = 100;
const HITS = { perSecond: 1000, seconds: SECONDS, leadSeconds: LEAD_SECONDS };
const OTHERS = { perSecond: OTHERS_PER_SECOND, seconds: BESIDE_SECONDS };
const LARGE_BYTES = 1_000_000;
const BATCH = 50;
const GC = 'nodejs_gc_duration_seconds';

/** Both serve the same pages: from memory in front of a store, and from memory in front of searchd. */
interface Services {
  readonly version: Version;
  readonly stored: Service;
  readonly searching: Service;
  readonly target: string;
  readonly large: string;
}

/** Work beside the hits: the service that does both, and the load for as long as the hits last. */
interface Situation {
  readonly name: string;
  readonly service: (services: Services) => Service;
  readonly beside?: (services: Services, generator: Generator) => Promise<unknown>;
}

const SITUATIONS: readonly Situation[] = [
  { name: 'idle', service: ({ stored }) => stored },
  {
    name: `engine busy, ${OTHERS_PER_SECOND} misses/s`,
    service: ({ searching }) => searching,
    beside: ({ searching, target }, generator) =>
      driven(generator, searching, { ...OTHERS, paths: missesOf(target, OTHERS_PER_SECOND * BESIDE_SECONDS) }),
  },
  {
    name: `1 MB pages, ${OTHERS_PER_SECOND}/s`,
    service: ({ stored }) => stored,
    beside: ({ stored, large }, generator) => driven(generator, stored, { ...OTHERS, paths: [large] }),
  },
  {
    name: `batches of ${BATCH}, one after another`,
    service: ({ stored }) => stored,
    beside: ({ stored, target }, generator) =>
      drive(stored.url, { targets: ['/msearch'], body: batchOf(target), connections: 1 }, BESIDE_SECONDS, generator),
  },
];

/** @returns the lines of the tables. @throws when a request failed */
export async function runTail(versions: readonly Version[], generator: Generator): Promise<readonly string[]> {
  await using processes = createProcesses(generator.folder, generator.cores);
  const { all, engine } = await startAll(processes, versions);
  const before = processorTimes(processorsHere());
  const rows: string[][] = [];
  for (const situation of SITUATIONS) {
    const measured = await inTurns(all, ROUNDS, (services) => roundOf(situation, services, generator));
    for (const { variant, runs } of measured) rows.push([situation.name, variant.version.name, ...cellsOf(runs)]);
  }
  const titles = [
    'beside the hits',
    'version',
    'p50 ms',
    'p99',
    'p99.9',
    'max',
    'longest loop delay, at most',
    'CPU',
    'MiB',
    'collections',
  ];
  const figures = titles.map((_, at) => at > 1 && at < titles.length - 1);
  const origin = await processes.startOrigin(engine);
  const searching = new Map(all.map((each) => [each.version.name, each.searching]));
  const misses = await missCells(searching, origin, { target: all[0]?.target ?? '', generator });
  const after = processorTimes(processorsHere());
  const stolen = before && after && (after.stolenMs - before.stolenMs) / (after.atMs - before.atMs);
  const noise = `stolen by other machines: ${stolen?.toFixed(2) ?? 'unknown'} processors`;
  return [...aligned([titles, ...rows], figures), '', ...aligned(misses, [false, true, true, true]), '', noise];
}

async function startAll(processes: Processes, versions: readonly Version[]) {
  const [engine, node] = await Promise.all([processes.startSearchd(), processes.startRedis()]);
  const store = `store: { kind: standalone, nodes: ["${node.host}:${node.port}"], deadline: 1s }\n    maxEntryBytes: 2MiB`;
  const all: Services[] = [];
  for (const version of versions) {
    const named = (name: string) => ({ ...version, name: `${name}-${all.length}` });
    const stored = await processes.startService({ ...named('stored'), store });
    const searching = await processes.startService({ ...named('searching'), engine });
    const target = await pageOfSize(stored.url);
    await pageOfSize(searching.url);
    const [large = ''] = await fillStore(stored, { store: node, count: 1, bodyBytes: LARGE_BYTES });
    const { body } = await fetchPage(stored.url + large);
    if (body.length !== LARGE_BYTES) throw new Error(`the large page has ${body.length} bytes`);
    all.push({ version, stored, searching, target, large });
  }
  return { all, engine };
}

function batchOf(target: string): string {
  const { q, limit } = Object.fromEntries(new URLSearchParams(target.slice(target.indexOf('?'))));
  const searches = Array.from({ length: BATCH }, () => ({ q, limit: Number(limit), facet: 'city' }));
  return JSON.stringify({ searches });
}

type Round = Awaited<ReturnType<typeof roundOf>>;

async function roundOf({ service: pick, beside }: Situation, services: Services, generator: Generator) {
  const service = pick(services);
  const [before, cpuBefore, startedMs] = [await metricsOf(service), processorTime(service), performance.now()];
  const [times] = await Promise.all([
    driven(generator, service, { ...HITS, paths: [services.target] }),
    beside?.(services, generator),
  ]);
  const cpu = (processorTime(service) - cpuBefore) / (performance.now() - startedMs);
  return { ...times, cpu, before, after: await metricsOf(service) };
}

/** Medians of the rounds, and the garbage collections of all of them. */
function cellsOf(rounds: readonly Round[]): string[] {
  const middle = (of: (round: Round) => number, digits: number): string => median(rounds.map(of)).toFixed(digits);
  return [
    middle(({ p50 }) => p50, 2),
    middle(({ p99 }) => p99, 2),
    middle(({ p999 }) => p999, 2),
    middle(({ max }) => max, 1),
    middle(({ before, after }) => loopDelayMsOf(before, after, 1) ?? Number.NaN, 1),
    middle(({ cpu }) => cpu, 3),
    middle(({ after }) => (seriesValue(after, 'process_resident_memory_bytes') ?? 0) / 2 ** 20, 0),
    collectionsText(rounds),
  ];
}

/** `minor 12 × 0.81 ms, longest below 2` */
function collectionsText(rounds: readonly Round[]): string {
  const grown = (name: string, labels: Series['labels']): number =>
    rounds.reduce((sum, { before, after }) => {
      return sum + (seriesValue(after, name, labels) ?? 0) - (seriesValue(before, name, labels) ?? 0);
    }, 0);
  const parts = ['minor', 'major', 'incremental', 'weakcb'].flatMap((kind) => {
    const count = grown(`${GC}_count`, { kind });
    if (count === 0) return [];
    const bounds = rounds[0]?.after.filter((one) => one.name === `${GC}_bucket` && one.labels['kind'] === kind) ?? [];
    const longest = bounds.find(({ labels }) => grown(`${GC}_bucket`, labels) === count)?.labels['le'];
    const meanMs = (grown(`${GC}_sum`, { kind }) / count) * 1000;
    return [`${kind} ${count} × ${meanMs.toFixed(2)} ms, longest below ${Number(longest) * 1000}`];
  });
  return parts.join('; ') || 'none';
}

const [MISS_ROUNDS, MISS_SECONDS, MISSES_PER_SECOND] = [2, 3, 50];

interface Rate {
  readonly paths: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
  readonly leadSeconds?: number;
}

/** Upper bounds that no price reaches and no other search has. */
function missesOf(target: string, count: number): readonly string[] {
  const first = randomInt(1_000_000_000, 2_000_000_000);
  return Array.from({ length: count }, (_, at) => `${target}&filter=price:..${first + at}`);
}

/** An open loop of a process of its own, on the processor of the client. @throws when a request failed */
async function driven({ folder, cores }: Generator, { url }: Server, { paths, ...rate }: Rate) {
  const place = { folder, cores: { generator: `${cores.client}` }, signal: AbortSignal.timeout(60_000) };
  const plan: HttpPlan = { replicas: [url], paths, pace: { kind: 'rate', ...rate }, patienceMs: 5000 };
  const result = await httpDriven(place, plan);
  if (servedShare(result) < 1 || result.servedMs === undefined) throw new Error(`${url}: ${outcomeText(result)}`);
  return result.servedMs;
}

type Way = (paths: readonly string[]) => Promise<Readonly<Record<'p50' | 'p99' | 'cpuMs', number>>>;

/** Rows of a table: each service, node:http with the engine adapter, and the adapter without a server. */
async function missCells(
  services: ReadonlyMap<string, Service>,
  origin: Server,
  { target, generator }: { readonly target: string; readonly generator: Generator },
): Promise<readonly (readonly string[])[]> {
  const throughHttp =
    (server: Server): Way =>
    async (paths) => {
      const before = processorTime(server);
      const times = await driven(generator, server, { paths, perSecond: MISSES_PER_SECOND, seconds: MISS_SECONDS });
      return { ...times, cpuMs: (processorTime(server) - before) / paths.length };
    };
  const ways = [...services].map(([name, service]) => ({ name, way: throughHttp(service) }));
  ways.push({ name: 'node:http + engine', way: throughHttp(origin) });
  const [first] = services.values();
  if (first !== undefined) ways.push({ name: 'the adapter alone', way: await adapterOf(first) });
  const measured = await inTurns(ways, 1 + MISS_ROUNDS, ({ way }) =>
    way(missesOf(target, MISSES_PER_SECOND * MISS_SECONDS)),
  );
  const rows = measured.map(({ variant, runs }) => {
    // The first round warms up.
    const middle = (of: 'p50' | 'p99' | 'cpuMs'): string => median(runs.slice(1).map((run) => run[of])).toFixed(2);
    return [variant.name, middle('p50'), middle('p99'), middle('cpuMs')];
  });
  return [[`miss, ${MISSES_PER_SECOND}/s`, 'p50 ms', 'p99', 'CPU ms'], ...rows];
}

/** Runs in this process, which has nothing else to do. */
async function adapterOf(service: Service): Promise<Way> {
  const [settings] = service.settings.domains;
  if (settings === undefined) throw new Error('a service without a domain');
  const quiet = { clock: systemClock, random: Math.random, observe: () => {} };
  const [engine] = await createAdapters(settings.engine, searchDomainOf(settings), quiet);
  if (engine === undefined) throw new Error('a domain without an engine');
  const prepared = preparedBy(service);
  return async (paths) => {
    const us = createHistogram();
    const before = process.cpuUsage();
    const send = async (n: number, dueMs: number): Promise<void> => {
      await engine.search(prepared(paths[n] ?? '').request, AbortSignal.timeout(5000));
      us.record(Math.max(1, Math.round((performance.now() - dueMs) * 1000)));
    };
    await openLoop({ ratePerSecond: MISSES_PER_SECOND, maxRequests: paths.length, send }).ended;
    const { user, system } = process.cpuUsage(before);
    return { ...timesOf(us), cpuMs: (user + system) / 1000 / paths.length };
  };
}
