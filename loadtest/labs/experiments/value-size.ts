import { bytesText, countText, durationText, perSecondText } from '../../../src/report/format.ts';
import { countEffects, seenClaim } from '../kit/claims.ts';
import type { Claim } from '../kit/finding.ts';
import { defineExperiment, type Lab } from '../kit/lab.ts';
import { chartOf, type TableParts, tableOf } from '../kit/table.ts';
import {
  type AloneRead,
  BIG_FIELDS,
  FIELD_BYTES,
  FIELDS_PER_SECOND,
  type HashRead,
  type HashReads,
  hashReads,
  hashWrites,
  READERS,
  SMALL_FIELDS,
  SMALL_PER_SECOND,
} from './value-size/hash.ts';
import {
  CLIENTS,
  LINK_BYTES_PER_SECOND,
  overLink,
  overLoopback,
  PIPELINED_CLIENTS,
  PUBLISHED,
  rowName,
  SIZES,
  type Transfer,
  type Way,
} from './value-size/transfer.ts';

export type ValueSizeMeasured = Awaited<ReturnType<typeof measure>>;

const LARGEST = Math.max(...SIZES);
const LARGEST_WRITE = 'low rate, full network, idle CPU';

/** Two runs of one load differ by a tenth, and a hash that leaves the processor's nearest cache may cost as much again. */
const MOST_GROWTH = 1.25;

const RATES: TableParts<Partial<Transfer>>['columns'] = [
  ['rate', 'per-second', (row) => row.perSecond],
  ['values', 'bytes-per-second', (row) => row.bytesPerSecond],
];
const COSTS: TableParts<Partial<Transfer>>['columns'] = [
  ['p99', 'ms', (row) => row.p99Ms],
  ['cores of store', 'cores', (row) => row.storeCores],
  ['cores of generator', 'cores', (row) => row.generatorCores],
];

