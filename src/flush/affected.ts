import { canonicalIn } from '../cache/codec.ts';
import type { Entry } from '../cache/entry.ts';
import type { BucketRange, FlushMode } from '../control/document.ts';
import type { Affected, PurgedPages, QueryPages } from './flush.ts';
import { type PreviewOptions, previewNodes } from './preview.ts';
import { holdsBucket } from './ranges.ts';
import { walkMemory } from './walk-memory.ts';

export interface AffectedOptions extends Pick<PreviewOptions, 'content' | 'memory' | 'bucketOf' | 'clock'> {
  /** Whether the store holds a name; undefined when it cannot be told. Absent: the domain has no store. */
  readonly holds?: (storeName: string) => Promise<boolean | undefined>;
}

/** An operator waits for the answer; a node that is not counted by then is reported as not counted. */
const COUNT_MS = 1000;

/** Pages in the memory of this process that a flush of these ranges takes away. Asked before the floor rises. */
export function countInMemory(
  ranges: readonly BucketRange[],
  { memory, bucketOf }: AffectedOptions,
): Promise<Affected['memory']> {
  return countEntries(memory, (key) => holdsBucket(ranges, bucketOf(key)));
}

/** Pages in the store, as a preview counts them. An erasure counts what it removes itself. */
export async function countInStore(
  mode: FlushMode,
  ranges: readonly BucketRange[],
  options: AffectedOptions,
): Promise<Affected['store']> {
  const { content, clock } = options;
  if (content === undefined) return 'no-store';
  if (mode === 'erase') return 'not-counted';
  const nodes = await previewNodes(ranges, { ...options, untilMs: clock.monotonicMs() + COUNT_MS });
  if (nodes.some(({ detail }) => detail !== undefined)) return 'not-counted';
  return { pages: nodes.reduce((sum, { keys }) => sum + keys, 0), exact: nodes.every(({ exact }) => exact) };
}

/**
 * Pages of one query. Names in a store are hashes, so its pages can be counted only by reading all of them; the first
 * page, without filters, is looked up.
 * @param purgedBelow of this query: pages of a lower generation are misses already, memory holds them all the same
 */
export async function countPurged(
  query: QueryPages,
  purgedBelow: number,
  { memory, holds }: AffectedOptions,
): Promise<PurgedPages> {
  const isOfQuery = (_key: string, entry: Entry): boolean => {
    if (entry.generation < purgedBelow) return false;
    const canonical = canonicalIn(entry);
    return canonical === query.canonicalStart || canonical.startsWith(`${query.canonicalStart}&`);
  };
  const [inMemory, held] = await Promise.all([countEntries(memory, isOfQuery), holds?.(query.firstStoreName)]);
  if (holds === undefined) return { memory: inMemory, firstInStore: 'no-store' };
  return { memory: inMemory, firstInStore: held === undefined ? 'unknown' : held ? 'held' : 'absent' };
}

async function countEntries(
  memory: AffectedOptions['memory'],
  concerns: (key: string, entry: Entry) => boolean,
): Promise<number> {
  let count = 0;
  await walkMemory(
    memory,
    (key, entry) => {
      if (concerns(key, entry)) count += 1;
    },
    () => false,
  );
  return count;
}
