import { bytesText, durationText } from '../../../src/report/format.ts';
import { startRelay } from '../../fault-proxy/relay.ts';
import { createRandom } from '../../random.ts';
import { pin } from '../../stack/process.ts';
import { processorMs } from '../../stack/processors.ts';
import { startCluster } from '../../stack/redis.ts';
import type { RedisNode } from '../../stack/redis-node.ts';
import { massImport } from '../kit/benchmark.ts';
import { defineExperiment, type Lab } from '../kit/lab.ts';
import { fillCommands, randomDigits } from '../kit/mix.ts';
import { alternately } from '../kit/rounds.ts';
import { chartOf, type TableParts, tableOf } from '../kit/table.ts';
import {
  CLIENTS,
  type Endpoint,
  type MeteredStore,
  negated,
  savedShare,
  type ThreeClients,
  threeClients,
} from './three-clients.ts';

const ROUNDS = 3;
const SECONDS = 1;
/** Enough that clients seldom meet on a key, few enough that all of them stay in the processor's cache. */
const COUNTERS = 1000;
const STORED = { keys: 600, leastBytes: 4096, mostBytes: 16_384 };
const DOMAINS = ['goods', 'packages', 'people'];
const SLOTS = 16_384;
const MOST_TAGS = 300;
/** The least that a timer of Node can do. A round trip between racks is half of it, between data centres more. */
const ADDED_RTT_MS = 1;

/** Half of what both published runs gained. A machine varies by less from one minute to the next. */
const LEAST_GAIN = 0.15;
/** A smaller difference is neither a gain nor a loss. */
const NOISE = 0.05;

/** INCR, or the GET of a page. */
const WEIGHTS = ['light', 'heavy'] as const;
type Weight = (typeof WEIGHTS)[number];

/** The stores for the traffic of three domains, and the first published time per operation. No cluster was published. */
const SHAPES = {
  'one store for all three': 8.36,
  'one store each': 5.54,
  'a cluster of three shards': undefined,
} as const;
type Shape = keyof typeof SHAPES;

interface Variant {
  readonly shape: Shape;
  /** One for all, or one for each domain in order. */
  readonly stores: readonly MeteredStore[];
  /** The beginning of all keys of a domain. */
  readonly prefix: (domain: number) => string;
  /** The system chooses the processors of stores and clients. */
  readonly isAnywhere: boolean;
  readonly via?: readonly Endpoint[];
}

export interface DomainRow extends ThreeClients {
  readonly weight: Weight;
  readonly shape: Shape;
  readonly isFar: boolean;
  readonly isAnywhere: boolean;
}

const STORE_TIME: TableParts<DomainRow>['columns'][number] = [
  'processor time of stores per operation',
  'us',
  ({ storeUsPerOp }) => storeUsPerOp,
];