export const valueSize = defineExperiment({
  varies: 'values of 1 KB to 4 MB, written and read, pipelined or not; a hash of 20,000 fields read in pieces',
  parts: ['redis'],
  title: 'How large may a value be?',
  published:
    'SET of 4 MB: a low rate, a full network and an idle processor; SET of 4 KB with 5,000 at once: 508k/s; a hash of 20,000 fields read 3000, 300 and 30 fields at a time: 10 s, 100 ms and 20 ms; a big hash does not slow writes',
  sentence:
    'Multiply the size of your values by the rate you need, and compare it with your network before you look at processors. Send small values in pipelines. Read a big hash in pieces where a long reply would delay others, in pieces not so small that round trips are most of the time.',
  measure,
  tables: ({ near, link, reads, writes }) => [
    tableOf({
      title: 'On loopback',
      rows: near,
      name: rowName,
      columns: [...RATES, ...COSTS],
      published: (row) => {
        if (isLargestWrite(row)) return LARGEST_WRITE;
        const isPublished = row.way === 'SET' && row.bytes === 4096 && row.pipeline === PUBLISHED.pipeline;
        return isPublished ? perSecondText(PUBLISHED.pipelinedSetPerSecond) : undefined;
      },
    }),
    tableOf<Partial<Transfer> & Pick<Transfer, 'way' | 'bytes' | 'pipeline'>>({
      title: 'Over a link of 1 Gbit/s',
      rows: typeof link === 'string' ? unmeasured() : link,
      name: rowName,
      columns: [
        ...RATES,
        ['share of the link', 'share', (row) => row.bytesPerSecond && row.bytesPerSecond / LINK_BYTES_PER_SECOND],
        ...COSTS,
      ],
      published: (row) => (row.perSecond !== undefined && isLargestWrite(row) ? LARGEST_WRITE : undefined),
    }),
    tableOf<Partial<HashRead> & Pick<HashRead, 'name'>>({
      title: 'Reading a hash of 20,000 fields',
      rows: [{ name: 'no reads of the hash', besideP99Ms: reads.quietP99Ms }, ...reads.rows],
      name: (row) => row.name,
      columns: [
        ['one reply, one client', 'ms', ({ alone }) => alone?.replyMs],
        ['the whole hash in such replies', 'ms', ({ alone }) => alone?.wholeMs],
        ['bytes of a reply', 'bytes', ({ alone }) => alone?.replyBytes],
        ['the store does nothing else for', 'us', ({ alone }) => alone?.executionUs],
        [`p99 of a reply, ${READERS} clients`, 'ms', (row) => row.crowdP99Ms],
        ['cores of store then', 'cores', (row) => row.crowdCores],
        [`p99 of small reads beside ${FIELDS_PER_SECOND / 1000}k fields/s`, 'ms', (row) => row.besideP99Ms],
      ],
      published: ({ publishedMs }) => (publishedMs === undefined ? undefined : durationText(publishedMs)),
    }),
    tableOf({
      title: 'Writing one field of a hash',
      rows: writes,
      name: ({ fields, pipeline }) =>
        `HSET into a hash of ${countText(fields)} fields${pipeline === 1 ? '' : `, ${pipeline} at once`}`,
      columns: [
        ['rate', 'per-second', (row) => row.perSecond],
        ['p99', 'ms', (row) => row.p99Ms],
        ['cores of store', 'cores', (row) => row.storeCores],
        ['store per command', 'us', (row) => row.storeUs],
      ],
      published: ({ fields }) => (fields === SMALL_FIELDS ? undefined : 'not slower'),
    }),
  ],
  charts: ({ near, link }) => {
    const far = typeof link === 'string' ? [] : link;
    const bySize = (name: string, rows: readonly Transfer[], way: Way, isPipelined: boolean) => ({
      name,
      of: (bytes: number) =>
        rows.find((row) => row.way === way && row.bytes === bytes && row.pipeline > 1 === isPipelined)?.perSecond,
    });
    return [
      chartOf({
        title: 'Values a second by their size',
        across: 'bytes of a value',
        points: SIZES,
        pointName: (bytes) => bytesText(bytes),
        unit: 'per-second',
        shape: 'lines',
        isLog: true,
        series: [
          bySize('SET', near, 'SET', false),
          bySize('SET, pipelined', near, 'SET', true),
          bySize('GET', near, 'GET', false),
          bySize('GET, pipelined', near, 'GET', true),
          ...(far.length === 0 ? [] : [bySize('SET over 1 Gbit/s', far, 'SET', false)]),
          {
            name: 'SET, 5,000 at once, published',
            isPublished: true,
            of: (bytes) => (bytes === 4096 ? PUBLISHED.pipelinedSetPerSecond : undefined),
          },
        ],
      }),
    ];
  },
  claims: (measured) => {
    const effects = effectsOf(measured);
    const { seen, held } = countEffects(effects);
    return [
      {
        text: `published effects that hold, of ${effects.length}`,
        figure: seen === 0 ? undefined : held,
        unit: 'count',
        atLeast: 1,
        isRequired: true,
      },
      seenClaim(effects),
      ...effects.flat(),
      {
        // If this is far above the factor of the whole reply, most of a small reply's time is its round trip.
        text: "store's own time of a reply of 3,000 fields ÷ of 30 fields",
        figure: manyToFew(measured.reads, ({ executionUs }) => executionUs),
        unit: 'times',
      },
    ];
  },
  notes: ({ link, reads }) => {
    const unanswered = reads.rows.filter(({ alone }) => alone === undefined).map(({ name }) => name);
    return [
      'Published rows of GET by redis-benchmark -d cannot be right, as -d sizes only what SET writes. So values were stored before they were read, and every row of GET counts the bytes that were received: its rate is those bytes over the bytes of a reply.',
      'SET is sent by redis-benchmark. GET is sent by the driver of this project, because redis-benchmark stops its clock at the first bytes of a reply and would show no time for the rest; the printed command asks for the same.',
      `${CLIENTS} connections with one command each; or ${PIPELINED_CLIENTS} with as many at once as fit in ${bytesText(PUBLISHED.pipeline * 4096)}, 5,000 at most as published.`,
      'On loopback nothing is sent anywhere: the network is memory that the processors of both sides copy, so it can only be full when they are.',
      typeof link === 'string'
        ? `There was no link of a known bandwidth to measure over: ${link}.`
        : 'The link is a pair of virtual interfaces into a network namespace, held to 1 Gbit/s each way by a token bucket with a queue that drops nothing; p99 is mostly time in that queue. Where the limit is neither, the link was waited for.',
      'The stores run with deploy/redis/redis-cache.conf unchanged: nothing here reaches its limits on values and client buffers.',
      `Fields are ${FIELD_BYTES} bytes long. The time for the whole hash is the time of one reply times the number of replies, one after the other. Small reads are ${SMALL_PER_SECOND}/s of 100 bytes by another process, which shares its core with the reader of the hash.`,
      ...(unanswered.length === 0
        ? []
        : [`${unanswered.join('; ')}: not answered once in the time of a row, so there are no figures of one client.`]),
    ];
  },
});

