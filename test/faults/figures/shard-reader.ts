/**
 * A process that reads from all shards of a cluster in an open loop, until its parent leaves. It notes what becomes of
 * its reads between `begin` and `end`.
 */
import { seededRandom } from '../../../src/catalogue/demo/random.ts';
import { systemClock } from '../../../src/clock.ts';
import type { HostPort } from '../../../src/config/settings.ts';
import { startStream } from '../stream.ts';
import { createClosingClient, createStoreClient, DEADLINE_MS, type ShardClient } from './shard-clients.ts';

/** The first message to the process; then `begin` and `end` in turn. Each is answered, `end` by what was noted. */
export interface ReaderTask {
  readonly client: 'store' | 'closing';
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

function begin({ client, nodes, names, ratePerSecond, seed }: ReaderTask): (message: unknown) => void {
  const reader: ShardClient = client === 'store' ? createStoreClient(nodes) : createClosingClient(nodes);
  const { next: random } = seededRandom(seed);
  const nothing = (): ShardReads[] => nodes.map(() => ({ durationsMs: [], values: 0, slow: 0, refused: 0, overdue: 0 }));
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

let onMessage: ((message: unknown) => void) | undefined;
process.on('message', (message) => {
  if (onMessage === undefined) {
    onMessage = begin(message as ReaderTask);
    process.send?.('started');
  } else onMessage(message);
});
process.on('disconnect', () => process.exit());
