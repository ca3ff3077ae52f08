import { setTimeout as sleep } from 'node:timers/promises';
import { timedFrom } from '../timed-from.ts';
import type { Connection } from './connection.ts';
import type { Tally } from './tally.ts';

export interface AtRateOptions {
  readonly ratePerSecond: number;
  readonly endMs: number;
  readonly connections: readonly Connection[];
  readonly send: (connection: Connection, dueMs: number, commands: number) => void;
  readonly tally: Tally;
  readonly nowMs: () => number;
  /** Between two looks at what is due: a millisecond unless said. */
  readonly pause?: () => Promise<unknown>;
}

/** Under way on one connection; what is due beyond is not sent. */
const MOST_WAITING = 5000;

/** Open loop: what is due is sent, on one connection after the other, and what was not answered makes nothing wait. */
export async function atRate(options: AtRateOptions): Promise<void> {
  const { ratePerSecond, endMs, connections, send, tally, nowMs, pause = () => sleep(1) } = options;
  const gapMs = 1000 / ratePerSecond;
  let [dueMs, at] = [nowMs(), 0];
  for (;;) {
    const now = nowMs();
    // What came due during a standstill across the end counts too.
    for (; dueMs <= now && dueMs < endMs; dueMs += gapMs) {
      const connection = connections[at % connections.length];
      at += 1;
      if (connection === undefined || connection.waiting() >= MOST_WAITING) tally.failed('unsent');
      else send(connection, timedFrom(dueMs, now), 1);
    }
    if (now >= endMs) return;
    await pause();
  }
}
