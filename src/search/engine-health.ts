import type { Engine } from './engine.ts';

/**
 * Whether the engine can be reached, asked every few seconds beside the searches: with little traffic a breaker learns
 * of a dead engine late, and of a healed one not at all. It is for operators and readiness; no search depends on it.
 */
export interface EngineHealth {
  readonly reachable: () => boolean;
  readonly close: () => void;
}

export interface EngineHealthOptions {
  readonly engine: Pick<Engine, 'probe'>;
  readonly intervalMs: number;
  /** A probe that takes longer has failed. */
  readonly timeoutMs: number;
  readonly random: () => number;
}

export function createEngineHealth({ engine, intervalMs, timeoutMs, random }: EngineHealthOptions): EngineHealth {
  let reachable = true;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const probe = async (): Promise<void> => {
    try {
      await engine.probe(AbortSignal.timeout(timeoutMs));
      reachable = true;
    } catch {
      // Which fault it is, searches say in their events; here it is only up or down.
      reachable = false;
    }
    // Spread by ±20 %, so that a fleet does not ask in step; one probe at a time, however slow.
    if (!closed) timer = setTimeout(probe, intervalMs * (0.8 + 0.4 * random())).unref();
  };
  void probe();

  return {
    reachable: () => reachable,
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}
