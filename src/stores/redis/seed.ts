import type { SeedItem, SeedResult } from '../../cache/store.ts';
import type { RedisNode } from './node.ts';
import { perNode } from './per-node.ts';
import { classify } from './reply-error.ts';

export interface SeedOptions {
  readonly items: readonly SeedItem[];
  /** Entries per pipeline. */
  readonly batchSize: number;
  readonly ownerOf: (name: string) => RedisNode | undefined;
}

const STORED: SeedResult = { kind: 'stored' };
const KEPT: SeedResult = { kind: 'kept' };
const DOWN: SeedResult = { kind: 'dropped', fault: 'store-down' };
const REFUSED: SeedResult = { kind: 'dropped', fault: 'refused' };

/** One pipeline stays short on the wire, so that reads behind it wait for a megabyte and not for a hundred entries of one. */
const MAX_CHUNK_BYTES = 1024 * 1024;

/** SET … NX PX in pipelines per node. Like a write its end is the connection's; each reply stands for itself. */
export function seedBatches({ items, batchSize, ownerOf }: SeedOptions): Promise<readonly SeedResult[]> {
  return perNode<SeedItem, SeedResult>({
    items,
    nameOf: ({ name }) => name,
    ownerOf,
    unowned: DOWN,
    take(node, all, first) {
      const most = Math.min(batchSize, node.bulkRoom() || batchSize, all.length - first);
      let size = 0;
      for (let bytes = 0; size < most; size += 1) {
        bytes += all[first + size]?.value.byteLength ?? 0;
        if (bytes > MAX_CHUNK_BYTES) break;
      }
      return Math.max(1, size);
    },
    send: seedChunk,
  });
}

/** One pipeline on one node: one event and one booking for the whole of it. */
async function seedChunk(node: RedisNode, chunk: readonly SeedItem[]): Promise<readonly SeedResult[]> {
  const size = chunk.length;
  const bytes = chunk.reduce((sum, { value }) => sum + value.byteLength, 0);
  const startedMs = node.clock.monotonicMs();
  const report = (failed: number): void => {
    const durationMs = node.clock.monotonicMs() - startedMs;
    node.observe({ kind: 'pipeline', type: 'write', node: node.address, size, failed, durationMs });
  };
  const pass = node.bulkRoom() === 0 ? 'store-saturated' : node.admitWrite(bytes);
  if (typeof pass === 'string') {
    report(size);
    return chunk.map(() => ({ kind: 'dropped', fault: pass }));
  }
  node.count(size, bytes);
  const pipeline = node.redis.pipeline();
  for (const { name, value, ttlMs } of chunk) pipeline.set(name, value, 'PX', Math.max(1, Math.ceil(ttlMs)), 'NX');
  const replies = await pipeline.exec().catch(() => null);
  node.count(-size, -bytes);
  const results = chunk.map((_, index) => resultOf(node, replies?.[index]));
  node.book(pass, results.every((result) => result === DOWN) ? 'failed' : 'answered');
  report(results.filter(({ kind }) => kind === 'dropped').length);
  return results;
}

function resultOf(node: RedisNode, reply: readonly [error: Error | null, value: unknown] | undefined): SeedResult {
  if (reply === undefined) return DOWN;
  const [error, value] = reply;
  if (error === null) return value === null ? KEPT : STORED;
  const failure = classify(error);
  if (failure.kind === 'down') {
    node.remap('a seed failed');
    return DOWN;
  }
  if (failure.kind === 'redirect' ? !failure.ask : failure.remap) node.remap('a seed was refused');
  return REFUSED;
}
