import { setTimeout as sleep } from 'node:timers/promises';
import { percentText } from '../../../src/report/format.ts';
import { cutOff, type FaultFigure, type FaultParts, killed, stopped } from '../../freshness/faults.ts';
import { createIndexer } from '../../freshness/indexer.ts';
import { GRACE_MS, SAMPLE } from '../../freshness/load.ts';
import { flood, type MemoryFigures, measureMemory } from '../../freshness/memory.ts';
import { quantile } from '../../freshness/oracle.ts';
import { openFleet, type Phase, runPhase, warm } from '../../freshness/phase.ts';
import { createSearches, ONCE_SHARE } from '../../freshness/searches.ts';
import { startFreshnessStack, type Variant } from '../../freshness/stack.ts';
import { sum } from '../../judge/series.ts';
import { defineExperiment, type Lab } from '../kit/lab.ts';
import { chartOf, tableOf } from '../kit/table.ts';

const DOCUMENTS = 100_000;
/** With `--seconds`: enough for a first look. */
const FEW_DOCUMENTS = 5000;
const TEXTS = 1000;
/** x1: what three replicas, searchd, the stores and the load carry on two cores. */
const SEARCHES_PER_SECOND = 100;
const ROW_SECONDS = 25;
/** Five thousand deletions, twice. */
const LONG_ROW_SECONDS = 27;
/** The row of the first claim is this much longer: one wrong answer in two hundred is to be told from none. */
const CLAIMED_TIMES = 4;
const [CALM, BUSY] = [100, 1000];
const FLOOD = { count: 1_000_000, perSecond: 12_000, limitSeconds: 110 } as const;
const CONTROL_SECONDS = 20;
/** A million changes in an hour. */
const HOURLY_RATE = 280;

const NAMES = ['no invalidation', 'feed, stale', 'feed, miss', 'TTL of 1 s', 'TTL of 10 s'] as const;
type Name = (typeof NAMES)[number];

const VARIANTS: Readonly<Record<Name, Variant>> = {
  'no invalidation': { ttl: '1h' },
  'feed, stale': { ttl: '1h', changes: { onChange: 'stale' } },
  'feed, miss': { ttl: '1h', changes: { onChange: 'miss' } },
  'TTL of 1 s': { ttl: '1s' },
  'TTL of 10 s': { ttl: '10s' },
};

export interface ChangesRow extends Phase {
  readonly name: Name;
  /** Changes a second that were wanted. */
  readonly rate: number;
}

export interface ChangesMeasured {
  /** Number of documents of the table at first. */
  readonly documents: number;
  readonly rows: readonly ChangesRow[];
  readonly faults: readonly FaultFigure[];
  /** Without a feed, at a million changes an hour, and a million as fast as they are taken. */
  readonly memory: readonly [MemoryFigures, MemoryFigures, MemoryFigures];
}