async function measure(lab: Lab) {
  const store = await lab.startStore();
  const near = await overLoopback(lab, store);
  await lab.clear();
  const link = await overLink(lab);
  await lab.clear();
  const reads = await hashReads(lab, await lab.startStore());
  await lab.clear();
  return { near, link, reads, writes: await hashWrites(lab) };
}

/** The published effects: the claims of each hold together. */
function effectsOf({ link, reads, writes }: ValueSizeMeasured): readonly (readonly Claim[])[] {
  const far = typeof link === 'string' ? undefined : link.find(isLargestWrite);
  const [whole, few] = [readOf(reads, BIG_FIELDS), readOf(reads, 30)];
  const single = writes.filter(({ pipeline }) => pipeline === 1);
  const [small, big] = [SMALL_FIELDS, BIG_FIELDS].map((fields) => single.find((row) => row.fields === fields));
  const share: Claim = {
    text: `share of a link of 1 Gbit/s, SET of ${bytesText(LARGEST)}`,
    figure: far && far.bytesPerSecond / LINK_BYTES_PER_SECOND,
    unit: 'share',
    // The rest is headers, and both ends of a short measurement.
    atLeast: 0.85,
  };
  // A store that is idle for half of its time is not the limit.
  const idle: Claim = {
    text: 'busy cores of the store meanwhile',
    figure: far?.storeCores,
    unit: 'cores',
    atMost: 0.5,
  };
  // Whether the published times are of one reply or of the whole hash is not known: both are claims.
  const reply: Claim = {
    text: 'time of a reply of 3,000 fields ÷ of 30 fields',
    figure: manyToFew(reads, ({ replyMs }) => replyMs),
    unit: 'times',
    // Published was a 500th of the time for a hundredth of the fields. Where a round trip is most of the time, a fifth
    // still helps.
    atLeast: 5,
  };
  const hash: Claim = {
    text: 'time of the whole hash in pieces of 3,000 fields ÷ in pieces of 30',
    figure: manyToFew(reads, ({ wholeMs }) => wholeMs),
    unit: 'times',
    atLeast: 1 / MOST_GROWTH,
  };
  // Neither way causes a delay that exists without reads of the hash.
  const longest = whole?.besideP99Ms && reads.quietP99Ms && Math.max(whole.besideP99Ms, reads.quietP99Ms);
  const beside: Claim = {
    // Both ways read the same number of fields a second.
    text: 'p99 of small reads beside pieces of 30 fields ÷ beside whole reads, or beside none where that is longer',
    figure: longest && few?.besideP99Ms && few.besideP99Ms / longest,
    unit: 'times',
    atMost: MOST_GROWTH,
  };
  const write: Claim = {
    // Processor time, because rates of two runs differ by more than the bound on a machine that others use as well.
    text: 'processor time of the store per HSET, hash of 20,000 fields ÷ of 30 fields',
    figure: small && big && big.storeUs / small.storeUs,
    unit: 'times',
    atMost: MOST_GROWTH,
  };
  return [[share, idle], [reply], [hash], [beside], [write]];
}

/** The first row of a number of fields is HMGET, not HSCAN. */
function readOf({ rows }: HashReads, fields: number): HashRead | undefined {
  return rows.find((row) => row.fields === fields);
}

function manyToFew(reads: HashReads, figure: (alone: AloneRead) => number): number | undefined {
  const [many, few] = [readOf(reads, 3000)?.alone, readOf(reads, 30)?.alone];
  return many && few && figure(many) / figure(few);
}

function isLargestWrite({ way, bytes, pipeline }: Pick<Transfer, 'way' | 'bytes' | 'pipeline'>): boolean {
  return way === 'SET' && pipeline === 1 && bytes === LARGEST;
}

function unmeasured(): readonly Pick<Transfer, 'way' | 'bytes' | 'pipeline'>[] {
  return (['SET', 'GET'] as const).flatMap((way) => SIZES.map((bytes) => ({ way, bytes, pipeline: 1 })));
}
