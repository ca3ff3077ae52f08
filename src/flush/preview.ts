import type { MemoryTier } from '../cache/memory.ts';
import type { Clock } from '../clock.ts';
import type { BucketRange } from '../control/document.ts';
import type { Figures } from '../meter/reading.ts';
import type { StoreContent } from './content.ts';
import type { FlushAsk, FlushPreview } from './flush.ts';
import { type NodePreview, previewNode } from './preview-node.ts';
import { holdsBucket } from './ranges.ts';
import { keyIn } from './stored-name.ts';
import { estimateSurvival } from './survival.ts';
import { walkMemory } from './walk-memory.ts';

export interface PreviewOptions {
  readonly content?: StoreContent;
  readonly memory: Pick<MemoryTier, 'keys' | 'peek'>;
  readonly bucketOf: (key: string) => number;
  readonly recent: () => Figures | undefined;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** An operator waits for it, and drills look at the cost of each stage before they start. */
const PREVIEW_MS = 3000;

/** What a flush of these ranges would take away, and what the engine would get. All nodes are asked side by side. */
export async function previewFlush(
  { mode, fraction }: FlushAsk,
  ranges: readonly BucketRange[],
  { content, memory, bucketOf, recent, clock }: PreviewOptions,
): Promise<FlushPreview> {
  const untilMs = clock.monotonicMs() + PREVIEW_MS;
  const concerns = (key: string): boolean => holdsBucket(ranges, bucketOf(key));
  const ofMemory = async (): Promise<FlushPreview['memory']> => {
    const sum = { entries: 0, bytes: 0 };
    await walkMemory(
      memory,
      (key, entry) => {
        if (!concerns(key)) return;
        sum.entries += 1;
        sum.bytes += entry.encoded.length;
      },
      () => clock.monotonicMs() >= untilMs,
    );
    return sum;
  };
  const [nodes, held] = await Promise.all([previewNodes(ranges, { content, bucketOf, clock, untilMs }), ofMemory()]);
  return { mode, fraction, ranges, nodes, memory: held, engine: estimateSurvival(recent(), fraction) };
}

/** The keys of the ranges on each node of the store, as far as they are known by `untilMs`. Empty without a store. */
export async function previewNodes(
  ranges: readonly BucketRange[],
  {
    content,
    bucketOf,
    clock,
    untilMs,
  }: Pick<PreviewOptions, 'bucketOf' | 'clock'> & {
    readonly content?: StoreContent | undefined;
    /** On the monotonic clock. */
    readonly untilMs: number;
  },
): Promise<readonly NodePreview[]> {
  if (content === undefined) return [];
  const concerns = (name: string): boolean => holdsBucket(ranges, bucketOf(keyIn(name)));
  return Promise.all(content.nodes().map((node) => previewNode(node, { content, clock, untilMs, concerns })));
}
