import { setTimeout as sleep } from 'node:timers/promises';
import { isConnected, openAdapter } from '../../../loadtest/labs/experiments/adapter.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { sampleGoods } from '../../../loadtest/stack/sphinx.ts';
import { encodeChange } from '../../../src/changes/record.ts';
import { until } from '../../until.ts';
import { allEffects, faultEffect, grew, stateOf } from '../fault-effects.ts';
import { calmBoundMs } from '../judge.ts';
import type { Harness, Row } from '../row.ts';

/** The stream of changes of the domain, in the control store. */
const STREAM = 'sc1:goods:{control:goods}:changes';
const DEADLINE_MS = 2000;
const AWAY_MS = 2000;
/** Shorter than a client waits. */
const STOPPED_MS = 1000;
const BATCHES_MISSED = 20;
/** 50,000 changes a second for ten seconds, in calls of 500; most documents change more than once. */
const FLOOD = { perSecond: 50_000, perBatch: 500, seconds: 10, documents: 100_000 };
/** On a busy machine the flood is thinner. */
const LEAST_FLOOD = 50_000;
const FLOOD_P99_RATIO = 1.5;

const FOLLOWING = {
  store: 'controlled',
  changes: { domain: { changes: { audit: 0 } } },
} as const;

/** Pages are computed again after a gap: those in memory, and those of the store. */
const AFTER_GAP = { searchesPerKey: 4, recoverySeconds: 30 };

const gapsOf = ({ subject }: Harness, reason: string): Promise<number> =>
  subject.metric('serpcache_changes_gaps_total', { reason });
const appliedOf = ({ subject }: Harness): Promise<number> => subject.metric('serpcache_changes_total');

function controlOf(harness: Harness): RedisNode {
  const { control } = harness.store();
  if (control === undefined) throw new Error('the store of this row has no control store');
  return control;
}

const [domain, documents] = [sampleGoods(0).domain, FLOOD.documents];

/** No document of the index, and words that no search has: pages stay right. */
const changesFrom = (first: number, count: number): Buffer =>
  Buffer.concat(
    Array.from({ length: count }, (_, at) => {
      const id = `unseen-${(first + at) % documents}`;
      const text = `zq${(first + at) % 977} zw${(first * 7 + at) % 3571} zx`;
      return encodeChange({ id, op: 'upsert', text, attributes: { price: at } }, domain);
    }),
  );

/** Adds batches to the stream as a process of the fleet does. @throws when the control store does not take one */
async function append(harness: Harness, batches: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
  const { host, port } = controlOf(harness);
  const store = openAdapter({ target: { host, port }, deadlineMs: DEADLINE_MS });
  try {
    for (const untilMs = performance.now() + DEADLINE_MS; !isConnected(store) && performance.now() < untilMs; )
      await sleep(10);
    for await (const bytes of batches) {
      const added = await store.changes.append('goods', { bytes, afterMs: 0 }, DEADLINE_MS);
      if (added.kind !== 'appended') throw new Error(`the stream did not take a batch: ${JSON.stringify(added)}`);
    }
  } finally {
    await store.close();
  }
}

/** A change comes through the feed. @throws when it does not */
async function follows(harness: Harness): Promise<void> {
  const before = await appliedOf(harness);
  await until('a change to be taken', () =>
    append(harness, [changesFrom(0, 1)]).then(
      () => true,
      () => false,
    ),
  );
  await until('a change to be in force', async () => (await appliedOf(harness)) > before);
}

/** The process still follows, and these gaps were counted. */
async function checkFeed(harness: Harness, reasons: readonly string[]) {
  const counts = await Promise.all(reasons.map((reason) => gapsOf(harness, reason)));
  const uncounted = reasons.filter((_, at) => counts[at] === 0);
  const isLatched = await follows(harness).then(
    () => false,
    () => true,
  );
  const unknown = await harness.subject.metric('serpcache_pages_changed_total', { reason: 'unknown' });
  return {
    broken: [
      ...(uncounted.length > 0 ? [`no gap was counted as ${uncounted.join(', ')}`] : []),
      ...(unknown === 0 ? ['no page older than the gap counted as changed'] : []),
      ...(isLatched ? ['the feed does not go on afterwards'] : []),
    ],
  };
}

