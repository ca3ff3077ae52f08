import { createClient } from '../../../loadtest/http-driver/client.ts';
import { closedLoop } from '../../../loadtest/http-driver/loops.ts';
import { createRandom } from '../../../loadtest/random.ts';
import { type Changes, ENGINE_DEADLINE_MS, HUNG_MS, PATIENCE_MS } from '../configuration.ts';
import { clientHeaders, searchPath } from '../harness.ts';
import { quantileMs } from '../report.ts';
import { verdictOf } from '../verdict.ts';
import {
  example,
  type Figure,
  type FigureResult,
  generatorKeptUp,
  MAX_LAG_MS,
  measured,
  noneFound,
  retryWhileLagging,
  shown,
} from './figure.ts';
import {
  askInOpenLoop,
  type EngineCapacity,
  type LimitedEngine,
  limitOf,
  type NewSearch,
  type SentSearch,
  startLimitedEngine,
} from './limited-engine.ts';

/** Results of one load on one limiter. */
interface LoadResult {
  /** Arrivals per second. */
  readonly offered: number;
  /** Pages within the engine's deadline, per second. */
  readonly good: number;
  readonly pageP99Ms: number;
  readonly shedP99Ms: number;
  readonly shedMaxMs: number;
  /** Slowest of all answers. */
  readonly maxMs: number;
  /** Answers that are neither a page nor an honest refusal. */
  readonly faults: readonly string[];
  /** Pages to compare with the engine's. */
  readonly pages: readonly SentSearch[];
  readonly lagMs: number;
}

/** Results of one load on one limiter and one engine. */
export interface LimiterResult extends LoadResult {
  readonly engine: string;
  readonly limiter: string;
  readonly load: number;
  /** The concurrency limit at the end. */
  readonly maxConcurrent: number;
  /** Number of pages that were compared with the engine's. */
  readonly compared: number;
  /** Searches whose page differs from the engine's. */
  readonly wrong: readonly string[];
}

export interface EngineResult {
  readonly engine: string;
  /** Maximum throughput, pages per second, measured by `saturate`. */
  readonly saturation: number;
  readonly cells: readonly LimiterResult[];
}

const LIMITED: EngineCapacity = { slots: 8, delayMs: 200 };
/** searchd without a limit, on the CPU that it shares with the generator. Only costly searches can overload it. */
const UNLIMITED: EngineCapacity = { slots: Number.POSITIVE_INFINITY, delayMs: 0 };
const LOADS = [1, 2, 5, 10];
const DOCUMENTS = 20_000;

interface Limiter {
  readonly name: string;
  readonly loads: readonly number[];
  readonly changes: Changes;
}

const GRADIENT: Limiter = {
  name: 'gradient',
  loads: LOADS,
  changes: { engine: { maxConcurrent: 64, limit: 'gradient' } },
};
const AIMD: Limiter = { name: 'aimd', loads: [2, 5, 10], changes: { engine: { maxConcurrent: 64, limit: 'aimd' } } };
const OFF: Limiter = {
  name: 'off',
  loads: [1, 2, 10],
  changes: { engine: { maxConcurrent: 512, maxQueued: 10_000 }, without: ['limit', 'shedding'] },
};
/** The settings of an operator who knows the capacity. */
const knownCapacity = (slots: number): Changes => ({ engine: { maxConcurrent: slots, limit: 'fixed' } });

/** Measures good answers while the load exceeds the engine's capacity. Every search is new. */
export const OVERLOAD: Figure = {
  name: 'overload',
  summary: `good answers of an engine of ${LIMITED.slots} slots and ${LIMITED.delayMs} ms, asked for 1, 2, 5 and 10 times what it can do`,
  run: async ({ checkout }) => {
    const limited = await startLimitedEngine(checkout, DOCUMENTS);
    try {
      let asked = 0;
      const plain = (): NewSearch => ({ text: limited.queries.once(asked++) });
      const costly = (): NewSearch => costlySearch(asked++);
      const narrow = await measure(limited, 'narrow', LIMITED, LIMITED.slots, plain, [GRADIENT, AIMD, OFF]);
      const direct = await measure(limited, 'searchd', UNLIMITED, 4, costly, [
        { ...GRADIENT, loads: [1, 2, 10] },
        { ...OFF, loads: [2, 10] },
      ]);
      return resultOf(narrow, direct, GRADIENT.name);
    } finally {
      await limited.stop();
    }
  },
};

