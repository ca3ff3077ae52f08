import { setTimeout as sleep } from 'node:timers/promises';

/** Looks at something again and again while `work` runs. @returns the most that was seen; a look that fails is left out. */
export async function peakDuring<T>(
  work: () => Promise<T>,
  look: () => Promise<number>,
  everyMs: number,
): Promise<{ readonly result: T; readonly peak: number | undefined }> {
  const stop = new AbortController();
  let peak: number | undefined;
  const looking = (async (): Promise<void> => {
    while (!stop.signal.aborted) {
      // A store that is full may not answer in time, and it is being measured: it is asked again later.
      const seen = await look().catch(() => undefined);
      if (seen !== undefined && !stop.signal.aborted) peak = Math.max(peak ?? 0, seen);
      await sleep(everyMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  try {
    const result = await work();
    return { result, peak };
  } finally {
    stop.abort();
    await looking;
  }
}
