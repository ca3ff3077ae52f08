import { bytesText, durationText } from '../../../src/report/format.ts';
import type { Experiment, Lab } from '../kit/lab.ts';
import { alternately } from '../kit/rounds.ts';
import { ADDED_RTT_MS, startDelay } from './domains/delay.ts';
import { type DomainRow, domainsLesson, type Weight } from './domains/lesson.ts';
import {
  LEAST_PAGE_BYTES,
  MOST_PAGE_BYTES,
  PAGES,
  pageFill,
  type Shape,
  startClusterShape,
  startStores,
} from './domains/shapes.ts';
import { domainTable, placeName, publishedUs } from './domains/tables.ts';
import { CLIENTS, threeClients } from './one-and-three.ts';

const ROUNDS = 3;
const SECONDS = 1;
/** Enough that clients seldom meet on a key, few enough that all of them stay in the processor's cache. */
const COUNTERS = 1000;
const WEIGHTS: readonly Weight[] = ['light', 'heavy'];

interface Variant {
  readonly weight: Weight;
  readonly shape: Shape;
  /** Relays before the stores. */
  readonly via?: readonly { readonly host: string; readonly port: number }[];
}

/** One store for the traffic of three domains, or one for each. */
export const domains: Experiment = {
  varies:
    'one store for three domains, one each, a cluster of three; light and heavy commands; with and without added RTT',
  parts: ['redis'],
  run: async (lab) => {
    const kept = [...(await startStores(lab)), await startClusterShape(lab)];
    const anywhere = await startStores(lab, true);
    const delayed = await Promise.all(
      kept.map(async (shape) => ({
        shape,
        via: await Promise.all(shape.stores.map((store) => startDelay(lab, store))),
      })),
    );
    const near = await measured(lab, both([...kept, ...anywhere].map((shape) => ({ shape }))));
    const far = await measured(lab, both(delayed));
    const rows = [...near, ...far];
    return {
      title: 'One store for three domains, or one each',
      published: `${CLIENTS} clients sending INCR: 8.36 µs per operation with one store, 5.54 with one for each (−33 %); in a second run 9.30 and 6.68; over a network the gain of light commands shrinks`,
      tables: [
        domainTable('On loopback', near, false),
        domainTable(`With a round trip of ${ADDED_RTT_MS} ms or a little more added`, far, true),
      ],
      charts: [
        {
          id: '',
          title: 'Time per operation on loopback, three clients',
          across: 'where the traffic of three domains goes',
          places: near.filter(({ weight }) => weight === 'light').map(placeName),
          unit: 'us',
          shape: 'bars',
          series: [
            ...WEIGHTS.map((weight) => ({
              name: weight === 'light' ? 'light: INCR' : 'heavy: GET of a page',
              values: near.filter((row) => row.weight === weight).map(({ usPerOp }) => usPerOp),
            })),
            {
              name: 'INCR, published',
              isPublished: true,
              values: near.filter(({ weight }) => weight === 'light').map(publishedUs),
            },
          ],
        },
      ],
      lesson: domainsLesson(rows, {
        storeCores: lab.cores.storeCount,
        allCores: lab.cores.storeCount + lab.cores.generatorCount,
      }),
      notes: [
        `Three processes of redis-benchmark with one connection each and one command under way, as published; each figure is the median of ${ROUNDS} runs that took turns with the others. Time per operation is the time that passed over the commands of all three.`,
        'Processor time per operation is that of all stores together. It hardly depends on how many cores there are, and no single-threaded store can do more than one second of it in a second.',
        `Light is INCR over ${COUNTERS} counters of each domain, heavy is GET of one of ${PAGES} stored pages of each domain, ${bytesText(LEAST_PAGE_BYTES)} to ${bytesText(MOST_PAGE_BYTES)} long.`,
        `The round trip is added by a relay that hands on every reply ${durationText(ADDED_RTT_MS)} later. It runs in the process of the experiment; its processor time is in no figure and delays nobody at these rates.`,
        'Each domain of the cluster has a hash tag of its own shard: that is the most three shards can gain, since no two clients meet on one.',
      ],
    };
  },
};

function both(sides: readonly Omit<Variant, 'weight'>[]): readonly Variant[] {
  return WEIGHTS.flatMap((weight) => sides.map((side) => ({ weight, ...side })));
}

async function measured(lab: Lab, variants: readonly Variant[]): Promise<readonly DomainRow[]> {
  const all = await alternately<Variant, DomainRow>(
    variants,
    ROUNDS,
    async ({ weight, shape, via }, before) => {
      lab.say(`${weight} commands, ${shape.name}${shape.isAnywhere ? ', anywhere' : ''}${via ? ', far' : ''}`);
      const expected = before.at(-1)?.perSecond;
      const run = await threeClients(lab, {
        stores: shape.stores,
        ...(via !== undefined && { via }),
        ...(shape.isAnywhere && { isAnywhere: true }),
        ...(expected !== undefined && { expectedPerSecond: expected }),
        command: (domain) => [
          ...(weight === 'light' ? ['INCR', `${shape.prefix(domain)}:counter:__rand_int__`] : []),
          ...(weight === 'heavy' ? ['GET', `${shape.prefix(domain)}:page:__rand_int__`] : []),
        ],
        keySpace: weight === 'light' ? COUNTERS : PAGES,
        ...(weight === 'heavy' && { fill: (domain, port) => pageFill(shape.prefix(domain), port) }),
        seconds: lab.seconds(SECONDS),
      });
      return { ...run, weight, shape: shape.name, isFar: via !== undefined, isAnywhere: shape.isAnywhere === true };
    },
    ({ usPerOp }) => usPerOp,
  );
  return all.map(({ run }) => run);
}