async function measure(
  limited: LimitedEngine,
  engine: string,
  capacity: EngineCapacity,
  slots: number,
  next: () => NewSearch,
  limiters: readonly Limiter[],
): Promise<EngineResult> {
  const { service } = limited;
  const { url } = service;
  await limited.restart(knownCapacity(slots), capacity);
  const saturation = await saturate(url, 2 * slots, next);
  const limitPerSecond = (capacity.slots * 1000) / capacity.delayMs;
  const capacityPerSecond = Number.isFinite(limitPerSecond) ? limitPerSecond : saturation;
  const { next: random } = createRandom(1);
  const cells: LimiterResult[] = [];
  for (const { name, loads, changes } of limiters) {
    for (const load of loads) {
      const once = async (): Promise<LimiterResult> => {
        await limited.restart(changes, capacity);
        const figures = await overload({ url, ratePerSecond: load * capacityPerSecond, random, next });
        const maxConcurrent = await limitOf(service);
        limited.engineProxy.cut();
        return { ...figures, engine, limiter: name, load, maxConcurrent, ...(await compare(limited, figures.pages)) };
      };
      // An overloaded engine on a shared CPU delays the generator, so a repetition would not help.
      cells.push(capacity === UNLIMITED ? await once() : await retryWhileLagging(once));
    }
  }
  return { engine, saturation, cells };
}

const COMPARED = 20;

/** Asks the control, which reaches searchd directly, for a sample of the pages. */
async function compare(
  { control }: LimitedEngine,
  pages: readonly SentSearch[],
): Promise<Pick<LimiterResult, 'compared' | 'wrong'>> {
  const client = createClient({ baseUrl: control.url, patienceMs: HUNG_MS, maxConnections: 4 });
  const step = Math.max(1, Math.floor(pages.length / COMPARED));
  const wrong: string[] = [];
  let compared = 0;
  for (const { text, target, verdict } of pages.filter((_, at) => at % step === 0)) {
    const says = verdictOf(await client.get(target), text);
    // After the overload the engine may not answer yet.
    if (verdict.kind !== 'page' || says.kind !== 'page') continue;
    compared += 1;
    if (verdict.hash !== says.hash) wrong.push(target);
  }
  client.close();
  return { compared, wrong };
}

const FREQUENT = 'в';

/** Matches half of all ads and counts them by city and category, each with another price: over 20 ms of searchd's CPU. */
function costlySearch(n: number): NewSearch {
  const parameters = `facet=category&facet=city&limit=100&highlight=true&filter=price:0..${900_000_000 + n}`;
  return { text: FREQUENT, target: `${searchPath(FREQUENT)}&${parameters}` };
}

/** The service distinguishes a lasting load from a burst after one patience; the waiters it kept take up to another. */
const SETTLE_MS = 2 * PATIENCE_MS;
const MEASURE_MS = 6500;

/** Sends new searches at this rate in an open loop. The first ones are not counted. */
async function overload(options: Omit<Parameters<typeof askInOpenLoop>[0], 'durationMs'>): Promise<LoadResult> {
  const { asked, lagMs } = await askInOpenLoop({ ...options, durationMs: SETTLE_MS + MEASURE_MS });
  const counted = asked.filter(({ sentMs }) => sentMs >= SETTLE_MS && sentMs < SETTLE_MS + MEASURE_MS);
  const pages = counted.filter(isPage);
  const sheds = counted.filter(isShed);
  const perSecond = (some: readonly SentSearch[]): number => (some.length * 1000) / MEASURE_MS;
  return {
    offered: perSecond(counted),
    good: perSecond(pages.filter(({ durationMs }) => durationMs <= ENGINE_DEADLINE_MS)),
    pageP99Ms: quantileMs(pages, 0.99),
    shedP99Ms: quantileMs(sheds, 0.99),
    shedMaxMs: quantileMs(sheds, 1),
    maxMs: quantileMs(asked, 1),
    faults: asked.filter(isFault).map(({ text, verdict }) => `${text}: ${JSON.stringify(verdict)}`),
    pages,
    lagMs,
  };
}

const isPage = ({ verdict }: SentSearch): boolean => verdict.kind === 'page';
const isShed = ({ verdict }: SentSearch): boolean => verdict.kind === 'shed';
/** No answer, or an answer that a client cannot act on. */
const isFault = (one: SentSearch): boolean => !isPage(one) && !isShed(one);

const SATURATE_MS = 2500;