export const changes = defineExperiment<ChangesMeasured>({
  varies: 'no invalidation, a TTL alone, and the feed of changes with both policies, at 100 and 1,000 changes a second',
  parts: ['redis', 'sphinx'],
  title: 'Does a feed of changes keep pages right for an hour?',
  published:
    'Invalidation predictors of search caches: at most 30 % fewer evaluations than a TTL at equal freshness (SIGIR 2010); 97 % of the answers fresh on a real news engine at a negligible cost in hit ratio (ECIR 2011); timestamps of documents and of posting lists are almost as exact, and far simpler (SIGIR 2011).',
  sentence:
    'With a feed, give pages a long lifetime. Choose `onChange: miss` where an answer must be right, and `stale` where it must be fast: then the first answer after a change is still the old one.',
  measure,
  tables: ({ rows, faults, memory }) => [
    tableOf({
      title: 'Answers, compared with the engine',
      rows,
      name: rowName,
      columns: [
        ['right', 'share', rightShare],
        ['documents right', 'share', ({ pageWrong, sampled }) => 1 - pageWrong / sampled],
        ['counts right', 'share', ({ countsWrong, sampled }) => 1 - countsWrong / sampled],
        ['age of a wrong page, p99', 'ms', ageP99],
        ['deleted documents shown late', 'count', ({ deletedShown }) => deletedShown],
        [
          'the latest of them',
          'ms',
          ({ longestShownMs, deletedShown }) => (deletedShown === 0 ? undefined : longestShownMs),
        ],
        ['hits', 'share', hitRatio],
        ['hits and stale pages', 'share', cachedShare],
        ['engine queries per answer', 'times', queriesPerAnswer],
        ['compared', 'count', ({ sampled }) => sampled],
        ['unanswered', 'count', ({ errors, refused }) => sum([...errors.values(), ...refused.values()])],
      ],
    }),
    tableOf({
      title: 'What the feed did',
      rows: rows.filter(({ name }) => VARIANTS[name].changes !== undefined),
      name: rowName,
      columns: [
        ['changes', 'per-second', ({ changesPerSecond }) => changesPerSecond],
        ['deletions', 'count', ({ sales }) => sales],
        ['pages: deleted', 'count', ({ pagesChanged }) => pagesChanged['deleted']],
        ['changed', 'count', ({ pagesChanged }) => pagesChanged['changed']],
        ['entered', 'count', ({ pagesChanged }) => pagesChanged['entered']],
        ['unknown', 'count', ({ pagesChanged }) => pagesChanged['unknown']],
        ['refreshed pages seen again', 'count', ({ refreshed }) => refreshed],
        ['of these the same bytes', 'share', ({ sameEtag, refreshed }) => sameEtag / refreshed],
        ['nothing to be seen', 'share', ({ sameSeen, refreshed }) => sameSeen / refreshed],
      ],
    }),
    tableOf({
      title: 'A replica in trouble, and then asked for each page of which documents were sold meanwhile',
      rows: faults,
      name: ({ name }) => name,
      columns: [
        ['sold meanwhile', 'count', ({ sold }) => sold],
        ['shown while it lasts', 'count', ({ shownMeanwhile }) => shownMeanwhile],
        ['shown afterwards', 'count', ({ shownAfter }) => shownAfter],
      ],
    }),
    tableOf({
      title: 'Memory of a replica',
      rows: memory,
      name: ({ changes: count, seconds }) =>
        count === 0 ? 'without a feed' : `${Math.round(count / seconds).toLocaleString('en')} changes/s`,
      columns: [
        ['changes', 'count', ({ changes: count }) => count],
        ['time', 'seconds', ({ seconds }) => seconds],
        ['resident, middle', 'bytes', ({ rssMiddle }) => rssMiddle],
        ['resident, end', 'bytes', ({ rssEnd }) => rssEnd],
        ['longest GC pause', 'ms', ({ longestGcMs }) => longestGcMs],
        ['GC per second', 'ms', ({ gcMsPerSecond }) => gcMsPerSecond],
      ],
    }),
  ],
  charts: ({ rows }) => [
    chartOf({
      title: 'Answers that equal those of the engine at that moment',
      across: 'how pages are kept fresh',
      points: NAMES.filter((name) => rows.some((row) => row.name === name)),
      pointName: (name) => name,
      unit: 'share',
      shape: 'bars',
      series: [CALM, BUSY].map((rate) => ({
        name: `${rate.toLocaleString('en')} changes/s`,
        of: (name: Name) => {
          const row = rowOf(rows, name, rate);
          return row && rightShare(row);
        },
      })),
    }),
  ],
  claims: ({ rows, faults, memory: [calm, steady, flooded] }) => {
    const feeds = rows.filter(({ name }) => VARIANTS[name].changes !== undefined);
    const sales = feeds.reduce((sum, row) => sum + row.sales, 0);
    const [miss, stale, bare] = [
      rowOf(rows, 'feed, miss', BUSY),
      rowOf(rows, 'feed, stale', BUSY),
      rowOf(rows, 'no invalidation', BUSY),
    ];
    const [calmMiss, calmStale, calmBare] = [
      rowOf(rows, 'feed, miss', CALM),
      rowOf(rows, 'feed, stale', CALM),
      rowOf(rows, 'no invalidation', CALM),
    ];
    const lost = (row: ChangesRow | undefined, of: (row: ChangesRow) => number, from: ChangesRow | undefined) =>
      row && from && of(row) - of(from);
    return [
      { text: 'right answers, 1,000 changes/s, miss', figure: miss && rightShare(miss), unit: 'share', atLeast: 0.995 },
      { text: 'the same, stale', figure: stale && rightShare(stale), unit: 'share' },
      {
        text: `deleted documents shown more than ${GRACE_MS / 1000} s after the call, of ${sales.toLocaleString('en')} deletions`,
        figure: feeds.length === 0 ? undefined : feeds.reduce((sum, row) => sum + row.deletedShown, 0),
        unit: 'count',
        atMost: 0,
        isRequired: true,
      },
      {
        text: 'age of a wrong page, p99, 1,000 changes/s, miss',
        figure: miss && ageP99(miss),
        unit: 'ms',
        atMost: 1000,
      },
      {
        text: 'engine queries, miss ÷ a TTL alone with as many right answers, the larger of both rates',
        figure: miss && Math.max(...[miss, calmMiss ?? miss].map((row) => queriesBeside(row, rows))),
        unit: 'times',
        atMost: 0.5,
      },
      {
        text: 'hits and stale pages less those without invalidation, 100 changes/s, stale',
        figure: lost(calmStale, cachedShare, calmBare),
        unit: 'share',
        atLeast: -0.01,
      },
      {
        text: 'hits less those without invalidation, 100 changes/s, miss',
        figure: lost(calmMiss, hitRatio, calmBare),
        unit: 'share',
      },
      { text: 'the same, 1,000 changes/s, miss', figure: lost(miss, hitRatio, bare), unit: 'share' },
      {
        text: 'deleted documents shown after a fault',
        figure: faults.reduce((sum, { shownAfter }) => sum + shownAfter, 0),
        unit: 'count',
        atMost: 0,
        isRequired: true,
      },
      {
        text: 'resident memory in the second half of the changes',
        figure: flooded.rssEnd / flooded.rssMiddle,
        unit: 'times',
        atMost: 1.1,
      },
      {
        text: 'longest GC pause at a million changes an hour ÷ without a feed',
        figure: steady.longestGcMs / calm.longestGcMs,
        unit: 'times',
        atMost: 1.5,
      },
    ];
  },
  notes: ({ documents, rows }) => [
    `A real-time table of searchd with ${documents.toLocaleString('en')} documents, three replicas with an L1 each, a Redis cluster of three as L2, and a Redis server for the feed, all of them and the load on the same processors. The indexer writes to searchd first, and then gives the changes to the feed.`,
    `x1 is ${SEARCHES_PER_SECOND} searches a second over ${TEXTS.toLocaleString('en')} texts by Zipf, ${percentText(ONCE_SHARE)} of them asked once; a search finds 2 to 700 documents, 40 in the middle of 100,000. At 100 changes a second a table of 100,000 changes as a whole in 17 minutes: a larger table at the same rates loses fewer hits.`,
    `One answer in ${SAMPLE} is compared with the engine, asked directly before and after it. Documents and attributes on the page are compared one by one with both readings, and so are total and facets; a state between the two is right. The order of documents and their scores are not compared: in a real-time table each change moves the weights of words.`,
    'The age of a wrong page is the time from the end of the call with the oldest change that the page does not show. A wrong answer counts from the first moment, also while the change is on its way.',
    'The first answer after a change is wrong by design with `stale`: pages that are seldom asked for are old then.',
    'Documents are chosen evenly from the table. Every answer of every replica is looked at for deleted documents, also while a replica is in trouble, but for the replica itself.',
    ...reorderedNote(rows),
  ],
});

