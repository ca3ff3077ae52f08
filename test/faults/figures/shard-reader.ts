/**
 * A process that reads from all shards of a cluster in an open loop, until its parent leaves. It notes what becomes of
 * its reads between `begin` and `end`.
 */

import { startStream } from '../../../loadtest/traffic/stream.ts';
import { createRandom } from '../../../src/catalogue/demo/ad.ts';
import type { HostPort } from '../../../src/config/fields.ts';
import { systemClock } from '../../../src/runtime.ts';
import { createClosingClient, createStoreClient, DEADLINE_MS, type ShardClient } from './shard-clients.ts';

/** The first message to the process; then `begin` and `end` in turn. Each is answered, `end` by what was noted. */
export interface ReaderTask {
  readonly client: 'store' | 'closing';
  /** Whose store. */
  readonly checkout: string;
  readonly nodes: readonly HostPort[];
  /** By shard, in the order of `nodes`. */
  readonly names: readonly (readonly string[])[];
  readonly ratePerSecond: number;
  readonly seed: number;
}

export interface ShardReads {
  /** From asking to the value, or to giving up. */
  readonly durationsMs: number[];
  values: number;
  slow: number;
  refused: number;
  /** Settled later than the deadline and what a timer may be late. */
  overdue: number;
}

const TIMER_MS = 20;

async function start(task: ReaderTask): Promise<(message: unknown) => void> {
  const { client, nodes, names, ratePerSecond, seed } = task;
  const reader: ShardClient =
    client === 'store' ? await createStoreClient(nodes, task.checkout) : createClosingClient(nodes);
  const { next: random } = createRandom(seed);
  const nothing = (): ShardReads[] =>
    nodes.map(() => ({ durationsMs: [], values: 0, slow: 0, refused: 0, overdue: 0 }));
  let noted = nothing();
  const read = async (): Promise<void> => {
    const into = noted;
    const shard = Math.floor(random() * nodes.length);
    const own = names[shard] ?? [];
    const sentMs = systemClock.monotonicMs();
    const result = await reader.read(own[Math.floor(random() * own.length)] ?? '', shard);
    const durationMs = systemClock.monotonicMs() - sentMs;
    const reads = into[shard];
    if (reads === undefined) return;
    reads.durationsMs.push(durationMs);
    reads[result === 'value' ? 'values' : result] += 1;
    if (durationMs > DEADLINE_MS + TIMER_MS) reads.overdue += 1;
  };
  startStream({ ratePerSecond, random, clock: systemClock, arrive: () => void read() });
  return (message) => {
    if (message === 'end') process.send?.(noted);
    noted = nothing();
    if (message === 'begin') process.send?.('begun');
  };
}

process.once('message', async (task) => {
  process.on('message', await start(task as ReaderTask));
  process.send?.('started');
});
process.on('disconnect', () => process.exit());
