import type { ChangeStream } from '../../src/changes/feed.ts';
import { READ_BATCHES, type StreamBatch, type StreamRead } from '../../src/changes/feed.ts';
import type { Clock } from '../../src/runtime.ts';

type Kept = Extract<StreamRead, { kind: 'batches' }>['batches'][number] & { readonly source: string };

export interface FakeChangeStream extends ChangeStream {
  /** From now on every call answers with this fault; undefined: none. */
  readonly fail: (fault?: 'store-down' | 'store-slow' | 'refused') => void;
  /** From now on this holds up the end of each read. */
  readonly hold: (until: () => Promise<void>) => void;
  /** Drops the oldest batches but a number of them. */
  readonly trim: (kept: number) => void;
  /** Deletes the stream. */
  readonly lose: () => void;
  /** Adds a batch without the number that it should have. */
  readonly plant: (bytes: Buffer) => void;
  readonly held: () => readonly Kept[];
  readonly reads: () => number;
  readonly appends: () => number;
}

/** The stream of one domain for any number of processes, by the clock of its server. */
export function createFakeChangeStream(clock: Pick<Clock, 'wallMs'>): FakeChangeStream {
  const streams = new Map<string, Kept[]>();
  let newest = 'goods';
  let fault: 'store-down' | 'store-slow' | 'refused' | undefined;
  let holding = async (): Promise<void> => {};
  let [reads, appends] = [0, 0];
  const of = (domain: string): Kept[] => {
    newest = domain;
    const known = streams.get(domain) ?? [];
    streams.set(domain, known);
    return known;
  };
  const add = (batches: Kept[], { bytes, afterMs, source }: StreamBatch): void => {
    const last = batches.at(-1);
    const [ms = 0, sequence = 0] = (last?.id ?? '0-0').split('-').map(Number);
    const atMs = Math.max(Math.floor(clock.wallMs()), afterMs);
    const id = atMs > ms ? `${atMs}-0` : sequence < 1023 ? `${ms}-${sequence + 1}` : `${ms + 1}-0`;
    batches.push({ id, number: (last?.number ?? 0) + 1, bytes, source: source?.next ?? last?.source ?? '' });
  };
  return {
    append: async (domain, batch) => {
      appends += 1;
      if (fault !== undefined) return { kind: 'fault', fault };
      const batches = of(domain);
      if (batch.source !== undefined && batch.source.expected !== (batches.at(-1)?.source ?? ''))
        return { kind: 'conflict' };
      add(batches, batch);
      return { kind: 'appended' };
    },
    read: async (domain, after) => {
      reads += 1;
      const batches = of(domain);
      const found = batches
        .filter(({ id }) => after === undefined || orderOf(id) > orderOf(after))
        .slice(0, READ_BATCHES);
      const answer: StreamRead = {
        kind: 'batches',
        nowMs: Math.floor(clock.wallMs()),
        last: batches.at(-1),
        batches: found,
      };
      await holding();
      return fault === undefined ? answer : { kind: 'fault', fault };
    },
    fail: (next) => {
      fault = next;
    },
    hold: (until) => {
      holding = until;
    },
    trim: (kept) => {
      const batches = of(newest);
      batches.splice(0, batches.length - kept);
    },
    lose: () => streams.clear(),
    plant: (bytes) => add(of(newest), { bytes, afterMs: 0 }),
    held: () => of(newest),
    reads: () => reads,
    appends: () => appends,
  };
}

function orderOf(id: string): number {
  const [ms = 0, sequence = 0] = id.split('-').map(Number);
  return ms * 1024 + sequence;
}