function reorderedNote(rows: readonly ChangesRow[]): readonly string[] {
  const reordered = rows.reduce((sum, row) => sum + row.reordered, 0);
  if (reordered === 0) return [];
  return [
    `${reordered} of the wrong pages show documents that have not changed since: the engine put others before them, since the weights of words moved.`,
  ];
}

function rowName({ name, rate }: Pick<ChangesRow, 'name' | 'rate'>): string {
  return `${rate.toLocaleString('en')} changes/s, ${name}`;
}

function rowOf(rows: readonly ChangesRow[], name: Name, rate: number): ChangesRow | undefined {
  return rows.find((row) => row.name === name && row.rate === rate);
}

export function rightShare({ wrong, sampled }: ChangesRow): number {
  return 1 - wrong / sampled;
}

/** 0 when no page was wrong. */
function ageP99({ ages }: ChangesRow): number {
  return quantile(ages, 0.99) ?? 0;
}

function hitRatio({ outcomes, answers }: ChangesRow): number {
  return ((outcomes.get('hit-l1') ?? 0) + (outcomes.get('hit-l2') ?? 0)) / answers;
}

/** The share of the answers that came without waiting for the engine. */
function cachedShare(row: ChangesRow): number {
  return hitRatio(row) + (row.outcomes.get('stale') ?? 0) / row.answers;
}