/** The engine's maximum throughput in pages per second: each client asks again as soon as it has its answer. */
async function saturate(url: string, clients: number, next: () => NewSearch): Promise<number> {
  const client = createClient({ baseUrl: url, patienceMs: HUNG_MS, maxConnections: clients });
  const startMs = performance.now();
  let pages = 0;
  const searches = function* (): Generator<NewSearch> {
    while (performance.now() - startMs < SATURATE_MS) yield next();
  };
  await closedLoop(searches(), clients, async ({ text, target = searchPath(text) }, at) => {
    const verdict = verdictOf(await client.get(target, clientHeaders(at)), text);
    if (verdict.kind === 'page') pages += 1;
  });
  client.close();
  return (pages * 1000) / (performance.now() - startMs);
}

/** @param ours the limiter whose results on the narrow engine are judged. All others are only shown. */
export function resultOf(narrow: EngineResult, direct: EngineResult, ours: string): FigureResult {
  const own = narrow.cells.filter(({ limiter }) => limiter === ours);
  const saturated = Math.max(narrow.saturation, own.find(({ load }) => load === 1)?.good ?? 0);
  const every = [...narrow.cells, ...direct.cells];
  const wrong = every.flatMap((cell) => cell.wrong);
  const lagMs = Math.max(...own.map((cell) => cell.lagMs));
  const faults = own.flatMap((cell) => cell.faults);
  const over = own.filter(({ load }) => load > 1);
  // Each load above the capacity must have refusals, so that the maximum covers all of them.
  const shedP99Ms = Math.max(...over.map((cell) => cell.shedP99Ms));
  const slowestMs = Math.max(...own.map(({ maxMs }) => maxMs));
  const answers = own.every(({ offered }) => offered > 0) ? own.length : 0;
  const compared = every.reduce((sum, cell) => sum + cell.compared, 0);
  return {
    table: [
      ...[narrow, direct].flatMap((part) => [
        saturatedRow(part),
        ...part.cells.map((cell) => rowOf(cell, part.saturation)),
      ]),
    ],
    verdicts: [
      ...over.map(({ load, good }) => ({
        says: `${load} times the capacity: ${shown(good, 1)} good answers a second, at least 0.9 of the ${shown(saturated, 1)} of saturation`,
        holds: saturated > 0 ? measured(good, () => good >= 0.9 * saturated) : ('not measured' as const),
      })),
      {
        says: `p99 of refusals: ${shown(shedP99Ms)} ms, less than a tenth of the deadline (${SHED_MS} ms)`,
        holds: measured(shedP99Ms, (ms) => ms < SHED_MS),
      },
      {
        says: `slowest answer: ${shown(slowestMs)} ms, at most the patience and ${SLACK_MS} ms`,
        holds: measured(slowestMs, (ms) => ms <= PATIENCE_MS + SLACK_MS),
      },
      {
        says: `${wrong.length} wrong answers of ${compared} compared${example(wrong)}`,
        holds: noneFound(wrong, compared),
      },
      {
        says: `${faults.length} answers that a client cannot act on${example(faults)}`,
        holds: noneFound(faults, answers),
      },
      {
        says: `the generator kept up: p99 of its lateness ${shown(lagMs)} ms, at most ${MAX_LAG_MS}`,
        holds: generatorKeptUp(lagMs),
      },
    ],
  };
}

/** Allowed beyond the patience: the store's deadline (50 ms) and late timers on a busy machine. */
const SLACK_MS = 50 + 150;
const SHED_MS = ENGINE_DEADLINE_MS / 10;

function saturatedRow({ engine, saturation }: EngineResult): FigureResult['table'][number] {
  const nothing = Object.fromEntries(COLUMNS.map((name) => [name, '–']));
  return {
    engine,
    limiter: 'capacity known',
    load: 'saturated',
    offered: '–',
    good: shown(saturation, 1),
    ...nothing,
  };
}
const COLUMNS = [
  'of saturation',
  'permits',
  'page p99 ms',
  'shed p99 ms',
  'shed max ms',
  'max ms',
  'no answer',
  'lag ms',
];

function rowOf(cell: LimiterResult, saturation: number): FigureResult['table'][number] {
  return {
    engine: cell.engine,
    limiter: cell.limiter,
    load: `${cell.load}x`,
    offered: shown(cell.offered),
    good: shown(cell.good, 1),
    'of saturation': shown(cell.good / saturation, 2),
    permits: cell.maxConcurrent,
    'page p99 ms': shown(cell.pageP99Ms),
    'shed p99 ms': shown(cell.shedP99Ms),
    'shed max ms': shown(cell.shedMaxMs),
    'max ms': shown(cell.maxMs),
    'no answer': cell.faults.length,
    'lag ms': shown(cell.lagMs),
  };
}
