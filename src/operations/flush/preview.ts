import { canonicalIn } from '../../cache/codec.ts';
import type { Entry } from '../../cache/entry.ts';
import type { MemoryTier } from '../../cache/memory.ts';
import type { BucketRange, FlushMode } from '../../control/document.ts';
import type { Clock } from '../../runtime.ts';
import type { Figures } from '../meter/figures.ts';
import { type StoreContent, StoreUnreachable } from './content.ts';
import type { Affected, FlushPreview, FlushRequest, PurgedPages, QueryPages, SurvivalEstimate } from './flush.ts';

interface PreviewOptions {
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
  { mode, fraction }: FlushRequest,
  ranges: readonly BucketRange[],
  { content, memory, bucketOf, recent, clock }: PreviewOptions,
): Promise<FlushPreview> {
  const untilMs = clock.monotonicMs() + PREVIEW_MS;
  const concerns = (key: string): boolean => includesBucket(ranges, bucketOf(key));
  const ofMemory = async (): Promise<FlushPreview['memory']> => {
    const sum = { entries: 0, bytes: 0 };
    await forEachInMemory(
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
async function previewNodes(
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
  const concerns = (name: string): boolean => includesBucket(ranges, bucketOf(keyOfStoreName(name)));
  return Promise.all(content.nodes().map((node) => previewNode(node, { content, clock, untilMs, concerns })));
}

type NodePreview = FlushPreview['nodes'][number];

interface NodePreviewOptions {
  readonly content: StoreContent;
  /** Whether a name would be flushed. */
  readonly concerns: (storeName: string) => boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** On the monotonic clock: what is known by then is told. */
  readonly untilMs: number;
}

/** On a node with at most so many keys all are looked at. */
const EXACT_KEYS = 20_000;
/** Else so many: of a tenth of the keys that gives their number within 8 % or so, 19 times of 20. */
const SAMPLE_KEYS = 5000;
const SCAN_COUNT = 1000;
const SIZED_NAMES = 300;

/** Counts what one node would lose. Never rejects: what the node did not say is in `detail`. */
async function previewNode(node: string, options: NodePreviewOptions): Promise<NodePreview> {
  const { content, concerns, clock, untilMs } = options;
  const found = new Set<string>();
  let total = 0;
  let scanned = 0;
  let exact = false;
  let meanBytes = 0;

  const look = async (): Promise<void> => {
    total = await content.count(node);
    const wanted = total <= EXACT_KEYS ? Number.POSITIVE_INFINITY : SAMPLE_KEYS;
    for (let cursor = '0'; scanned < wanted && isTime(); ) {
      const step = await content.scan(node, cursor, SCAN_COUNT);
      for (const name of step.names) if (concerns(name)) found.add(name);
      scanned += SCAN_COUNT;
      cursor = step.cursor;
      exact = cursor === '0';
      if (exact) break;
    }
    if (!isTime()) throw new StoreUnreachable(`${node} did not answer in time.`);
    const sized = evenly([...found], SIZED_NAMES);
    if (sized.length === 0) return;
    const bytes = await content.sizes(node, sized);
    meanBytes = bytes.reduce((sum, one) => sum + one, 0) / sized.length;
  };
  const isTime = (): boolean => clock.monotonicMs() < untilMs;

  const detail = await within(look(), untilMs - clock.monotonicMs(), `${node} did not answer in time.`);
  // SCAN names about as many keys a step as it is told to look at, others' included.
  const share = exact ? 1 : Math.max(1, total / Math.max(1, scanned));
  const keys = Math.round(found.size * share);
  return { node, keys, bytes: Math.round(keys * meanBytes), exact, ...(detail !== undefined && { detail }) };
}

/** Why it was not done, in words. @throws what is no StoreUnreachable */
async function within(work: Promise<void>, ms: number, late: string): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms), late);
  });
  const done = work.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof StoreUnreachable) return error.message;
      throw error;
    },
  );
  try {
    return await Promise.race([done, over]);
  } finally {
    clearTimeout(timer);
  }
}

function evenly(names: readonly string[], most: number): readonly string[] {
  const step = Math.max(1, names.length / most);
  return Array.from({ length: Math.min(names.length, most) }, (_, place) => names[Math.floor(place * step)] ?? '');
}

