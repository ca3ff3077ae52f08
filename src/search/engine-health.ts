import type { Engine } from './engine.ts';
import type { SearchEvent } from './events.ts';

const FAILURES_IN_A_ROW = 5;

/**
 * How the engine is, for operators and readiness; no search depends on it. It is probed every few seconds beside the
 * searches: with little traffic a breaker learns of a dead engine late, and of a healed one not at all.
 */
export interface EngineHealth {
  /** Which of the endpoints answered their last probe, in their order. */
  readonly reachable: () => readonly boolean[];
  /** Its latest searches all failed, whatever the fault: a live engine that refuses everything opens no breaker. */
  readonly failing: () => boolean;
  readonly note: (event: Pick<Extract<SearchEvent, { kind: 'engine' }>, 'result'>) => void;
  readonly close: () => void;
}

export interface EngineHealthOptions {
  readonly engines: readonly Pick<Engine, 'probe'>[];
  readonly intervalMs: number;
  /** A probe that takes longer has failed. */
  readonly timeoutMs: number;
  readonly random: () => number;
  /** After each probe of an endpoint. */
  readonly onProbe: (endpoint: number, answers: boolean) => void;
}

export function createEngineHealth(options: EngineHealthOptions): EngineHealth {
  const { engines, intervalMs, timeoutMs, random } = options;
  const reachable = engines.map(() => true);
  const timers = new Map<number, NodeJS.Timeout>();
  let failuresInARow = 0;
  let closed = false;

  const probe = async (engine: Pick<Engine, 'probe'>, endpoint: number): Promise<void> => {
    try {
      await engine.probe(AbortSignal.timeout(timeoutMs));
      reachable[endpoint] = true;
    } catch {
      // Which fault it is, searches say in their events; here it is only up or down.
      reachable[endpoint] = false;
    }
    if (closed) return;
    options.onProbe(endpoint, reachable[endpoint] ?? false);
    // Spread by ±20 %, so that a fleet does not ask in step; one probe at a time, however slow.
    const waitMs = intervalMs * (0.8 + 0.4 * random());
    timers.set(endpoint, setTimeout(() => void probe(engine, endpoint), waitMs).unref());
  };
  engines.forEach((engine, endpoint) => {
    void probe(engine, endpoint);
  });

  return {
    reachable: () => reachable,
    failing: () => failuresInARow >= FAILURES_IN_A_ROW,
    note: ({ result }) => {
      const answered = result === 'whole' || result === 'empty' || result === 'partial';
      failuresInARow = answered ? 0 : failuresInARow + 1;
    },
    close: () => {
      closed = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
