import { setTimeout as sleep } from 'node:timers/promises';

/** @throws the signal's reason, at once when it aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}