interface AffectedOptions extends Pick<PreviewOptions, 'content' | 'memory' | 'bucketOf' | 'clock'> {
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
  return countEntries(memory, (key) => includesBucket(ranges, bucketOf(key)));
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
  await forEachInMemory(
    memory,
    (key, entry) => {
      if (concerns(key, entry)) count += 1;
    },
    () => false,
  );
  return count;
}

/** Keys looked at in one turn of the event loop: about a quarter of a millisecond. */
const SLICE_KEYS = 256;

/** Every entry of L1, whatever its age, in slices between which whatever else is ready goes first. */
export async function forEachInMemory(
  memory: Pick<MemoryTier, 'keys' | 'peek'>,
  visit: (key: string, entry: Entry) => void,
  stopped: () => boolean,
): Promise<void> {
  let looked = 0;
  for (const key of memory.keys()) {
    looked += 1;
    if (looked % SLICE_KEYS === 0) await new Promise((resolve) => setImmediate(resolve));
    if (stopped()) return;
    const entry = memory.peek(key);
    if (entry !== undefined) visit(key, entry);
  }
}

const KEY_CHARACTERS = 22;

/** `sc1:<domain>:{<key>}` → the key. */
export function keyOfStoreName(storeName: string): string {
  return storeName.slice(-KEY_CHARACTERS - 1, -1);
}

export function includesBucket(ranges: readonly BucketRange[], bucket: number): boolean {
  return ranges.some(({ from, to }) => from <= bucket && bucket < to);
}

/**
 * Whether the engine would carry the loss of a share f of the keys. Keys are chosen by hash, so the hits lost are f of all
 * hits, and at worst each of them is an engine call until its entry is back: calls rise from e to e + f·h, which is
 * e·(1 + f·(A − 1)) with A = (e + h) ÷ e. The engine carries H·e, so f* = (H − 1)/(A − 1). Where every search that is no hit
 * costs one call, A is 1/(1 − hit ratio). Coalescing makes it less: measured in a model of a Zipf stream, 9.2 became 6.1.
 *
 * What the engine can do is its places ÷ the mean duration of a call: an idle engine may be faster than that, one whose
 * calls slow each other down is slower. So no more headroom is told than `MOST_HEADROOM`, and all three figures are bounds: H
 * and f* at least, A at most.
 */
export function estimateSurvival(figures: Figures | undefined, fraction: number): SurvivalEstimate {
  if (figures === undefined) return { seconds: 0, searches: 0, engineCallsPerSecond: 0 };
  const { seconds, searches, searchesPerSecond, hitRatio, engineCallMs, engineCallsPerSecond, engineMax } = figures;
  const hitsPerSecond = hitRatio === undefined ? undefined : hitRatio * searchesPerSecond;
  const capacity = engineCallMs === undefined ? undefined : (engineMax * 1000) / engineCallMs;
  // Of a handful of calls neither their rate nor their cost is known.
  const isTold = engineCallsPerSecond * seconds >= ENOUGH_CALLS;
  const measured = isTold ? quotient(capacity, engineCallsPerSecond) : undefined;
  const headroom = measured === undefined ? undefined : Math.min(MOST_HEADROOM, measured);
  const amplification =
    hitsPerSecond === undefined || !isTold
      ? undefined
      : quotient(engineCallsPerSecond + hitsPerSecond, engineCallsPerSecond);
  return {
    seconds,
    searches,
    engineCallsPerSecond,
    ...(hitRatio !== undefined && { hitRatio }),
    ...(engineCallMs !== undefined && { engineCallMs }),
    ...(hitsPerSecond !== undefined && { extraCallsPerSecond: fraction * hitsPerSecond }),
    ...(headroom !== undefined && { headroom }),
    ...(amplification !== undefined && { amplification }),
    ...(headroom !== undefined && amplification !== undefined && { survivable: survivable(headroom, amplification) }),
  };
}

/** With fewer, the rate of calls is known to no better than a half. */
export const ENOUGH_CALLS = 20;
/** How an engine does under twenty times its load cannot be seen. */
export const MOST_HEADROOM = 20;

/** f*, 0–1. Where nothing is served from the cache, all of it may be lost by an engine that is not overloaded already. */
export function survivable(headroom: number, amplification: number): number {
  if (headroom < 1) return 0;
  if (amplification <= 1) return 1;
  return Math.min(1, (headroom - 1) / (amplification - 1));
}

function quotient(part: number | undefined, whole: number): number | undefined {
  const result = part === undefined ? Number.NaN : part / whole;
  return Number.isFinite(result) ? result : undefined;
}