function queriesPerAnswer({ engineQueries, answers }: ChangesRow): number {
  return engineQueries / answers;
}

/** As many: within a hundredth. */
const AS_MANY = 0.01;

/**
 * Engine queries with the feed ÷ with the cheapest TTL that gives as many right answers at that rate; where none does, every
 * answer needs its query.
 */
export function queriesBeside(feed: ChangesRow, rows: readonly ChangesRow[]): number {
  const ttls = rows.filter(
    (row) => row.name.startsWith('TTL') && row.rate === feed.rate && rightShare(row) >= rightShare(feed) - AS_MANY,
  );
  return queriesPerAnswer(feed) / Math.min(1, ...ttls.map(queriesPerAnswer));
}

/** A fleet for each variant: the calm row, the busy one, and what only this variant can show. */
async function measure(lab: Lab): Promise<ChangesMeasured> {
  const isShort = lab.seconds(ROW_SECONDS) < ROW_SECONDS;
  const count = isShort ? FEW_DOCUMENTS : DOCUMENTS;
  const stack = await startFreshnessStack({ directory: lab.folder, count, say: lab.say });
  lab.atEnd(stack.stop);
  const { documents, writer, sendChanges } = stack;
  const indexer = createIndexer({ documents, writer, send: sendChanges, seed: 1 });
  const rows: ChangesRow[] = [];
  const faults: FaultFigure[] = [];
  const memory: MemoryFigures[] = [];
  for (const name of NAMES) {
    const fleet = await openFleet(stack, VARIANTS[name], ['--trace-gc']);
    lab.atEnd(fleet.stop);
    const { domain } = stack;
    const parts = { stack, fleet, indexer, searches: createSearches({ domain, documents, count: TEXTS, seed: 1 }) };
    await warm(fleet, parts.searches);
    for (const [rate, seconds] of name === 'TTL of 10 s' ? ROWS.slice(0, 1) : ROWS) {
      lab.say(rowName({ name, rate }));
      const times = name === 'feed, miss' && rate === BUSY ? CLAIMED_TIMES : 1;
      const load = {
        searchesPerSecond: SEARCHES_PER_SECOND,
        changesPerSecond: rate,
        seconds: lab.seconds(seconds * times),
      };
      const row = { name, rate, ...(await runPhase({ ...parts, ...load, signal: lab.signal })) };
      lab.say(`${percentText(rightShare(row))} right, ${percentText(hitRatio(row))} hits`);
      rows.push(row);
    }
    if (name === 'no invalidation') memory.push(await measureFlood(lab, parts, 0, HOURLY_RATE));
    if (name === 'feed, stale') {
      // The memory of the first replica is measured then: it is not started again.
      for (const [at, fault] of [stopped, killed, cutOff].entries()) {
        lab.say('a replica in trouble');
        faults.push(await fault(parts, at));
      }
      memory.push(await measureFlood(lab, parts, HOURLY_RATE * lab.seconds(CONTROL_SECONDS), HOURLY_RATE));
      memory.push(await measureFlood(lab, parts, isShort ? FLOOD.count / 50 : FLOOD.count, FLOOD.perSecond));
    }
    await fleet.stop();
  }
  const [without, steady, flooded] = memory;
  if (without === undefined || steady === undefined || flooded === undefined)
    throw new Error('memory was not measured');
  return { documents: count, rows, faults, memory: [without, steady, flooded] };
}

const ROWS = [
  [CALM, ROW_SECONDS],
  [BUSY, LONG_ROW_SECONDS],
] as const;

/** @param count of changes; 0: the same searches without any */
function measureFlood(lab: Lab, parts: FaultParts, count: number, perSecond: number): Promise<MemoryFigures> {
  lab.say(`memory of a replica during ${count.toLocaleString('en')} changes`);
  const work = async (signal: AbortSignal): Promise<number> => {
    if (count > 0) return flood(parts.stack, { count, perSecond, signal });
    await sleep(lab.seconds(CONTROL_SECONDS) * 1000);
    return 0;
  };
  const { limitSeconds } = FLOOD;
  return measureMemory({ ...parts, searchesPerSecond: SEARCHES_PER_SECOND, work, limitSeconds });
}
