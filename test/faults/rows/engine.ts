import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineLevers } from '../../../loadtest/proxy/engine-middle.ts';
import { accepts } from '../../../loadtest/stack/process.ts';
import { type Bed, NO_LEVERS } from '../bed.ts';
import { all, allNodes, felt, flushed, grew, processesAre, refusedByEngineProxy } from '../felt.ts';
import { greetingOf, quickestSearchMs } from '../probe.ts';
import type { Row } from '../row.ts';

/** Searches nobody asked before are one in twenty: they alone need the engine. */
const NEW_ONES: Row['bounds'] = { unansweredDuring: 0.12, unansweredAfter: 0.12, recoverySeconds: 15 };
/** Where nothing can come of waiting, nobody waits: a tenth of the engine's deadline. */
const REFUSED_AT_ONCE: Row['bounds'] = { ...NEW_ONES, refusedWithinMs: 80 };

const searchd = (bed: Bed): readonly number[] => [bed.engine.pid()];

/** The same search by the proxy and past it, each at its quickest. */
const tenTimesSlower = felt(
  'ms of a search, by the proxy and past it',
  async (bed) => [await quickestSearchMs(bed.engineProxy.port), await quickestSearchMs(bed.engine.port)],
  ([, direct = 0], [proxied = 0, directNow = 0]) => proxied >= 10 * Math.max(direct, directNow),
);

/** New connections are dismissed, and none of the subject's is left. */
const turnsAway = felt(
  'a new connection to the engine, and how many there are',
  async (bed) => ({ greeting: await greetingOf(bed.engineProxy.port), connections: bed.engineProxy.connections() }),
  (before, during) =>
    before.greeting === 'accepted' && during.greeting === 'engine-overloaded' && during.connections === 0,
);

const agentRefuses = felt(
  'whether the agent accepts connections',
  async ({ engine: { agent } }) => agent !== undefined && (await accepts(agent.port)),
  (before, during) => before && !during,
);

/** The engine dies, hangs, crawls and refuses. What was asked before is answered all the same. */
export const ENGINE: readonly Row[] = [
  {
    name: 'engine-killed',
    says: 'without searchd (kill −9) every search asked before is answered, new ones are refused at once',
    begin: (bed) => bed.engine.end('SIGKILL'),
    end: (bed) => bed.engine.start(),
    felt: processesAre('gone', searchd),
    bounds: REFUSED_AT_ONCE,
  },
  {
    name: 'engine-stopped',
    says: 'a searchd that hangs (SIGSTOP) costs new searches their deadline at most, and searches asked before nothing',
    begin: (bed) => bed.engine.pause(),
    end: async (bed) => bed.engine.resume(),
    felt: processesAre('stopped', searchd),
    bounds: NEW_ONES,
  },
  {
    name: 'engine-terminated',
    says: 'a searchd that is told to leave (SIGTERM) and comes back costs new searches meanwhile',
    begin: (bed) => bed.engine.end('SIGTERM'),
    end: (bed) => bed.engine.start(),
    felt: processesAre('gone', searchd),
    bounds: REFUSED_AT_ONCE,
  },
  {
    name: 'engine-flapping',
    says: 'an engine that is there for 0.3 s in each second costs searches asked before nothing, and nobody anything afterwards',
    faultMs: 8000,
    ...flaps({ awayMs: 700, backMs: 300 }),
    bounds: { ...NEW_ONES, recoverySeconds: 10 },
    // Otherwise nothing of this was about the breaker.
    check: (_, bed) => (openingsOf(bed) > 0 ? {} : { unmeasured: ['openings of the breaker'] }),
  },
  {
    name: 'engine-rotated',
    says: 'an index rotation costs nothing',
    begin: (bed) => bed.engine.rotate(),
    felt: grew('rotations in the log of searchd', async (bed) => [await bed.engine.rotations()]),
  },
  {
    name: 'engine-10x-slower',
    says: 'an engine ten times slower still answers what it can within its deadline',
    ...levers({ multiply: 10, delayMs: 20 }),
    felt: tenTimesSlower,
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
    felt: turnsAway,
    bounds: REFUSED_AT_ONCE,
  },
  {
    name: 'engine-1064',
    says: 'an engine that calls everything a syntax error costs new searches a refusal, and nobody a wrong page',
    ...levers({ fail: "index goods: P08: syntax error, unexpected TOK_KEYWORD near ''" }),
    felt: refusedByEngineProxy,
    bounds: { ...NEW_ONES, refusals: ['overloaded', 'engine-open', 'engine-unavailable', 'engine-rejected'] },
  },
  {
    name: 'engine-index-gone',
    says: 'an engine that knows the index no longer costs new searches a refusal',
    ...levers({ fail: "unknown local index 'goods' in search request" }),
    felt: refusedByEngineProxy,
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
    felt: agentRefuses,
    check: ({ subject }) => {
      const outcomes = Object.keys(subject.fault.outcomes);
      return outcomes.some((outcome) => outcome.endsWith('degraded')) ? {} : { unmeasured: ['degraded pages'] };
    },
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
    felt: all(
      flushed(allNodes),
      grew('most searches that waited for the engine', (bed) => [bed.engineProxy.counts().mostWaiting]),
    ),
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

const openingsOf = (bed: Bed): number => bed.subject.log().split('engine: breaker open').length - 1;

const LEAST_FLAPS = 5;

/** Connections are refused and reset, then accepted again, in turn. After each change a new connection proves it. */
function flaps(times: { readonly awayMs: number; readonly backMs: number }): Pick<Row, 'begin' | 'end' | 'felt'> {
  const greetings = { accepted: 0, refused: 0 };
  let stopping = new AbortController();
  let flapping = Promise.resolve();
  const greet = async ({ engineProxy: { port } }: Bed): Promise<void> => {
    const greeting = await greetingOf(port);
    if (greeting === 'accepted') greetings.accepted += 1;
    if (greeting === 'engine-unavailable') greetings.refused += 1;
  };
  const rest = (ms: number): Promise<void> => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const flap = async (bed: Bed): Promise<void> => {
    while (!stopping.signal.aborted) {
      await bed.engineProxy.refuse(true);
      bed.engineProxy.cut();
      await greet(bed);
      await rest(times.awayMs);
      await bed.engineProxy.refuse(false);
      await greet(bed);
      await rest(times.backMs);
    }
  };
  return {
    begin: async (bed) => {
      stopping = new AbortController();
      flapping = flap(bed);
      // Whoever ends the fault hears of a failure.
      flapping.catch(() => undefined);
    },
    end: async (bed) => {
      stopping.abort();
      try {
        await flapping;
      } finally {
        await bed.engineProxy.refuse(false);
      }
    },
    felt: felt(
      'new connections to the engine, by its answer',
      () => ({ ...greetings }),
      (before, during) =>
        during.accepted - before.accepted >= LEAST_FLAPS && during.refused - before.refused >= LEAST_FLAPS,
    ),
  };
}
