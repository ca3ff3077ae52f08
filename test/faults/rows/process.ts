import { createClient } from '../../../loadtest/http-driver/client.ts';
import { closedLoop } from '../../../loadtest/http-driver/loops.ts';
import { until } from '../../until.ts';
import { HUNG_MS } from '../configuration.ts';
import { faultEffect, stateOf } from '../fault-effects.ts';
import { searchPath } from '../harness.ts';
import type { Report } from '../report.ts';
import type { Harness, Row } from '../row.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The previous process has ended and another one runs. */
const replaced = faultEffect(
  'process of the subject',
  (harness) => harness.subject.running()?.pid,
  (before, during) =>
    before !== undefined && during !== undefined && stateOf(before) === 'gone' && stateOf(during) === 'runs',
);

/** The service itself is terminated, killed, has its clock stepped or its memory filled. */
export const PROCESS: readonly Row[] = [
  gracefulStop(),
  {
    name: 'process-killed',
    summary: 'a killed process comes back to a warm store',
    faultMs: 0,
    begin: async (harness) => {
      await endBy(harness, 'SIGKILL');
      await harness.restartSubject();
    },
    effect: replaced,
    // No process listens until the restart.
    bounds: { brokenConnections: 1, unansweredDuring: 1, knownUnansweredDuring: 1, unansweredAfter: 0.02 },
  },
  {
    name: 'l1-full',
    summary: 'a full memory evicts what is requested least and never exceeds its limit',
    faultMs: 5000,
    ...memoryFiller(),
    // Pages that are requested again stay; pages requested once are evicted.
    bounds: { hitRatioDuring: 0.9 },
    check: async (_report, harness) => {
      const held = await harness.subject.metric('serpcache_tier_bytes', { tier: 'l1' });
      const limit = await harness.subject.metric('serpcache_tier_max_bytes', { tier: 'l1' });
      if (limit === 0) return { unmeasured: ['the bytes L1 holds'] };
      return held > limit ? { broken: [`L1 holds ${held} bytes of ${limit}`] } : {};
    },
  },
  // The age of another process's page is measured by the wall clock: after a step of its whole lifetime it is expired.
  stepped(
    'clock-forward',
    'a wall clock stepped an hour ahead expires nothing in memory; at most it expires entries of the store',
    HOUR_MS,
    0.7,
  ),
  stepped('clock-back', 'a wall clock stepped an hour back expires nothing', -HOUR_MS, 0.95),
];

/** Sends the signal and waits for the end, because the following restart would also end the process. @throws after 10 s. */
async function endBy({ subject }: Harness, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const running = subject.running();
  if (running === undefined) throw new Error('the subject does not run');
  running.signal(signal);
  await until(`the subject to end by ${signal}`, async () => stateOf(running.pid) === 'gone');
}

/** Requests the largest possible pages and counts their bytes. */
function memoryFiller(): Pick<Row, 'begin' | 'effect'> {
  let bytes = 0;
  return {
    begin: async (harness) => {
      const client = createClient({ baseUrl: harness.subject.url, patienceMs: HUNG_MS, maxConnections: 4 });
      try {
        await closedLoop(harness.queries.repeated, 4, async (text) => {
          const reply = await client.get(`${searchPath(text)}&limit=100`);
          if (reply.kind === 'answer' && reply.status === 200) bytes += reply.bytes;
        });
      } finally {
        client.close();
      }
    },
    effect: faultEffect(
      'bytes of pages that passed through a memory of fewer bytes',
      async (harness) => ({ bytes, memory: await harness.subject.metric('serpcache_tier_max_bytes', { tier: 'l1' }) }),
      (before, during) => during.memory > 0 && during.bytes - before.bytes > during.memory,
    ),
  };
}

function stepped(name: string, says: string, byMs: number, hitRatioDuring: number): Row {
  return {
    name,
    summary: says,
    begin: async (harness) => harness.subject.stepClock(byMs),
    end: async (harness) => harness.subject.stepClock(0),
    effect: faultEffect(
      'ms the wall clock of the subject is ahead, as it tells it',
      (harness) => harness.subject.clockAheadMs(),
      (before, during) => Math.abs(before) < MINUTE_MS && Math.abs(during - byMs) < MINUTE_MS,
    ),
    bounds: { hitRatioDuring },
  };
}

/** Requests that were sent before SIGTERM are answered. After it, connections are refused. */
function gracefulStop(): Row {
  let signalledMs = 0;
  return {
    name: 'process-leaves',
    summary:
      'after SIGTERM under load everything that was sent is answered; then connections are refused until the restart',
    faultMs: 0,
    begin: async (harness: Harness) => {
      signalledMs = performance.now();
      await endBy(harness, 'SIGTERM');
      await harness.restartSubject();
    },
    effect: replaced,
    bounds: { brokenConnections: 1, unansweredDuring: 1, knownUnansweredDuring: 1, unansweredAfter: 0.02 },
    check: ({ samples, brokenConnections: broken }: Report) => {
      const dropped = samples.filter(({ sentMs, verdict }) => sentMs < signalledMs && verdict.kind === 'broken');
      const cut = broken.filter((why) => why !== 'ECONNREFUSED');
      return {
        broken: [
          ...(dropped.length > 0 ? [`${dropped.length} requests sent before SIGTERM got no answer`] : []),
          ...(cut.length > 0 ? [`${cut.length} accepted requests were dropped while it left: ${cut[0]}`] : []),
        ],
      };
    },
  };
}
