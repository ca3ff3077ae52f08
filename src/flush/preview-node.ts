import type { Clock } from '../clock.ts';
import { type StoreContent, StoreUnreachable } from './content.ts';
import type { FlushPreview } from './flush.ts';

export type NodePreview = FlushPreview['nodes'][number];

export interface NodePreviewOptions {
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
export async function previewNode(node: string, options: NodePreviewOptions): Promise<NodePreview> {
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