export const domains = defineExperiment({
  varies:
    'one store for three domains, one each, a cluster of three; light and heavy commands; with and without added RTT',
  parts: ['redis'],
  title: 'One store for three domains, or one each?',
  published: `${CLIENTS} clients sending INCR: 8.36 µs per operation with one store, 5.54 with one for each (−33 %); in a second run 9.30 and 6.68; over a network the gain of light commands shrinks`,
  sentence:
    'Give each domain a store of its own when one store fills its core and there are free cores for more. Where clients wait for a network, expect little from it: send commands in batches or over more connections first.',
  measure: async (lab) => {
    const kept = [...(await startStores(lab, false)), await startShards(lab)];
    const anywhere = await startStores(lab, true);
    for (const variant of [...kept, ...anywhere]) await fill(lab, variant);
    const delayed = await Promise.all(
      kept.map(async (variant) => ({
        ...variant,
        via: await Promise.all(variant.stores.map((store) => startDelay(lab, store))),
      })),
    );
    const near = await measured(lab, [...kept, ...anywhere]);
    return { near, far: await measured(lab, delayed), cores: lab.cores };
  },
  tables: ({ near, far }) =>
    [
      { title: 'On loopback', rows: near },
      { title: `With a round trip of ${ADDED_RTT_MS} ms or a little more added`, rows: far },
    ].map(({ title, rows }) =>
      tableOf({
        title,
        rows,
        name: (row) => `${row.weight}, ${variantName(row)}`,
        columns: [
          ['per operation', 'us', (row) => row.usPerOp],
          // The baseline has no value of its own.
          ['against one store', 'share', (row) => negated(gainOf(rows, row)) ?? ''],
          ['rate', 'per-second', (row) => row.perSecond],
          ['p99', 'ms', (row) => row.p99Ms],
          ['cores of stores', 'cores', (row) => row.storeCores],
          ['cores of clients', 'cores', (row) => row.generatorCores],
          // Behind a round trip the stores are idle: their processor time is below the resolution of its counter.
          ...(rows === far ? [] : [STORE_TIME]),
        ],
        published: publishedText,
      }),
    ),
  charts: ({ near }) => {
    const points = near.filter(({ weight }) => weight === 'light');
    return [
      chartOf({
        title: 'Time per operation on loopback, three clients',
        across: 'where the traffic of three domains goes',
        points,
        pointName: variantName,
        unit: 'us',
        shape: 'bars',
        series: [
          ...WEIGHTS.map((weight) => ({
            name: weight === 'light' ? 'light: INCR' : 'heavy: GET of a page',
            of: (point: DomainRow) => rowAt(near, { ...point, weight })?.usPerOp,
          })),
          { name: 'INCR, published', isPublished: true, of: publishedUs },
        ],
      }),
    ];
  },
  claims: ({ near, far }) => {
    const gain = (weight: Weight, isAnywhere: boolean, rows = near) =>
      gainOf(rows, { weight, shape: 'one store each', isFar: rows === far, isAnywhere });
    // The stores of the far rows have cores of their own.
    const [light, heavy, lightFar] = [gain('light', false), gain('heavy', false), gain('light', false, far)];
    const [anyLight, anyHeavy] = [gain('light', true), gain('heavy', true)];
    const all = [light, heavy, anyLight, anyHeavy].filter((one) => one !== undefined);
    const isComplete = light !== undefined && heavy !== undefined && lightFar !== undefined;
    const isOneStore = near.filter(({ shape, weight }) => shape === 'one store for all three' && weight === 'light');
    const saved = (text: string) => `share of the time per operation saved by one store each, ${text}`;
    return [
      {
        text: saved('the largest of all'),
        figure: isComplete ? Math.max(...all) : undefined,
        unit: 'share',
        atLeast: LEAST_GAIN,
        isRequired: true,
      },
      { text: saved('INCR'), figure: light, unit: 'share', atLeast: LEAST_GAIN },
      { text: saved('INCR, stores and clients on any core'), figure: anyLight, unit: 'share', atLeast: LEAST_GAIN },
      {
        text: saved('INCR over a network'),
        figure: lightFar,
        unit: 'share',
        // A gain that shrinks, as published, loses at least half of what it was; a loss is not a smaller gain.
        atLeast: -NOISE,
        atMost: light === undefined ? undefined : light / 2,
      },
      {
        // A store has one thread: it cannot do more than one second of work in a second.
        text: "INCR per second that one store's core allows",
        figure: 1e6 / Math.min(...isOneStore.map(({ storeUsPerOp }) => storeUsPerOp)),
        unit: 'per-second',
      },
    ];
  },
  notes: ({ cores: { storeCount } }) => [
    `Three processes of redis-benchmark with one connection each and one command under way, as published; each figure is the median of ${ROUNDS} runs that took turns with the others. Time per operation is the elapsed time over the commands of all three.`,
    'Processor time per operation is that of all stores together. It hardly depends on how many cores there are, and no single-threaded store can do more than one second of it in a second.',
    `Light is INCR over ${COUNTERS} counters of each domain, heavy is GET of one of ${STORED.keys} stored pages of each domain, ${bytesText(STORED.leastBytes)} to ${bytesText(STORED.mostBytes)} long.`,
    `The round trip is added by a relay that forwards every reply ${durationText(ADDED_RTT_MS)} later. It runs in the process of the experiment; its processor time is in no figure and delays nobody at these rates.`,
    'Each domain of the cluster has a hash tag of its own shard: that is the most three shards can gain, since no two clients meet on one.',
    ...(storeCount < CLIENTS
      ? [
          `The three stores have ${storeCount === 1 ? 'one core' : `${storeCount} cores`} together here: this machine cannot show three stores side by side, which with a core each could do three times what one store can.`,
        ]
      : []),
  ],
});

type Point = Pick<DomainRow, 'weight' | 'shape' | 'isFar' | 'isAnywhere'>;

function rowAt(rows: readonly DomainRow[], { weight, shape, isFar, isAnywhere }: Point): DomainRow | undefined {
  return rows.find(
    (row) => row.weight === weight && row.shape === shape && row.isFar === isFar && row.isAnywhere === isAnywhere,
  );
}

/** Share of the time per operation that is saved against one store under the same load; negative when it takes longer. */
function gainOf(rows: readonly DomainRow[], point: Point): number | undefined {
  const [one, other] = [rowAt(rows, { ...point, shape: 'one store for all three' }), rowAt(rows, point)];
  return savedShare(one, other);
}

function variantName({ shape, isAnywhere }: DomainRow): string {
  return isAnywhere ? `${shape}, stores and clients on any core` : shape;
}

