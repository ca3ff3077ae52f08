import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineFaults, NO_ENGINE_FAULT } from '../../../loadtest/fault-proxy/engine-proxy.ts';
import { accepts } from '../../../loadtest/stack/process.ts';
import {
  allEffects,
  allNodes,
  faultEffect,
  flushed,
  grew,
  processesAre,
  refusedByEngineProxy,
} from '../fault-effects.ts';
import { greetingOf, quickestSearchMs } from '../probes.ts';
import type { Harness, Row } from '../row.ts';

/** One search in twenty is new. Only new searches need the engine. */
const NEW_SEARCHES: Row['bounds'] = { unansweredDuring: 0.12, unansweredAfter: 0.12, recoverySeconds: 15 };
/** When the engine cannot answer, refusals are fast: within a tenth of the engine's deadline. */
const REFUSED_AT_ONCE: Row['bounds'] = { ...NEW_SEARCHES, refusedWithinMs: 80 };

const searchd = (harness: Harness): readonly number[] => [harness.engine.pid()];

/** The minimum duration of a search through the proxy is ten times the one without it. */
const tenTimesSlower = faultEffect(
  'ms of a search, by the proxy and past it',
  async (harness) => [await quickestSearchMs(harness.engineProxy.port), await quickestSearchMs(harness.engine.port)],
  ([, direct = 0], [proxied = 0, directNow = 0]) => proxied >= 10 * Math.max(direct, directNow),
);

/** New connections are refused, and the subject has none left. */
const refusesNewConnections = faultEffect(
  'a new connection to the engine, and how many there are',
  async (harness) => ({
    greeting: await greetingOf(harness.engineProxy.port),
    connections: harness.engineProxy.connections(),
  }),
  (before, during) =>
    before.greeting === 'accepted' && during.greeting === 'engine-overloaded' && during.connections === 0,
);

const agentRefuses = faultEffect(
  'whether the agent accepts connections',
  async ({ engine: { agent } }) => agent !== undefined && (await accepts(agent.port)),
  (before, during) => before && !during,
);

