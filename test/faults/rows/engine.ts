import type { EngineLevers } from '../../../loadtest/proxy/engine-proxy.ts';
import { NO_LEVERS } from '../bed.ts';
import { refused } from '../felt.ts';
import type { Row } from '../row.ts';

/** Searches nobody asked before are one in twenty: they alone need the engine. */
const NEW_ONES: Row['bounds'] = { unansweredDuring: 0.12, unansweredAfter: 0.12, recoverySeconds: 15 };

/** The engine dies, hangs, crawls and refuses. What was asked before is answered all the same. */
export const ENGINE: readonly Row[] = [
  {
    name: 'engine-killed',
    says: 'without searchd (kill −9) every search asked before is answered, new ones are refused at once',
    begin: (bed) => bed.engine.end('SIGKILL'),
    end: (bed) => bed.engine.start(),
    felt: refused,
    bounds: NEW_ONES,
    check: refusesAtOnce,
  },
  {
    name: 'engine-stopped',
    says: 'a searchd that hangs (SIGSTOP) costs new searches their deadline at most, and searches asked before nothing',
    begin: (bed) => bed.engine.pause(),
    end: async (bed) => bed.engine.resume(),
    felt: refused,
    bounds: NEW_ONES,
  },
  {
    name: 'engine-terminated',
    says: 'a searchd that is told to leave (SIGTERM) and comes back costs new searches meanwhile',
    begin: (bed) => bed.engine.end('SIGTERM'),
    end: (bed) => bed.engine.start(),
    felt: refused,
    bounds: NEW_ONES,
    check: refusesAtOnce,
  },
  {
    name: 'engine-rotated',
    says: 'an index rotation costs nothing',
    begin: (bed) => bed.engine.rotate(),
  },
  {
    name: 'engine-10x-slower',
    says: 'an engine ten times slower still answers what it can within its deadline',
    ...levers({ multiply: 10, delayMs: 20 }),
    bounds: { recoverySeconds: 10 },
  },
  {
    name: 'engine-full',
    says: 'a searchd at max_children is overload: new searches are refused at once, and it is found again',
    begin: async (bed) => {
      bed.engineProxy.maxedOut(true);
      bed.engineProxy.cut();
    },
    end: async (bed) => bed.engineProxy.maxedOut(false),
    felt: refused,
    bounds: NEW_ONES,
    check: refusesAtOnce,
  },
  {
    name: 'engine-1064',
    says: 'an engine that calls everything a syntax error costs new searches a refusal, and nobody a wrong page',
    ...levers({ fail: "index goods: P08: syntax error, unexpected TOK_KEYWORD near ''" }),
    felt: refused,
    bounds: { ...NEW_ONES, refusals: ['overloaded', 'engine-open', 'engine-unavailable', 'engine-rejected'] },
  },
  {
    name: 'engine-index-gone',
    says: 'an engine that knows the index no longer costs new searches a refusal',
    ...levers({ fail: "unknown local index 'goods' in search request" }),
    felt: refused,
    bounds: { ...NEW_ONES, refusals: ['overloaded', 'engine-open', 'engine-unavailable', 'engine-rejected'] },
  },
  {
    name: 'agent-dead',
    layout: 'distributed',
    says: 'a dead agent of a distributed index gives degraded pages that never take a whole one’s place',
    begin: async (bed) => {
      await bed.engine.agent?.refuse(true);
      bed.engine.agent?.cut();
    },
    end: async (bed) => bed.engine.agent?.refuse(false),
    felt: ({ subject }) => Object.keys(subject.fault.outcomes).some((outcome) => outcome.endsWith('degraded')),
    // Degraded pages live five seconds in L1, and were of searches nobody asks again.
    bounds: { recoverySeconds: 15 },
  },
  {
    name: 'two-faults',
    says: 'all of L2 gone while the engine carries 30 % of the cold load: what L1 holds is answered, the rest heals',
    faultMs: 5000,
    begin: async (bed) => {
      // 3 at once, 50 ms each: 60 a second, of 200 that are asked.
      bed.engineProxy.set({ capacity: 3, delayMs: 50 });
      await Promise.all(bed.store().nodes.map((node) => node.command('FLUSHALL')));
    },
    end: async (bed) => bed.engineProxy.set(NO_LEVERS),
    bounds: {
      unansweredDuring: 0.3,
      knownUnansweredDuring: 0.3,
      unansweredAfter: 0.1,
      hitRatioDuring: 0.4,
      recoverySeconds: 40,
    },
  },
];

function levers(given: Partial<EngineLevers>): Pick<Row, 'begin' | 'end'> {
  return {
    begin: async (bed) => bed.engineProxy.set(given),
    end: async (bed) => bed.engineProxy.set(NO_LEVERS),
  };
}

/** Where nothing can come of waiting, nobody waits: refusals in under a tenth of the engine's deadline. */
function refusesAtOnce({ subject }: Parameters<NonNullable<Row['check']>>[0]): string[] {
  const { shedP95Ms } = subject.fault;
  return shedP95Ms > REFUSED_WITHIN_MS
    ? [`refusals took ${Math.round(shedP95Ms)} ms (p95), at most ${REFUSED_WITHIN_MS}`]
    : [];
}

const REFUSED_WITHIN_MS = 80;
