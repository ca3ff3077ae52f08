import { createClient } from '../../../loadtest/traffic/client.ts';
import { startStream } from '../../../loadtest/traffic/stream.ts';
import { systemClock } from '../../../src/runtime.ts';
import { personOf, targetOf } from '../bed.ts';
import { HUNG_MS } from '../configuration.ts';
import { percentile } from '../samples.ts';
import { type Verdict, verdictOf } from '../verdict.ts';
import type { Holds } from './figure.ts';

/** One search sent to one process, and what came of it. */
export interface Asked {
  /** Counted from 0; the same for all processes it was sent to. */
  readonly arrival: number;
  /** From the start of the stream. */
  readonly sentMs: number;
  readonly durationMs: number;
  /** Index of the process. */
  readonly to: number;
  readonly text: string;
  readonly target: string;
  readonly verdict: Verdict;
}

export interface Arrival {
  readonly text: string;
  /** Default: the text alone. */
  readonly target?: string;
  /** Indexes of the processes it goes to. */
  readonly to: readonly number[];
}

export interface OpenLoop {
  /** In the order of their answers. */
  readonly asked: readonly Asked[];
  readonly sinceStartMs: () => number;
  readonly arrivals: () => number;
  /** Resolves when the last answer has come. */
  readonly stop: () => Promise<void>;
  /** The generator's own lateness, p99. */
  readonly lagMs: () => number;
}

export interface OpenLoopOptions {
  readonly urls: readonly string[];
  readonly ratePerSecond: number;
  readonly random: () => number;
  readonly next: (arrival: number) => Arrival;
  readonly onAnswer?: (asked: Asked) => void;
}

/** Arrivals that wait for nobody. */
export function startOpenLoop({ urls, ratePerSecond, random, next, onAnswer }: OpenLoopOptions): OpenLoop {
  const clients = urls.map((baseUrl) => createClient({ baseUrl, boundMs: HUNG_MS, maxConnections: 4096 }));
  const asked: Asked[] = [];
  const pending = new Set<Promise<void>>();
  const startMs = systemClock.monotonicMs();
  const sinceStartMs = (): number => systemClock.monotonicMs() - startMs;
  let arrivals = 0;

  const ask = async (arrival: number, to: number, { text, target = targetOf(text) }: Arrival): Promise<void> => {
    const client = clients[to];
    if (client === undefined) throw new Error(`no process ${to}`);
    const sentMs = sinceStartMs();
    const verdict = verdictOf(await client.get(target, personOf(arrival)), text);
    const one: Asked = { arrival, sentMs, durationMs: sinceStartMs() - sentMs, to, text, target, verdict };
    asked.push(one);
    onAnswer?.(one);
  };
  const stream = startStream({
    ratePerSecond,
    random,
    clock: systemClock,
    arrive: (arrival) => {
      arrivals = arrival + 1;
      const what = next(arrival);
      for (const to of what.to) {
        const sent = ask(arrival, to, what).finally(() => pending.delete(sent));
        pending.add(sent);
      }
    },
  });
  return {
    asked,
    sinceStartMs,
    arrivals: () => arrivals,
    stop: async () => {
      stream.stop();
      await Promise.all(pending);
      for (const client of clients) client.close();
    },
    lagMs: () => percentile(stream.lagMs(), 0.99),
  };
}

export const isPage = ({ verdict }: Asked): boolean => verdict.kind === 'page';
/** From memory or the store, and fresh. */
export const isHit = ({ verdict }: Asked): boolean =>
  verdict.kind === 'page' && (verdict.outcome === 'hit-l1' || verdict.outcome === 'hit-l2');
export const isShed = ({ verdict }: Asked): boolean => verdict.kind === 'shed';
/** Answers nobody can act on, and no answers. */
export const isFault = ({ verdict }: Asked): boolean => verdict.kind !== 'page' && verdict.kind !== 'shed';

export function quantileMs(asked: readonly Asked[], p: number): number {
  return percentile(
    asked.map(({ durationMs }) => durationMs),
    p,
  );
}

/** A generator later than this was not the open loop the figure is about. */
export const MOST_LAG_MS = 60;

/** A generator that was late has not measured what the figure is about; no promise of the service is broken by that. */
export const keptUp = (lagMs: number): Holds =>
  Number.isFinite(lagMs) && lagMs <= MOST_LAG_MS ? true : 'not measured';

interface Lagged {
  readonly lagMs: number;
  readonly wrong: readonly string[];
  readonly faults: readonly string[];
}

/**
 * A machine that was busy once may be idle now: measured again, a few times, while the generator lagged. Wrong answers
 * and answers nobody can act on count in every try.
 */
export async function unhurried<T extends Lagged>(measure: () => Promise<T>, tries = 3): Promise<T> {
  const measured = await measure();
  if (measured.lagMs <= MOST_LAG_MS || tries <= 1) return measured;
  const again = await unhurried(measure, tries - 1);
  return { ...again, wrong: [...measured.wrong, ...again.wrong], faults: [...measured.faults, ...again.faults] };
}

/** Rounded for a table; a dash for a figure about nobody. */
export function shown(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}