/** The engine dies, hangs, is slow or refuses. Searches that were asked before are still answered. */
export const ENGINE: readonly Row[] = [
  {
    name: 'engine-killed',
    summary: 'without searchd (kill −9) every search asked before is answered, new ones are refused at once',
    begin: (harness) => harness.engine.end('SIGKILL'),
    end: (harness) => harness.engine.start(),
    effect: processesAre('gone', searchd),
    bounds: REFUSED_AT_ONCE,
  },
  {
    name: 'engine-stopped',
    summary:
      'a searchd that hangs (SIGSTOP) costs new searches their deadline at most, and searches asked before nothing',
    begin: (harness) => harness.engine.pause(),
    end: async (harness) => harness.engine.resume(),
    effect: processesAre('stopped', searchd),
    bounds: NEW_SEARCHES,
  },
  {
    name: 'engine-terminated',
    summary: 'a searchd that is terminated (SIGTERM) and restarted costs only new searches meanwhile',
    begin: (harness) => harness.engine.end('SIGTERM'),
    end: (harness) => harness.engine.start(),
    effect: processesAre('gone', searchd),
    bounds: REFUSED_AT_ONCE,
  },
  {
    name: 'engine-flapping',
    summary: 'an engine that is reachable for 0.3 s in each second costs only new searches, and nothing afterwards',
    faultMs: 8000,
    ...flaps({ awayMs: 700, backMs: 300 }),
    bounds: { ...NEW_SEARCHES, recoverySeconds: 10 },
    // Without an opening the row would not test the breaker.
    check: (_, harness) => (openingsOf(harness) > 0 ? {} : { unmeasured: ['openings of the breaker'] }),
  },
  {
    name: 'engine-rotated',
    summary: 'an index rotation costs nothing',
    begin: (harness) => harness.engine.rotate(),
    effect: grew('rotations in the log of searchd', async (harness) => [await harness.engine.rotations()]),
  },
  {
    name: 'engine-10x-slower',
    summary: 'an engine ten times slower still answers what it can within its deadline',
    ...withEngineFault({ multiply: 10, delayMs: 20 }),
    effect: tenTimesSlower,
    bounds: { recoverySeconds: 10 },
  },
  {
    name: 'engine-full',
    summary:
      'a searchd at max_children counts as overload: new searches are refused at once, and it is used again afterwards',
    begin: async (harness) => {
      harness.engineProxy.maxedOut(true);
      harness.engineProxy.cut();
    },
    end: async (harness) => harness.engineProxy.maxedOut(false),
    effect: refusesNewConnections,
    bounds: REFUSED_AT_ONCE,
  },
  {
    name: 'engine-1064',
    summary: 'an engine that calls everything a syntax error costs new searches a refusal and gives no wrong page',
    ...withEngineFault({ fail: "index goods: P08: syntax error, unexpected TOK_KEYWORD near ''" }),
    effect: refusedByEngineProxy,
    bounds: { ...NEW_SEARCHES, refusals: ['overloaded', 'engine-open', 'engine-unavailable', 'engine-rejected'] },
  },
  {
    name: 'engine-index-gone',
    summary: 'an engine that knows the index no longer costs new searches a refusal',
    ...withEngineFault({ fail: "unknown local index 'goods' in search request" }),
    effect: refusedByEngineProxy,
    bounds: { ...NEW_SEARCHES, refusals: ['overloaded', 'engine-open', 'engine-unavailable', 'engine-rejected'] },
  },
  {
    name: 'engine-damaged-replies',
    summary: 'an engine whose replies have a row where EOF must stand costs new searches a refusal, and no permit',
    ...withEngineFault({
      answer: Buffer.from(
        '01000001011a000002036465660000000269640269640c21001400000008000000000003000003026931',
        'hex',
      ),
    }),
    effect: refusedByEngineProxy,
    bounds: REFUSED_AT_ONCE,
  },
  {
    name: 'engine-unasked-errors',
    summary: 'a cut error packet that nobody asked for costs a connection of the engine, and at most new searches',
    ...withEngineFault({ unasked: Buffer.from('01000000ff', 'hex') }),
    effect: grew('replies that were followed by a cut error', (harness) => [harness.engineProxy.counts().unasked]),
    bounds: NEW_SEARCHES,
  },
  {
    name: 'agent-dead',
    layout: 'distributed',
    summary: 'a dead agent of a distributed index gives degraded pages that never take a whole one’s place',
    begin: async (harness) => {
      await harness.engine.agent?.refuse(true);
      harness.engine.agent?.cut();
    },
    end: async (harness) => harness.engine.agent?.refuse(false),
    effect: agentRefuses,
    check: ({ subject }) => {
      const outcomes = Object.keys(subject.fault.outcomes);
      return outcomes.some((outcome) => outcome.endsWith('degraded')) ? {} : { unmeasured: ['degraded pages'] };
    },
    // Degraded pages stay in L1 for five seconds, and their searches are not repeated.
    bounds: { recoverySeconds: 15 },
  },
  {
    name: 'two-faults',
    summary:
      'all of L2 gone while the engine carries 30 % of the cold load: what L1 holds is answered, the rest recovers',
    faultMs: 5000,
    begin: async (harness) => {
      // 3 concurrent searches of 50 ms each: 60 a second, while 200 are requested.
      harness.engineProxy.set({ capacity: 3, delayMs: 50 });
      await Promise.all(harness.store().nodes.map((node) => node.command('FLUSHALL')));
    },
    end: async (harness) => harness.engineProxy.set(NO_ENGINE_FAULT),
    effect: allEffects(
      flushed(allNodes),
      grew('most searches that waited for the engine', (harness) => [harness.engineProxy.counts().mostWaiting]),
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

function withEngineFault(given: Partial<EngineFaults>): Pick<Row, 'begin' | 'end'> {
  return {
    begin: async (harness) => harness.engineProxy.set(given),
    end: async (harness) => harness.engineProxy.set(NO_ENGINE_FAULT),
  };
}

const openingsOf = (harness: Harness): number => harness.subject.log().split('engine: breaker open').length - 1;

const MIN_FLAPS = 5;

/** Alternates between refusing and resetting connections and accepting them. A new connection verifies each change. */
function flaps(times: { readonly awayMs: number; readonly backMs: number }): Pick<Row, 'begin' | 'end' | 'effect'> {
  const greetings = { accepted: 0, refused: 0 };
  let stopping = new AbortController();
  let flapping = Promise.resolve();
  const greet = async ({ engineProxy: { port } }: Harness): Promise<void> => {
    const greeting = await greetingOf(port);
    if (greeting === 'accepted') greetings.accepted += 1;
    if (greeting === 'engine-unavailable') greetings.refused += 1;
  };
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const flap = async (harness: Harness): Promise<void> => {
    while (!stopping.signal.aborted) {
      await harness.engineProxy.refuse(true);
      harness.engineProxy.cut();
      await greet(harness);
      await pause(times.awayMs);
      await harness.engineProxy.refuse(false);
      await greet(harness);
      await pause(times.backMs);
    }
  };
  return {
    begin: async (harness) => {
      stopping = new AbortController();
      flapping = flap(harness);
      // `end` awaits the promise and reports a failure.
      flapping.catch(() => undefined);
    },
    end: async (harness) => {
      stopping.abort();
      try {
        await flapping;
      } finally {
        await harness.engineProxy.refuse(false);
      }
    },
    effect: faultEffect(
      'new connections to the engine, by its answer',
      () => ({ ...greetings }),
      (before, during) =>
        during.accepted - before.accepted >= MIN_FLAPS && during.refused - before.refused >= MIN_FLAPS,
    ),
  };
}

/** One of two engine endpoints fails and the other takes over. */
export const MIRRORS: readonly Row[] = [
  mirrorRow('gone', {
    name: 'mirror-killed',
    summary: 'with one of two searchds dead (kill −9) the other answers every search',
    begin: (harness) => harness.engine.end('SIGKILL'),
    end: (harness) => harness.engine.start(),
    bounds: { unansweredDuring: 0.01, recoverySeconds: 15 },
  }),
  mirrorRow('stopped', {
    name: 'mirror-stopped',
    summary: 'with one of two searchds hanging (SIGSTOP) the other answers every search after the next probe',
    begin: (harness) => harness.engine.pause(),
    end: async (harness) => harness.engine.resume(),
    // New searches that were sent to it before the probe, which runs every five seconds, waited for their deadline.
    bounds: { unansweredDuring: 0.03, knownUnansweredDuring: 0.01, unansweredAfter: 0.01, recoverySeconds: 15 },
  }),
];

/** @param state of the affected searchd during the fault */
function mirrorRow(state: 'gone' | 'stopped', row: Omit<Row, 'effect'>): Row {
  let unreachable = 0;
  return {
    ...row,
    mirrored: true,
    faultMs: 10_000,
    end: async (harness) => {
      unreachable = 2 - (await harness.subject.metric('serpcache_engine_endpoint_reachable'));
      await row.end?.(harness);
    },
    effect: processesAre(state, searchd),
    check: () => (unreachable === 1 ? {} : { broken: [`${unreachable} of 2 endpoints were found unreachable`] }),
  };
}