/** Faults of the feed of changes: its store, its stream, and its rate. */
export const CHANGES: readonly Row[] = [
  {
    ...FOLLOWING,
    name: 'changes-store-killed',
    summary:
      'while the control store is gone pages are answered; one that is back with its stream costs nothing, and one that is back without it makes older pages stale',
    faultMs: 4 * AWAY_MS,
    begin: async (harness) => {
      const control = controlOf(harness);
      await follows(harness);
      await control.kill();
      await sleep(AWAY_MS);
      await control.restart();
      await follows(harness);
      if ((await gapsOf(harness, 'replaced')) + (await gapsOf(harness, 'trimmed')) > 0)
        throw new Error('a stream that was kept counts as lost');
      await control.command('FLUSHALL');
      await control.kill();
      await sleep(AWAY_MS);
    },
    end: (harness) => controlOf(harness).restart(),
    effect: faultEffect(
      'state of the control store',
      (harness) => stateOf(controlOf(harness).pid()),
      (before, during) => before === 'runs' && during === 'gone',
    ),
    check: (_report, harness) => checkFeed(harness, ['replaced']),
    bounds: AFTER_GAP,
  },
  {
    ...FOLLOWING,
    name: 'changes-gap',
    summary:
      'a stream that is deleted, or trimmed while a process stands still, makes older pages stale and no wrong page',
    faultMs: 5000,
    begin: async (harness) => {
      const control = controlOf(harness);
      await follows(harness);
      await control.command('DEL', STREAM);
      await follows(harness);
      const running = harness.subject.running();
      await running?.pause();
      try {
        const stopped = sleep(STOPPED_MS);
        await append(
          harness,
          Array.from({ length: BATCHES_MISSED }, (_, at) => changesFrom(at, 1)),
        );
        await control.command('XTRIM', STREAM, 'MAXLEN', 2);
        await stopped;
      } finally {
        running?.signal('SIGCONT');
      }
    },
    effect: allEffects(
      grew('cmdstat_del and cmdstat_xtrim', async (harness) => {
        const stats = String(await controlOf(harness).command('INFO', 'commandstats'));
        return ['del', 'xtrim'].map((name) =>
          Number(new RegExp(`^cmdstat_${name}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0),
        );
      }),
      grew('gaps', async (harness) => [await gapsOf(harness, 'replaced'), await gapsOf(harness, 'trimmed')]),
    ),
    check: (_report, harness) => checkFeed(harness, ['replaced', 'trimmed']),
    bounds: AFTER_GAP,
  },
  {
    ...FOLLOWING,
    name: 'changes-flood',
    summary: '50,000 changes a second delay no search by half, fill no memory, and leave nothing behind',
    faultMs: FLOOD.seconds * 1000,
    begin: async (harness) => {
      const batches = Array.from({ length: documents / FLOOD.perBatch }, (_, at) =>
        changesFrom(at * FLOOD.perBatch, FLOOD.perBatch),
      );
      const startedMs = performance.now();
      const stopMs = startedMs + FLOOD.seconds * 1000;
      async function* flood(): AsyncGenerator<Buffer> {
        for (let sent = 0; performance.now() < stopMs; sent += 1) {
          const dueMs = startedMs + (sent * FLOOD.perBatch * 1000) / FLOOD.perSecond;
          await sleep(Math.max(0, dueMs - performance.now()));
          yield batches[sent % batches.length] ?? Buffer.alloc(0);
        }
      }
      await append(harness, flood());
    },
    effect: faultEffect('changes in force', appliedOf, (before, during) => during - before >= LEAST_FLOOD),
    check: async ({ subject, control }, harness) => {
      const bound = calmBoundMs(subject.before.p99Ms, control.fault.p99Ms, FLOOD_P99_RATIO);
      const isSlow = subject.fault.p99Ms > bound;
      const slow = `p99 during the flood: ${Math.round(subject.fault.p99Ms)} ms, at most ${Math.round(bound)} ms`;
      const isLatched = await follows(harness).then(
        () => false,
        () => true,
      );
      return { broken: [...(isSlow ? [slow] : []), ...(isLatched ? ['the feed does not go on afterwards'] : [])] };
    },
    bounds: { searchesPerKey: 4 },
  },
];
