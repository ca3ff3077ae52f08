import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../../loadtest/traffic/client.ts';
import { seededRandom } from '../../../src/catalogue/demo/ad.ts';
import { clientHeaders, searchPath } from '../harness.ts';
import { type Changes, ENGINE_DEADLINE_MS, HUNG_MS, PATIENCE_MS } from '../service.ts';
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
import { type EngineCapacity, guardStateOf, type LimitedFleet, perSecondOf, startLimitedFleet } from './fleets.ts';
import { isFault, isPage, isShed, type OpenLoop, quantileMs, type SentSearch, startOpenLoop } from './open-loop.ts';

/** One load on one way of limiting. */
export interface LoadResult {
  /** Arrivals a second. */
  readonly offered: number;
  /** Pages within the engine's deadline, a second. */
  readonly good: number;
  readonly pageP99Ms: number;
  readonly shedP99Ms: number;
  readonly shedMaxMs: number;
  /** Of everything. */
  readonly maxMs: number;
  /** What was neither a page nor an honest refusal. */
  readonly faults: readonly string[];
  /** Pages, to be compared with what the engine says. */
  readonly pages: readonly SentSearch[];
  readonly lagMs: number;
}

/** One load on one limiter and one engine. */
export interface LimiterResult extends LoadResult {
  readonly engine: string;
  readonly limiter: string;
  readonly load: number;
  /** Places at the end. */
  readonly maxConcurrent: number;
  /** Pages that were compared with what the engine says. */
  readonly compared: number;
  /** Those that are another. */
  readonly wrong: readonly string[];
}

export interface EngineResult {
  readonly engine: string;
  /** Pages a second with as many clients as it has places, each asking again when answered. */
  readonly saturation: number;
  readonly cells: readonly LimiterResult[];
}

/** A search nobody ever asked. */
export interface NewSearch {
  readonly text: string;
  readonly target?: string;
}

const NARROW: EngineCapacity = { slots: 8, delayMs: 200 };
/** Searchd as it is, on the CPU it shares with everybody here: costly searches, or it could not be overloaded from here. */
const AS_IT_IS: EngineCapacity = { slots: Number.POSITIVE_INFINITY, delayMs: 0 };
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
  changes: { engine: { maxConcurrent: 512, maxQueued: 10_000 }, domain: { without: ['limit', 'shedding'] } },
};
/** What somebody would set who knew. */
const known = (places: number): Changes => ({ engine: { maxConcurrent: places, limit: 'fixed' } });

/** Good answers when far more is asked than the engine can do, all of it new. */
export const OVERLOAD: Figure = {
  name: 'overload',
  summary: `good answers of an engine of ${NARROW.slots} places and ${NARROW.delayMs} ms, asked for 1, 2, 5 and 10 times what it can do`,
  run: async ({ checkout }) => {
    const fleet = await startLimitedFleet({ checkout, services: 1, searches: 1, documents: DOCUMENTS });
    try {
      let asked = 0;
      const plain = (): NewSearch => ({ text: fleet.queries.once(asked++) });
      const costly = (): NewSearch => costlySearch(asked++);
      await fleet.startControl({ memory: { maxBytes: '64MiB' } });
      const narrow = await measure(fleet, 'narrow', NARROW, NARROW.slots, plain, [GRADIENT, AIMD, OFF]);
      const real = await measure(fleet, 'searchd', AS_IT_IS, 4, costly, [
        { ...GRADIENT, loads: [1, 2, 10] },
        { ...OFF, loads: [2, 10] },
      ]);
      return resultOf(narrow, real, GRADIENT.name);
    } finally {
      await fleet.stop();
    }
  },
};

async function measure(
  fleet: LimitedFleet,
  engine: string,
  width: EngineCapacity,
  places: number,
  next: () => NewSearch,
  limiters: readonly Limiter[],
): Promise<EngineResult> {
  const [service] = fleet.services;
  if (service === undefined) throw new Error('no process');
  const { url } = service;
  await fleet.startServices(known(places), { width, empty: true });
  const saturation = await saturate(url, 2 * places, next);
  const capacity = Number.isFinite(perSecondOf(width)) ? perSecondOf(width) : saturation;
  const { next: random } = seededRandom(1);
  const cells: LimiterResult[] = [];
  for (const { name, loads, changes } of limiters) {
    for (const load of loads) {
      const once = async (): Promise<LimiterResult> => {
        await fleet.startServices(changes, { width, empty: true });
        const figures = await overload({ url, ratePerSecond: load * capacity, random, next });
        const { maxConcurrent } = await guardStateOf(service);
        fleet.engineProxy.cut();
        return { ...figures, engine, limiter: name, load, maxConcurrent, ...(await compare(fleet, figures.pages)) };
      };
      // An engine that is overwhelmed on the CPU it shares makes the generator late by itself.
      cells.push(width === AS_IT_IS ? await once() : await retryWhileLagging(once));
    }
  }
  return { engine, saturation, cells };
}

const COMPARED = 20;

/** The control asks searchd the same. */
async function compare(
  { control }: LimitedFleet,
  pages: readonly SentSearch[],
): Promise<Pick<LimiterResult, 'compared' | 'wrong'>> {
  const client = createClient({ baseUrl: control.url, boundMs: HUNG_MS, maxConnections: 4 });
  const step = Math.max(1, Math.floor(pages.length / COMPARED));
  const wrong: string[] = [];
  let compared = 0;
  for (const { text, target, verdict } of pages.filter((_, at) => at % step === 0)) {
    const says = verdictOf(await client.get(target), text);
    // An engine that was thrown down may not have got up yet.
    if (verdict.kind !== 'page' || says.kind !== 'page') continue;
    compared += 1;
    if (verdict.hash !== says.hash) wrong.push(target);
  }
  client.close();
  return { compared, wrong };
}

