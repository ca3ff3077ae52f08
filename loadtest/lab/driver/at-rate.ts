import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { Tally } from './tally.ts';

export interface AtRateOptions {
  readonly ratePerSecond: number;
  readonly endMs: number;
  readonly connections: readonly Connection[];
  readonly send: (connection: Connection, dueMs: number, commands: number) => void;
  readonly tally: Tally;
}

/** Under way on one connection; what is due beyond is not sent. */
const MOST_WAITING = 5000;
/** How late a timer of one millisecond may be: below it, waiting for the timer is no latency of the store. */
const TIMER_MS = 2.5;

/** Open loop: what is due is sent, on one connection after the other, and what was not answered makes nothing wait. */
export async function atRate({ ratePerSecond, endMs, connections, send, tally }: AtRateOptions): Promise<void> {
  const gapMs = 1000 / ratePerSecond;
  let [dueMs, at] = [performance.now(), 0];
  while (performance.now() < endMs) {
    for (const now = performance.now(); dueMs <= now; dueMs += gapMs) {
      const connection = connections[at % connections.length];
      at += 1;
      if (connection === undefined || connection.waiting() >= MOST_WAITING) tally.failed('unsent');
      else send(connection, now - dueMs < TIMER_MS ? now : dueMs, 1);
    }
    await sleep(1);
  }
}
