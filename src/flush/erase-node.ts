import type { Clock } from '../clock.ts';
import { type StoreContent, StoreUnreachable } from './content.ts';
import { pause } from './pause.ts';

export interface EraseNodeOptions {
  readonly content: StoreContent;
  readonly doomed: (storeName: string) => boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Removed a second. */
  readonly keysPerSecond: number;
}

/** Names of this domain that were looked at, and those that were removed. */
export interface EraseProgress {
  scanned: number;
  removed: number;
}

/** At most so many in one step, so that people's reads find their way in between. */
const STEP_KEYS = 500;
/** SCAN may name more than it was asked for. */
const MAX_UNLINK = 512;
/** Looking costs a tenth of removing, or less: a small fraction of a large store does not take hours. */
const SCANNED_PER_REMOVED = 10;
/** A node that fails now and then is asked again after 0.5, 1, 2, 4 s. */
const MAX_FAILURES = 5;
const FIRST_WAIT_MS = 500;

/**
 * SCAN and UNLINK, step by step, paced from the start of each step. Ends early when the signal says so.
 * @throws StoreUnreachable when the node fails too often
 */
export async function unlinkOnNode(
  node: string,
  progress: EraseProgress,
  { content, doomed, clock, keysPerSecond }: EraseNodeOptions,
  signal: AbortSignal,
): Promise<void> {
  const stepKeys = Math.max(1, Math.min(STEP_KEYS, Math.floor(keysPerSecond / 4)));
  const step = async (cursor: string): Promise<string> => {
    const beganMs = clock.monotonicMs();
    const { cursor: next, names } = await content.scan(node, cursor, stepKeys);
    progress.scanned += names.length;
    const going = names.filter(doomed);
    for (let at = 0; at < going.length && !signal.aborted; at += MAX_UNLINK) {
      progress.removed += await content.unlink(node, going.slice(at, at + MAX_UNLINK));
    }
    const cost = Math.max(going.length, stepKeys / SCANNED_PER_REMOVED);
    await pause((cost * 1000) / keysPerSecond - (clock.monotonicMs() - beganMs), signal);
    return next;
  };

  let failures = 0;
  for (let cursor = '0'; !signal.aborted; ) {
    try {
      cursor = await step(cursor);
      if (cursor === '0') return;
    } catch (error) {
      failures += 1;
      if (!(error instanceof StoreUnreachable) || failures === MAX_FAILURES) throw error;
      // Perhaps it was started anew, and a cursor means nothing to another table: from the beginning.
      cursor = '0';
      await pause(FIRST_WAIT_MS * 2 ** (failures - 1), signal);
    }
  }
}