function publishedUs({ shape, isAnywhere }: DomainRow): number | undefined {
  return isAnywhere ? undefined : SHAPES[shape];
}

function publishedText(row: DomainRow): string | undefined {
  if (row.weight === 'heavy' || row.isFar || publishedUs(row) === undefined) return undefined;
  return row.shape === 'one store each' ? '5.54 µs (−33 %), 6.68 µs (−28 %)' : '8.36 µs, 9.30 µs';
}

async function measured(lab: Lab, sides: readonly Variant[]): Promise<readonly DomainRow[]> {
  const variants = WEIGHTS.flatMap((weight) => sides.map((side) => ({ weight, ...side })));
  return alternately<(typeof variants)[number], DomainRow>(
    variants,
    ROUNDS,
    async ({ weight, shape, stores, prefix, isAnywhere, via }, before) => {
      lab.say(`${weight} commands, ${shape}${isAnywhere ? ', anywhere' : ''}${via ? ', far' : ''}`);
      const [command, kind, keySpace] =
        weight === 'light' ? ['INCR', 'counter', COUNTERS] : ['GET', 'page', STORED.keys];
      const run = await threeClients(lab, {
        stores,
        via,
        isAnywhere,
        expectedPerSecond: before.at(-1)?.perSecond,
        command: (domain) => [command, `${prefix(domain)}:${kind}:__rand_int__`],
        keySpace,
        seconds: lab.seconds(SECONDS),
      });
      return { ...run, weight, shape, isFar: via !== undefined, isAnywhere };
    },
    ({ usPerOp }) => usPerOp,
  );
}

/** One store and one each, on the store's cores or on those that the system chooses. */
async function startStores(lab: Lab, isAnywhere: boolean): Promise<readonly Variant[]> {
  const start = (): Promise<MeteredStore> => lab.startStore(isAnywhere ? { cores: 'any' } : {});
  const own = { prefix: (domain: number) => DOMAINS[domain] ?? '', isAnywhere };
  return [
    { shape: 'one store for all three', stores: [await start()], ...own },
    { shape: 'one store each', stores: await Array.fromAsync(DOMAINS, start), ...own },
  ];
}

/**
 * Keys of a domain carry a tag whose slot is on the domain's shard: each client asks one shard, as with a store each. That
 * is the most a cluster can gain; where a domain's keys lie on all shards, its clients meet on one of them now and then.
 */
async function startShards(lab: Lab): Promise<Variant> {
  const { nodes, stop } = await startCluster({ flavour: 'redis', masters: CLIENTS });
  lab.atEnd(stop);
  await pin(
    nodes.map((node) => node.pid()),
    lab.cores.store,
  );
  const tags = await Promise.all(nodes.map((node, shard) => tagIn(node, shard)));
  return {
    shape: 'a cluster of three shards',
    stores: nodes.map((node) => ({ ...node, processorMs: () => processorMs(node.pid()) })),
    prefix: (domain) => tags[domain] ?? '',
    isAnywhere: false,
  };
}

async function tagIn(node: RedisNode, shard: number): Promise<string> {
  const [first, next] = [Math.floor((SLOTS * shard) / CLIENTS), Math.floor((SLOTS * (shard + 1)) / CLIENTS)];
  for (let number = 0; number < MOST_TAGS; number += 1) {
    const tag = `{${DOMAINS[shard]}-${number}}`;
    const slot = Number(await node.command('CLUSTER', 'KEYSLOT', tag));
    if (slot >= first && slot < next) return tag;
  }
  throw new Error(`none of ${MOST_TAGS} tags has a slot of shard ${shard + 1}`);
}

async function fill(lab: Lab, { stores, prefix }: Variant): Promise<void> {
  for (const domain of DOMAINS.keys()) {
    const store = stores[domain % stores.length];
    if (store === undefined) continue;
    const name = (at: number): string => `${prefix(domain)}:page:${randomDigits(at)}`;
    await massImport(lab, store, fillCommands(STORED, createRandom(domain + 1).next, name));
  }
}

/**
 * A relay in front of a store that forwards each reply a round trip later; a client that waits for a reply before the next
 * command sees the same as over a network. Not netem: it needs root, and a module that kernels of small virtual machines
 * may not have. A relay costs processor time, but with three clients that wait a millisecond at a time no processor is
 * near full.
 */
async function startDelay(lab: Lab, { host, port }: Endpoint): Promise<Endpoint> {
  const relay = await startRelay({
    target: { host, port },
    createSession: (wire) => ({
      fromClient: wire.toServer,
      // Timers of one duration fire in the order in which they were set: replies stay in order.
      fromServer: (bytes) => setTimeout(wire.toClient, ADDED_RTT_MS, Buffer.from(bytes)),
    }),
  });
  lab.atEnd(relay.stop);
  return relay;
}
