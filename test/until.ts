import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The limit of every wait in a test: far above what a slow machine needs, and below the silence after which a run is
 * stopped (test/run.ts), so that a test that waits in vain names what it waited for.
 */
export const LIMIT_MS = 120_000;

/**
 * Polls until `holds` returns true, or until its assertions pass; an error counts as false.
 * @throws naming `what`; the cause is the last error of `holds`
 */
export async function until(
  what: string,
  holds: (() => boolean | Promise<boolean>) | (() => void | Promise<void>),
  intervalMs = 10,
): Promise<void> {
  const untilMs = performance.now() + LIMIT_MS;
  for (;;) {
    let cause: unknown;
    try {
      if ((await holds()) !== false) return;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > untilMs) throw new Error(`waited in vain for ${what}`, { cause });
    await sleep(intervalMs);
  }
}
