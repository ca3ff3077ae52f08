import { createClient } from '../../../loadtest/traffic/client.ts';
import { createRandom } from '../../../src/catalogue/demo/ad.ts';
import { targetOf } from '../bed.ts';
import { type Changes, HUNG_MS } from '../configuration.ts';
import { verdictOf } from '../verdict.ts';
import type { Figure } from './figure.ts';
import { guardOf } from './held.ts';
import { type NarrowBed, perSecondOf, startNarrowBed, type Width } from './narrow-bed.ts';
import { type Asked, unhurried } from './open-loop.ts';
import { type NewSearch, overload, saturate } from './overload-run.ts';
import { type Cell, type Part, resultOf } from './overload-verdict.ts';

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
      const real = await measure(bed, 'searchd', AS_IT_IS, 4, costly, [
        { ...GRADIENT, loads: [1, 2, 10] },
        { ...OFF, loads: [2, 10] },
      ]);
      return resultOf(narrow, real, GRADIENT.name);
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
  const { next: random } = createRandom(1);
  const cells: Cell[] = [];
  for (const { name, loads, changes } of limiters) {
    for (const load of loads) {
      const once = async (): Promise<Cell> => {
        await bed.startServices(changes, { width, empty: true });
        const figures = await overload({ url, ratePerSecond: load * capacity, random, next });
        const { maxConcurrent } = await guardOf(service);
        bed.engineProxy.cut();
        return { ...figures, engine, limiter: name, load, maxConcurrent, ...(await compare(bed, figures.pages)) };
      };
      // An engine that is overwhelmed on the CPU it shares makes the generator late by itself.
      cells.push(width === AS_IT_IS ? await once() : await unhurried(once));
    }
  }
  return { engine, saturation, cells };
}

const COMPARED = 20;

/** The control asks searchd the same. */
async function compare({ control }: NarrowBed, pages: readonly Asked[]): Promise<Pick<Cell, 'compared' | 'wrong'>> {
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
