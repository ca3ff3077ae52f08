import { sleep } from 'k6';
import exec from 'k6/execution';
import http, { type Response } from 'k6/http';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { engineCallsOf } from './metrics-text.ts';
import { isHonestShed, metricOf, outcomeOf, type Reply, SEEN_OUTCOMES } from './outcome.ts';
import { type Step, stepAt } from './step.ts';

/*
 * The metrics of the scripts. Samples have the tag `step` while the rate of that step holds, and another tag during its
 * ramp. k6 identifies metrics by name, so they are created once, here.
 */

const searches = new Counter('searches');
const errors = new Rate('errors');
/** The same as a counter: a rate cannot be read second by second. */
const errorsTotal = new Counter('errors_total');
const hits = new Rate('hits');
/** Duration of whole requests with connecting, from the first byte sent to the last byte received. */
const searchDuration = new Trend('search_duration', true);
/** 5xx that are not honest sheds. */
const dishonest = new Counter('dishonest');
/** Searches that were sent, by step. A search that is never answered is counted only here. */
export const sent = new Counter('sent');
/** Readings of /metrics. Without one, the number of engine calls is unknown. */
const watched = new Counter('watched');
/** Wall clock at the end of the load, ms: k6 counts teardown to the run. */
export const endedAt = new Gauge('ended_at');
/** Iterations that ended in an exception of the script. Their searches were counted in part or not at all. */
export const scriptFaults = new Counter('script_faults');
/** Engine calls of all clients, from /metrics. */
const engineCalls = new Counter('engine_calls');
const connectionsOpened = new Counter('connections_opened');
/** A `codeOfEnd`, for the step of the drill. */
export const drillEnd = new Gauge('drill_end');

const byOutcome = new Map(SEEN_OUTCOMES.map((outcome) => [outcome, new Counter(metricOf(outcome))]));

export function countRequest({ timings }: Response): void {
  const { duration, connecting, tls_handshaking: securing } = timings;
  searchDuration.add(duration + connecting + securing);
  if (connecting > 0) connectionsOpened.add(1);
}

/** Counts one search. A shed is an error unless the step is an overload. */
export function countSearch(reply: Reply, shedsAllowed: boolean): void {
  const outcome = outcomeOf(reply);
  const isPage = reply.status === 200;
  const honest = !isPage && isHonestShed(reply);
  const isError = !isPage && !(shedsAllowed && honest);
  searches.add(1);
  byOutcome.get(outcome)?.add(1);
  errors.add(isError);
  if (isError) errorsTotal.add(1);
  hits.add(outcome === 'hit-l1' || outcome === 'hit-l2');
  if (reply.status >= 500 && !honest) dishonest.add(1);
}

const READING_SECONDS = 1;
const READING = { responseType: 'text', timeout: '2s', redirects: 0, tags: { name: 'metrics' } } as const;

/**
 * Reads the engine calls of every process once a second until the end of the run. After missed readings of a process, its
 * next reading contains the missed calls; a restarted process counts from 0.
 */
export function watchEngine(
  adminUrls: readonly string[],
  steps: readonly Step[],
  startedAtMs: number,
  untilSeconds: number,
): void {
  const last = new Map<string, number>();
  while (true) {
    const elapsedSeconds = (Date.now() - startedAtMs) / 1000;
    if (elapsedSeconds > untilSeconds) return;
    exec.vu.metrics.tags['step'] = stepAt(steps, elapsedSeconds)?.name ?? 'between';
    for (const url of adminUrls) {
      const reply = http.get(`${url}/metrics`, READING);
      const total = reply.status === 200 ? engineCallsOf(reply.body ?? '') : undefined;
      if (total === undefined) continue;
      watched.add(1);
      const before = last.get(url);
      last.set(url, total);
      if (before !== undefined) engineCalls.add(total >= before ? total - before : total);
    }
    sleep(READING_SECONDS);
  }
}
