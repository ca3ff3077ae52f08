import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { metricOf, SEEN_OUTCOMES, type SeenOutcome } from './outcome.ts';

/**
 * The scripts' own metrics. Whatever is added carries the tag `step` while that step's rate holds, and none during its
 * ramp. k6 knows metrics by name, so they are made once, here.
 */
export const searches = new Counter('searches');
/** A rate cannot be read off second by second: its counter can. */
export const errors = new Rate('errors');
export const errorsTotal = new Counter('errors_total');
export const hits = new Rate('hits');
/** From the first byte sent to the last received, of whole requests; connecting included. */
export const searchDuration = new Trend('search_duration', true);
/** 5xx that were no honest sheds. */
export const dishonest = new Counter('dishonest');
/** Searches that were sent, by the step they were sent in: what is never answered is counted here alone. */
export const sent = new Counter('sent');
/** Pages of /metrics that were answered: without any, nobody knows what the engine was asked. */
export const watched = new Counter('watched');
/** Wall clock when the load ended, ms: k6 counts tear-down to the run. */
export const endedAt = new Gauge('ended_at');
/** Iterations that ended in an exception of the script: what they asked was counted in part, or not at all. */
export const scriptFaults = new Counter('script_faults');
/** From /metrics: what the engine was asked, whoever asked. */
export const engineCalls = new Counter('engine_calls');
/** Requests that had to connect first. */
export const connectionsOpened = new Counter('connections_opened');
/** A `codeOfEnd`, at the step a drill was run for. */
export const drillEnd = new Gauge('drill_end');

const byOutcome = new Map<SeenOutcome, Counter>(
  SEEN_OUTCOMES.map((outcome) => [outcome, new Counter(metricOf(outcome))]),
);

export function countOutcome(outcome: SeenOutcome): void {
  byOutcome.get(outcome)?.add(1);
}
