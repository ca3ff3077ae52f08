import { seededRandom } from '../../../src/catalogue/demo/random.ts';
import { targetOf } from '../bed.ts';
import { createClient } from '../client.ts';
import { type Changes, ENGINE_DEADLINE_MS, HUNG_MS } from '../configuration.ts';
import type { Figure, FigureResult } from '../registry.ts';
import { verdictOf } from '../verdict.ts';
import { guardOf } from './held.ts';
import { type NarrowBed, perSecondOf, startNarrowBed, type Width } from './narrow-bed.ts';
import { type Asked, shown } from './open-loop.ts';
import { type NewSearch, type Overload, overload, saturate } from './overload-run.ts';

const NARROW: Width = { places: 8, delayMs: 200 };
/** Searchd as it is, on the CPU it shares with everybody here: costly searches, or it could not be overloaded from here. */
const AS_IT_IS: Width = { places: Number.POSITIVE_INFINITY, delayMs: 0 };
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

interface Cell extends Overload {
  readonly engine: string;
  readonly limiter: string;
  readonly load: number;
  /** Places at the end. */
  readonly maxConcurrent: number;
  /** Pages that are not what the engine says, of those compared. */
  readonly wrong: readonly string[];
}

interface Part {
  readonly engine: string;
  /** Pages a second with as many clients as it has places, each asking again when answered. */
  readonly saturation: number;
  readonly cells: readonly Cell[];
}

/** Good answers when far more is asked than the engine can do, all of it new. */
export const OVERLOAD: Figure = {
  name: 'overload',
  says: `good answers of an engine of ${NARROW.places} places and ${NARROW.delayMs} ms, asked for 1, 2, 5 and 10 times what it can do`,
  run: async ({ checkout }) => {
    const bed = await startNarrowBed({ checkout, services: 1, searches: 1, documents: DOCUMENTS });
    try {
      let asked = 0;
      const plain = (): NewSearch => ({ text: bed.queries.once(asked++) });
      const costly = (): NewSearch => costlySearch(asked++);
      await bed.startControl({ memory: { maxBytes: '64MiB' } });
      const narrow = await measure(bed, 'narrow', NARROW, NARROW.places, plain, [GRADIENT, AIMD, OFF]);
      const real = await measure(bed, 'searchd', AS_IT_IS, 4, costly, [GRADIENT, { ...OFF, loads: [2, 10] }]);
      return resultOf(narrow, real);
    } finally {
      await bed.stop();
    }
  },
};

const FREQUENT = 'в';

/** Half of all ads, counted by city and category, each time within another price: more than 20 ms of searchd's CPU. */
function costlySearch(n: number): NewSearch {
  const parameters = `facet=category&facet=city&limit=100&highlight=true&filter=price:0..${900_000_000 + n}`;
  return { text: FREQUENT, target: `${targetOf(FREQUENT)}&${parameters}` };
}

async function measure(
  bed: NarrowBed,
  engine: string,
  width: Width,
  places: number,
  next: () => NewSearch,
  limiters: readonly Limiter[],
): Promise<Part> {
  const [service] = bed.services;
  if (service === undefined) throw new Error('no process');
  const { url } = service;
  await bed.startServices(known(places), { width, empty: true });
  const saturation = await saturate(url, 2 * places, next);
  const capacity = Number.isFinite(perSecondOf(width)) ? perSecondOf(width) : saturation;
  const { next: random } = seededRandom(1);
  const cells: Cell[] = [];
  for (const { name, loads, changes } of limiters) {
    for (const load of loads) {
      await bed.startServices(changes, { width, empty: true });
      const cell = await overload({ url, ratePerSecond: load * capacity, random, next });
      const { maxConcurrent } = await guardOf(service);
      bed.engineProxy.cut();
      cells.push({ ...cell, engine, limiter: name, load, maxConcurrent, wrong: await wrongOf(bed, cell.pages) });
    }
  }
  return { engine, saturation, cells };
}

const COMPARED = 20;

/** The control asks searchd the same. */
async function wrongOf({ control }: NarrowBed, pages: readonly Asked[]): Promise<readonly string[]> {
  const client = createClient({ baseUrl: control.url, boundMs: HUNG_MS, maxConnections: 4 });
  const step = Math.max(1, Math.floor(pages.length / COMPARED));
  const wrong: string[] = [];
  for (const { text, target, verdict } of pages.filter((_, at) => at % step === 0)) {
    const says = verdictOf(await client.get(target), text);
    if (verdict.kind !== 'page' || says.kind !== 'page' || verdict.hash !== says.hash) wrong.push(target);
  }
  client.close();
  return wrong;
}

/** Beyond the engine's deadline: the store's (50 ms), and for a busy machine's timers. */
const SLACK_MS = 50 + 150;
const SHED_MS = ENGINE_DEADLINE_MS / 10;
const MOST_LAG_MS = 60;

function resultOf(narrow: Part, real: Part): FigureResult {
  const own = narrow.cells.filter(({ limiter }) => limiter === GRADIENT.name);
  const saturated = Math.max(narrow.saturation, own.find(({ load }) => load === 1)?.good ?? 0);
  const every = [...narrow.cells, ...real.cells];
  const wrong = every.flatMap((cell) => cell.wrong);
  const lagMs = Math.max(...narrow.cells.map((cell) => cell.lagMs));
  const faults = own.flatMap((cell) => cell.faults);
  const over = own.filter(({ load }) => load > 1);
  const worst = (value: (cell: Cell) => number): number => Math.max(...own.map(value).filter((each) => each >= 0));
  return {
    table: [
      ...[narrow, real].flatMap((part) => [
        { engine: part.engine, limiter: 'known', load: 'saturated', offered: '–', good: shown(part.saturation, 1) },
        ...part.cells.map((cell) => rowOf(cell, part.saturation)),
      ]),
    ],
    verdicts: [
      ...over.map(({ load, good }) => ({
        says: `${load} times the capacity: ${shown(good, 1)} good answers a second, at least 0.9 of the ${shown(saturated, 1)} of saturation`,
        holds: good >= 0.9 * saturated,
      })),
      {
        says: `p99 of refusals: ${shown(worst(({ shedP99Ms }) => shedP99Ms))} ms, less than a tenth of the deadline (${SHED_MS} ms)`,
        holds: worst(({ shedP99Ms }) => shedP99Ms) < SHED_MS,
      },
      {
        says: `slowest answer: ${shown(worst(({ maxMs }) => maxMs))} ms, at most the deadline and ${SLACK_MS} ms`,
        holds: worst(({ maxMs }) => maxMs) <= ENGINE_DEADLINE_MS + SLACK_MS,
      },
      { says: `${wrong.length} wrong answers${example(wrong)}`, holds: wrong.length === 0 },
      { says: `${faults.length} answers nobody can act on${example(faults)}`, holds: faults.length === 0 },
      {
        says: `the generator kept up: p99 of its lateness ${shown(lagMs)} ms, at most ${MOST_LAG_MS}`,
        holds: lagMs <= MOST_LAG_MS,
      },
    ],
  };
}

const example = ([first]: readonly string[]): string => (first === undefined ? '' : `, such as ${first}`);

function rowOf(cell: Cell, saturation: number): FigureResult['table'][number] {
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
