import type { BreakerState } from './endpoints.ts';

/**
 * A closing of the breaker counts as lasting after this time, which is twice the slow start: an engine that breaks down
 * under the full load has broken down by then.
 */
const TRUSTED_AFTER_MS = 10_000;

interface EngineHealthOptions {
  /** `probe` rejects when the engine cannot answer a search. */
  readonly engines: readonly { readonly probe: (signal: AbortSignal) => Promise<void> }[];
  readonly intervalMs: number;
  /**
   * The interval while the breaker is not closed. It doubles, up to `intervalMs`, with each closing that did not last,
   * because such an engine answers probes and fails searches; and with each probe without any answer, because each of them
   * leaves a connection in the queue of an engine that hangs.
   */
  readonly openIntervalMs: number;
  readonly timeoutMs: number;
  readonly monotonicMs: () => number;
  readonly random: () => number;
  readonly onProbe: (endpoint: number, answers: boolean) => void;
}

function newlyProbed(engine: EngineHealthOptions['engines'][number], endpoint: number) {
  return {
    endpoint,
    engine,
    reachable: true,
    /** Timer of the next probe; undefined while a probe is running. */
    timer: undefined as NodeJS.Timeout | undefined,
    isClosed: true,
    openings: 0,
    /** Time of the last closing; undefined once the breaker has opened after it. */
    closedAtMs: undefined as number | undefined,
    /** Closings in a row that did not last. */
    falseClosings: 0,
    /** Probes in a row that got no answer at all, since the opening. */
    unanswered: 0,
  };
}

type Probed = ReturnType<typeof newlyProbed>;

/**
 * Active health checks of the engine, beside the searches and for each endpoint alone: every few seconds, because with
 * little traffic a breaker learns late of a dead engine, and quickly while the breaker is open, because nothing else shows
 * that the engine is back.
 */
export function createEngineHealth(options: EngineHealthOptions) {
  const { intervalMs, openIntervalMs, timeoutMs, monotonicMs, random, onProbe } = options;
  const all = options.engines.map(newlyProbed);
  let closed = false;

  const schedule = (one: Probed): void => {
    const openMs = Math.min(intervalMs, openIntervalMs * 2 ** (one.falseClosings + one.unanswered));
    // Spread by ±20 %, so that the processes of a fleet do not probe in step.
    const waitMs = (one.isClosed ? intervalMs : openMs) * (0.8 + 0.4 * random());
    if (closed) return;
    clearTimeout(one.timer);
    one.timer = setTimeout(() => void probe(one), waitMs).unref();
  };

  const probe = async (one: Probed): Promise<void> => {
    const { openings } = one;
    const startedMs = monotonicMs();
    one.timer = undefined;
    try {
      await one.engine.probe(AbortSignal.timeout(timeoutMs));
      one.reachable = true;
      one.unanswered = 0;
    } catch {
      // The events of searches carry the fault; a probe only shows whether the engine is up.
      one.reachable = false;
      one.unanswered = monotonicMs() - startedMs < openIntervalMs ? 0 : one.unanswered + 1;
    }
    // When the breaker has opened since the probe was sent, the failed calls are newer evidence than the probe.
    const isOutdated = one.reachable && one.openings !== openings;
    if (!isOutdated && !closed) onProbe(one.endpoint, one.reachable);
    schedule(one);
  };
  for (const one of all) void probe(one);

  return {
    /** Whether each endpoint answered its last probe, in the order of the endpoints. */
    reachable: (): readonly boolean[] => all.map(({ reachable }) => reachable),
    /** The breaker of an endpoint has changed its state, by calls or by `onProbe`. */
    breakerIs: (endpoint: number, state: BreakerState): void => {
      const one = all[endpoint];
      if (one === undefined || state === 'half-open') return;
      if (state === 'closed') {
        one.isClosed = true;
        one.closedAtMs = monotonicMs();
        return;
      }
      if (one.closedAtMs !== undefined) {
        const lasted = monotonicMs() - one.closedAtMs >= TRUSTED_AFTER_MS;
        one.falseClosings = lasted ? 0 : one.falseClosings + 1;
        one.closedAtMs = undefined;
      }
      one.openings += 1;
      if (!one.isClosed) return;
      one.isClosed = false;
      one.unanswered = 0;
      // At most one probe runs at a time: a running probe schedules the next one at its end.
      if (one.timer !== undefined) schedule(one);
    },
    close: (): void => {
      closed = true;
      for (const { timer } of all) clearTimeout(timer);
    },
  };
}

export type EngineHealth = ReturnType<typeof createEngineHealth>;
