/**
 * `npm run bench -- tail`: the latency of L1 hits at a constant rate while the same process does other work, its garbage
 * collections and event loop delay meanwhile, and the cost of a miss. Versions take turns.
 */
import { type Series, seriesValue } from '../k6/kit/metrics-text.ts';
import { processorTimes } from '../labs/kit/meters.ts';
import { aligned } from '../labs/kit/print.ts';
import { inTurns } from '../labs/kit/rounds.ts';
import { loopDelayMsOf } from '../sample/replica.ts';
import { processorsHere } from '../stack/processors.ts';
import { drive, type Generator } from './load.ts';
import { processorTime } from './measure.ts';
import { driven, missCells, missesOf } from './miss-cost.ts';
import { fetchPage, fillStore, pageOfSize } from './pages.ts';
import { createProcesses, metricsOf, type Processes, type Service } from './processes.ts';
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
