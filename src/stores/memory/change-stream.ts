import { type ChangeStream, READ_BATCHES, type StreamBatch } from '../../changes/feed.ts';
import type { Clock } from '../../runtime.ts';

interface Kept {
  readonly id: string;
  readonly number: number;
  readonly source: string;
  readonly bytes: Buffer;
}

/** The stream of changes of a process without a shared store. Its one reader takes each batch, so only the newest is kept. */
export function createMemoryChangeStream({ clock }: { readonly clock: Pick<Clock, 'wallMs'> }): ChangeStream {
  const streams = new Map<string, Kept[]>();
  const batchesOf = (domain: string): Kept[] => {
    const known = streams.get(domain) ?? [];
    streams.set(domain, known);
    return known;
  };
  const nextId = (before: string | undefined, afterMs: number): string => {
    const [ms = 0, sequence = 0] = (before ?? '').split('-').map(Number);
    const atMs = Math.max(Math.floor(clock.wallMs()), afterMs);
    if (atMs > ms) return `${atMs}-0`;
    return sequence < 1023 ? `${ms}-${sequence + 1}` : `${ms + 1}-0`;
  };
  return {
    append: async (domain, { bytes, afterMs, source }: StreamBatch) => {
      const batches = batchesOf(domain);
      const last = batches.at(-1);
      const place = last?.source ?? '';
      if (source !== undefined && source.expected !== place) return { kind: 'conflict' };
      const [id, number] = [nextId(last?.id, afterMs), (last?.number ?? 0) + 1];
      batches.push({ id, number, source: source?.next ?? place, bytes });
      return { kind: 'appended' };
    },
    read: async (domain, after) => {
      const batches = batchesOf(domain);
      const nowMs = Math.floor(clock.wallMs());
      const first = batches.findIndex(({ id }) => id === after) + 1;
      const found = batches.slice(first, first + READ_BATCHES);
      batches.splice(0, Math.min(first, batches.length - 1));
      return { kind: 'batches', nowMs, last: batches.at(-1), batches: found };
    },
  };
}
