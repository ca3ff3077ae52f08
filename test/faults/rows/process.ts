import { until } from '../../../loadtest/stack/redis.ts';
import { createClient } from '../../../loadtest/traffic/client.ts';
import { type Bed, targetOf } from '../bed.ts';
import { HUNG_MS } from '../configuration.ts';
import { felt, stateOf } from '../felt.ts';
import type { Report } from '../report.ts';
import type { Row } from '../row.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The process that ran has ended, and another one runs. */
const replaced = felt(
  'process of the subject',
  (bed) => bed.subject.running()?.pid,
  (before, during) =>
    before !== undefined && during !== undefined && stateOf(before) === 'gone' && stateOf(during) === 'runs',
);

/** The service itself: told to leave, killed, its clock stepped, its memory full. */
export const PROCESS: readonly Row[] = [
  leaving(),
  {
    name: 'process-killed',
    says: 'a killed process comes back to a warm store',
    faultMs: 0,
    begin: async (bed) => {
      await ended(bed, 'SIGKILL');
      await bed.restartSubject();
    },
    felt: replaced,
    // Nobody listens until it is back.
    bounds: { brokenConnections: 1, unansweredDuring: 1, knownUnansweredDuring: 1, unansweredAfter: 0.02 },
  },
  {
    name: 'l1-full',
    says: 'a memory that is full lets go of what is asked least and never holds more than it may',
    faultMs: 5000,
    ...memoryFiller(),
    // What people ask twice stays: pages asked once pass through.
    bounds: { hitRatioDuring: 0.9 },
    check: async (_report, bed) => {
      const held = await bed.subject.metric('serpcache_tier_bytes', { tier: 'l1' });
      const most = await bed.subject.metric('serpcache_tier_max_bytes', { tier: 'l1' });
      if (most === 0) return { unmeasured: ['the bytes L1 holds'] };
      return held > most ? { broken: [`L1 holds ${held} bytes of ${most}`] } : {};
    },
  },
  // Only a wall clock can tell how old a page of another process is: stepped by its whole lifetime, it is too old.
  stepped(
    'clock-forward',
    'a wall clock stepped an hour ahead lapses nothing in memory, and the store at most',
    HOUR_MS,
    0.7,
  ),
  stepped('clock-back', 'a wall clock stepped an hour back lapses nothing', -HOUR_MS, 0.95),
];

/** A restart would end the subject as well, so the signal must have done it before. @throws when it has not. */
async function ended({ subject }: Bed, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const running = subject.running();
  if (running === undefined) throw new Error('the subject does not run');
  running.signal(signal);
  await until(`the subject to end by ${signal}`, async () => stateOf(running.pid) === 'gone', 10_000);
}

/** Asks for the largest pages there are, one after the other, and counts what it got. */
function memoryFiller(): Pick<Row, 'begin' | 'felt'> {
  let bytes = 0;
  return {
    begin: async (bed) => {
      const client = createClient({ baseUrl: bed.subject.url, boundMs: HUNG_MS, maxConnections: 4 });
      try {
        await Promise.all(
          [0, 1, 2, 3].map(async (lane) => {
            for (const text of bed.queries.repeated.filter((_, at) => at % 4 === lane)) {
              const reply = await client.get(`${targetOf(text)}&limit=100`);
              if (reply.kind === 'answer' && reply.status === 200) bytes += Buffer.byteLength(reply.body);
            }
          }),
        );
      } finally {
        client.close();
      }
    },
    felt: felt(
      'bytes of pages that passed through a memory of fewer bytes',
      async (bed) => ({ bytes, memory: await bed.subject.metric('serpcache_tier_max_bytes', { tier: 'l1' }) }),
      (before, during) => during.memory > 0 && during.bytes - before.bytes > during.memory,
    ),
  };
}

function stepped(name: string, says: string, byMs: number, hitRatioDuring: number): Row {
  return {
    name,
    says,
    begin: async (bed) => bed.subject.stepClock(byMs),
    end: async (bed) => bed.subject.stepClock(0),
    felt: felt(
      'ms the wall clock of the subject is ahead, as it tells it',
      (bed) => bed.subject.clockAheadMs(),
      (before, during) => Math.abs(before) < MINUTE_MS && Math.abs(during - byMs) < MINUTE_MS,
    ),
    bounds: { hitRatioDuring },
  };
}

/** Until the moment it is told, and what was sent by then: nobody is dropped. After that connections are refused. */
function leaving(): Row {
  let toldMs = 0;
  return {
    name: 'process-leaves',
    says: 'SIGTERM under load answers everything that was sent, then refuses connections until it is back',
    faultMs: 0,
    begin: async (bed: Bed) => {
      toldMs = performance.now();
      await ended(bed, 'SIGTERM');
      await bed.restartSubject();
    },
    felt: replaced,
    bounds: { brokenConnections: 1, unansweredDuring: 1, knownUnansweredDuring: 1, unansweredAfter: 0.02 },
    check: ({ samples, broken }: Report) => {
      const dropped = samples.filter(({ sentMs, verdict }) => sentMs < toldMs && verdict.kind === 'broken');
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
