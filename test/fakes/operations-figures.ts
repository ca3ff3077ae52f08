import type { Figures } from '../../src/operations/meter/figures.ts';
import { OUTCOMES } from '../../src/search/events.ts';
import { seededRandom } from './clock.ts';

const SEARCHES_PER_SECOND = 240;
const ENGINE_CALL_MS = 24;
const REFILL_MS = 4000;

export interface LossNow {
  /** 0–1 of the keys. */
  readonly fraction: number;
  /** Since they were lost. */
  readonly sinceMs: number;
}

/** What a domain under steady load would show: calm at a hit ratio of 0.89, and refilling exponentially after a loss. */
export function figuresAt(atMs: number, seconds: number, loss: LossNow | undefined, cohorts: number): Figures {
  const random = seededRandom(Math.round(atMs));
  const noise = (value: number, share: number): number => value * (1 + (random() - 0.5) * share);
  const searches = Math.round(noise(SEARCHES_PER_SECOND * seconds, 0.1));
  const calm = Math.min(0.99, noise(0.89, 0.02));
  const left = loss === undefined ? 0 : Math.exp(-loss.sinceMs / REFILL_MS);
  const flushed = calm * (1 - 0.9 * left);
  const share = loss?.fraction ?? 0;
  const hitRatio = calm * (1 - share) + flushed * share;
  const misses = Math.round(searches * (1 - hitRatio));
  const callsPerSecond = (misses * 0.9) / seconds;
  const shed = share * left > 0.5 ? Math.round(misses * 0.02) : 0;
  const outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<
    (typeof OUTCOMES)[number],
    number
  >;
  outcomes['hit-l1'] = Math.round((searches - misses) * 0.8);
  outcomes['hit-l2'] = searches - misses - outcomes['hit-l1'];
  outcomes.shed = shed;
  outcomes.collapsed = Math.round(misses * 0.1);
  outcomes.engine = Math.max(0, misses - shed - outcomes.collapsed);
  const inFlight = Math.min(8, Math.ceil((callsPerSecond * ENGINE_CALL_MS) / 1000));
  return {
    seconds,
    processes: 1,
    searches,
    searchesPerSecond: searches / seconds,
    outcomes,
    hitRatio,
    errorRate: 0,
    shedRate: shed / Math.max(1, searches),
    p50Ms: noise(0.4, 0.2),
    p99Ms: noise(30 + 120 * share * left, 0.1),
    engineCallsPerSecond: callsPerSecond,
    engineCallMs: noise(ENGINE_CALL_MS, 0.1),
    engineFailures: 0,
    engineInFlight: inFlight,
    engineQueued: inFlight === 8 ? 3 : 0,
    engineMax: 8,
    engineCeiling: 8,
    breakersOpen: 0,
    cohorts: Array.from({ length: cohorts }, (_, i) => ({
      searches: Math.round(searches * (i === 0 ? 0.01 : share)),
      hitRatio: i === 0 ? calm : flushed,
    })),
  };
}
