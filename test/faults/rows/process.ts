import { createClient } from '../../../loadtest/traffic/client.ts';
import { type Bed, targetOf } from '../bed.ts';
import { HUNG_MS } from '../configuration.ts';
import type { Report } from '../report.ts';
import type { Row } from '../row.ts';

const HOUR_MS = 3_600_000;

/** The service itself: told to leave, killed, its clock stepped, its memory full. */
export const PROCESS: readonly Row[] = [
  leaving(),
  {
    name: 'process-killed',
    says: 'a killed process comes back to a warm store',
    faultMs: 0,
    begin: async (bed) => {
      bed.subject.running()?.signal('SIGKILL');
      await bed.restartSubject();
    },
    // Nobody listens until it is back.
    bounds: { brokenConnections: 1, unansweredDuring: 1, knownUnansweredDuring: 1, unansweredAfter: 0.02 },
  },
  {
    name: 'l1-full',
    says: 'a memory that is full lets go of what is asked least and never holds more than it may',
    faultMs: 5000,
    begin: fillMemory,
    felt: async (_report, bed) => (await bed.subject.metric('serpcache_tier_evictions_total', { tier: 'l1' })) > 300,
    // What people ask twice stays: pages asked once pass through.
    bounds: { hitRatioDuring: 0.9 },
    check: async (_report, bed) => {
      const held = await bed.subject.metric('serpcache_tier_bytes', { tier: 'l1' });
      const most = await bed.subject.metric('serpcache_tier_max_bytes', { tier: 'l1' });
      return held > most ? [`L1 holds ${held} bytes of ${most}`] : [];
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

/** The largest pages there are, one after the other. */
async function fillMemory(bed: Bed): Promise<void> {
  const client = createClient({ baseUrl: bed.subject.url, boundMs: HUNG_MS, maxConnections: 4 });
  try {
    await Promise.all(
      [0, 1, 2, 3].map(async (lane) => {
        for (const text of bed.queries.repeated.filter((_, at) => at % 4 === lane)) {
          await client.get(`${targetOf(text)}&limit=100`);
        }
      }),
    );
  } finally {
    client.close();
  }
}

function stepped(name: string, says: string, byMs: number, hitRatioDuring: number): Row {
  return {
    name,
    says,
    begin: async (bed) => bed.subject.stepClock(byMs),
    end: async (bed) => bed.subject.stepClock(0),
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
      bed.subject.running()?.signal('SIGTERM');
      await bed.subject.running()?.ended;
      await bed.restartSubject();
    },
    bounds: { brokenConnections: 1, unansweredDuring: 1, knownUnansweredDuring: 1, unansweredAfter: 0.02 },
    check: ({ samples, broken }: Report) => {
      const dropped = samples.filter(({ sentMs, verdict }) => sentMs < toldMs && verdict.kind === 'broken');
      const cut = broken.filter((why) => why !== 'ECONNREFUSED');
      return [
        ...(dropped.length > 0 ? [`${dropped.length} requests sent before SIGTERM got no answer`] : []),
        ...(cut.length > 0 ? [`${cut.length} accepted requests were dropped while it left: ${cut[0]}`] : []),
      ];
    },
  };
}