const FREQUENT = 'в';

/** Half of all ads, counted by city and category, each time within another price: more than 20 ms of searchd's CPU. */
function costlySearch(n: number): NewSearch {
  const parameters = `facet=category&facet=city&limit=100&highlight=true&filter=price:0..${900_000_000 + n}`;
  return { text: FREQUENT, target: `${searchPath(FREQUENT)}&${parameters}` };
}

/** A load that stays is told from a burst after one patience, and what was promised until then takes up to another. */
const SETTLE_MS = 2 * PATIENCE_MS;
const MEASURE_MS = 6500;

/** Nobody waits for anybody: arrivals at that rate, each a search nobody asked before. */
export async function overload(options: {
  readonly url: string;
  readonly ratePerSecond: number;
  readonly random: () => number;
  readonly next: () => NewSearch;
  readonly settleMs?: number;
}): Promise<LoadResult> {
  const { url, next, settleMs = SETTLE_MS } = options;
  const loop = startOpenLoop({ ...options, urls: [url], next: () => ({ ...next(), to: [0] }) });
  await sleep(settleMs + MEASURE_MS);
  await loop.stop();
  return figuresOf(loop, settleMs);
}

function figuresOf(loop: OpenLoop, fromMs: number): LoadResult {
  const counted = loop.asked.filter(({ sentMs }) => sentMs >= fromMs && sentMs < fromMs + MEASURE_MS);
  const pages = counted.filter(isPage);
  const sheds = counted.filter(isShed);
  const perSecond = (asked: readonly SentSearch[]): number => (asked.length * 1000) / MEASURE_MS;
  return {
    offered: perSecond(counted),
    good: perSecond(pages.filter(({ durationMs }) => durationMs <= ENGINE_DEADLINE_MS)),
    pageP99Ms: quantileMs(pages, 0.99),
    shedP99Ms: quantileMs(sheds, 0.99),
    shedMaxMs: quantileMs(sheds, 1),
    maxMs: quantileMs(loop.asked, 1),
    faults: loop.asked.filter(isFault).map(({ text, verdict }) => `${text}: ${JSON.stringify(verdict)}`),
    pages,
    lagMs: loop.lagMs(),
  };
}

const SATURATE_MS = 2500;

/** What the engine gives at the most: so many clients, each of whom asks again as soon as he has his answer. Pages a second. */
export async function saturate(url: string, clients: number, next: () => NewSearch): Promise<number> {
  const client = createClient({ baseUrl: url, boundMs: HUNG_MS, maxConnections: clients });
  const startMs = performance.now();
  let pages = 0;
  const visitor = async (at: number): Promise<void> => {
    while (performance.now() - startMs < SATURATE_MS) {
      const { text, target = searchPath(text) } = next();
      const verdict = verdictOf(await client.get(target, clientHeaders(at)), text);
      if (verdict.kind === 'page') pages += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, at) => visitor(at)));
  client.close();
  return (pages * 1000) / (performance.now() - startMs);
}

/** @param ours the limiter that is promised something, on the narrow engine; everything else stands beside it. */
export function resultOf(narrow: EngineResult, real: EngineResult, ours: string): FigureResult {
  const own = narrow.cells.filter(({ limiter }) => limiter === ours);
  const saturated = Math.max(narrow.saturation, own.find(({ load }) => load === 1)?.good ?? 0);
  const every = [...narrow.cells, ...real.cells];
  const wrong = every.flatMap((cell) => cell.wrong);
  const lagMs = Math.max(...own.map((cell) => cell.lagMs));
  const faults = own.flatMap((cell) => cell.faults);
  const over = own.filter(({ load }) => load > 1);
  // Each load above the capacity must have refusals: a bound on the refusals of some loads says nothing of the others.
  const shedP99Ms = Math.max(...over.map((cell) => cell.shedP99Ms));
  const slowestMs = Math.max(...own.map(({ maxMs }) => maxMs));
  const answers = own.every(({ offered }) => offered > 0) ? own.length : 0;
  const compared = every.reduce((sum, cell) => sum + cell.compared, 0);
  return {
    table: [
      ...[narrow, real].flatMap((part) => [
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
      { says: `${faults.length} answers nobody can act on${example(faults)}`, holds: noneFound(faults, answers) },
      {
        says: `the generator kept up: p99 of its lateness ${shown(lagMs)} ms, at most ${MAX_LAG_MS}`,
        holds: generatorKeptUp(lagMs),
      },
    ],
  };
}

/** Beyond the patience: the store's deadline (50 ms), and for a busy machine's timers. */
const SLACK_MS = 50 + 150;
const SHED_MS = ENGINE_DEADLINE_MS / 10;

function saturatedRow({ engine, saturation }: EngineResult): FigureResult['table'][number] {
  const nothing = Object.fromEntries(COLUMNS.map((name) => [name, '–']));
  return { engine, limiter: 'places known', load: 'saturated', offered: '–', good: shown(saturation, 1), ...nothing };
}
const COLUMNS = [
  'of saturation',
  'places',
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
    places: cell.maxConcurrent,
    'page p99 ms': shown(cell.pageP99Ms),
    'shed p99 ms': shown(cell.shedP99Ms),
    'shed max ms': shown(cell.shedMaxMs),
    'max ms': shown(cell.maxMs),
    'no answer': cell.faults.length,
    'lag ms': shown(cell.lagMs),
  };
}
