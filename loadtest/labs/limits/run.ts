import type { Limit } from '../../../src/resilience/adaptive-limit.ts';
import { createConcurrencyLimiter } from '../../../src/resilience/concurrency-limiter.ts';
import { createModelEngine, type ModelEngine } from './model-engine.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.ts';

export interface Scenario {
  /** Arrivals, as a multiple of what the engine can do when it is well. */
  readonly load: number;
  readonly deadlineMs: number;
  /** How long a client waits in all. */
  readonly patienceMs: number;
  readonly ceiling: number;
  readonly maxQueued: number;
  readonly atOnce: number;
  readonly meanMs: number;
  readonly spread: number;
  readonly costly: number;
  /** Seconds; what happens before `fromSeconds` is not counted. */
  readonly seconds: number;
  readonly fromSeconds: number;
  readonly slow?: { readonly fromSeconds: number; readonly toSeconds: number; readonly factor: number };
}

export interface Contender {
  readonly shedding: boolean;
  readonly limit: (parts: {
    readonly ceiling: () => number;
    readonly monotonicMs: () => number;
    readonly random: () => number;
    readonly deadlineMs: number;
  }) => Limit;
}

export interface Request {
  readonly arrivedAtMs: number;
  /** When it had its answer or was refused, unless it ended later than the run. */
  endedAtMs?: number;
  shed: boolean;
}

export interface Run {
  readonly requests: readonly Request[];
  /** The limit, ten times a second. */
  readonly limits: readonly number[];
  readonly enginePerSecond: number;
}

/** One open-loop run in virtual time: the permit and the limit are the real ones, the guard between them is a sketch. */
export async function runOnce(scenario: Scenario, contender: Contender, random: () => number): Promise<Run> {
  const time = createVirtualTime();
  try {
    const engine = createModelEngine({ ...scenario, time, random });
    const { enginePerSecond, requests, limits } = start(scenario, contender, time, engine, random);
    await time.runUntil(scenario.seconds * 1000);
    return { enginePerSecond, requests, limits };
  } finally {
    time.close();
  }
}

function start(
  scenario: Scenario,
  contender: Contender,
  time: VirtualTime,
  engine: ModelEngine,
  random: () => number,
): { readonly enginePerSecond: number; readonly requests: readonly Request[]; readonly limits: readonly number[] } {
  const { deadlineMs, slow } = scenario;
  const { monotonicMs } = time.clock;
  const enginePerSecond = engine.perSecond();
  const limit = contender.limit({ ceiling: () => scenario.ceiling, monotonicMs, random, deadlineMs });
  const { shedding } = contender;
  const permit = createConcurrencyLimiter({
    max: limit.current,
    maxQueued: scenario.maxQueued,
    deadlineMs,
    maxWaitMs: scenario.patienceMs,
    clock: time.clock,
    shedding,
  });
  const requests: Request[] = [];
  const limits: number[] = [];

  const call = async (): Promise<void> => {
    const startedAtMs = monotonicMs();
    const inFlight = permit.inFlight();
    let isLate = false;
    time.at(startedAtMs + deadlineMs, () => {
      if (isLate) return;
      isLate = true;
      limit.sample({ durationMs: deadlineMs, inFlight, result: 'lost' });
    });
    await engine.ask();
    if (!isLate) limit.sample({ durationMs: monotonicMs() - startedAtMs, inFlight, result: 'answered' });
    isLate = true;
  };

  const request = async (): Promise<void> => {
    const arrivedAtMs = monotonicMs();
    const one: Request = { arrivedAtMs, shed: false };
    requests.push(one);
    try {
      const release = await permit.acquire({
        deadlineAtMs: arrivedAtMs + scenario.patienceMs,
        priority: 'interactive',
      });
      await call();
      release();
    } catch {
      one.shed = true;
    }
    one.endedAtMs = monotonicMs();
  };

  const arrive = (): void => {
    void request();
    time.at(monotonicMs() - (1000 * Math.log(1 - random())) / (scenario.load * enginePerSecond), arrive);
  };
  const look = (): void => {
    limits.push(limit.current());
    time.at(monotonicMs() + 100, look);
  };
  time.at(0, arrive);
  time.at(0, look);
  if (slow !== undefined) {
    time.at(slow.fromSeconds * 1000, () => engine.slowDown(slow.factor));
    time.at(slow.toSeconds * 1000, () => engine.slowDown(1));
  }
  return { enginePerSecond, requests, limits };
}
