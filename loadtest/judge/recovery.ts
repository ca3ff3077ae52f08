import type { Sample } from '../sample/sample.ts';
import type { RunEvent, RunRecord, Second } from './record.ts';
import { hitRatioCurve, overDomains, ratioOf, samplesIn, sum, type TimeSpan, totalPerSecond } from './series.ts';

/** The time before a loss that gives the baseline. */
const BEFORE_MS = 10_000;
/** A recovered hit ratio must stay for this time. */
const STAYS_MS = 10_000;
/** Recovered means within two points of before: Zhang et al., HotStorage '20. */
const WITHIN = 0.02;
/** One or two seconds at the end of a run are too few. */
const MIN_POINTS = 3;

/** The effect of one loss of cached entries, until the hit ratio recovered. */
export type Recovery = ReturnType<typeof recoveriesOf>[number];

/**
 * The recovery from each loss. All stages of one drill have the same baseline, from before its first stage: otherwise a small
 * loss after many small losses would count as recovered.
 */
export function recoveriesOf(record: RunRecord) {
  const baselines = new Map<string, number>();
  return lossesOf(record).flatMap((loss) => {
    const before = baselines.get(loss.drill ?? '') ?? ratioOf(secondsIn(record.seconds, justBefore(loss)));
    if (loss.drill !== undefined && before !== undefined) baselines.set(loss.drill, before);
    return before === undefined ? [] : (recoveryOf(record, loss, before) ?? []);
  });
}

function recoveryOf(record: RunRecord, loss: Loss, hitRatioBefore: number) {
  const seconds = secondsIn(record.seconds, loss);
  const points = hitRatioCurve(seconds);
  if (points.length === 0) return undefined;
  const recoveredAtMs = recoveryTime(points, hitRatioBefore - WITHIN);
  const calls = engineRates(record.samples, loss);
  const callsBefore = engineRates(record.samples, justBefore(loss));
  const count = (read: (second: Second) => number): number => sum(seconds.map(read));
  return {
    step: loss.step,
    what: loss.what,
    lostAtMs: loss.fromMs,
    hitRatioBefore,
    hitRatioLowest: Math.min(...points.map(({ ratio }) => ratio)),
    // Undefined: it did not recover in this run.
    recoveredAfterMs: recoveredAtMs === undefined ? undefined : Math.max(0, recoveredAtMs - loss.fromMs),
    engineCallsPerSecondBefore: callsBefore.length === 0 ? undefined : sum(callsBefore) / callsBefore.length,
    engineCallsPerSecondMost: calls.length === 0 ? undefined : Math.max(...calls),
    shed: count(({ outcomes }) => outcomes.shed ?? 0),
    // The seconds have no count of 5xx answers other than sheds; nearly all of those have the outcome `failed`.
    dishonest: count(({ outcomes }) => outcomes.failed ?? 0),
  };
}

/** The first moment from which the ratio stayed at `min` or above for `STAYS_MS`, or until the last point. */
function recoveryTime(points: ReturnType<typeof hitRatioCurve>, min: number): number | undefined {
  return points.find(({ atMs }, at) => {
    const next = points.slice(at).filter((point) => point.atMs < atMs + STAYS_MS);
    return next.length >= MIN_POINTS && next.every(({ ratio }) => ratio >= min);
  })?.atMs;
}

/** Engine calls a second of all processes, between consecutive samples. */
function engineRates(samples: readonly Sample[], span: TimeSpan): readonly number[] {
  const own = samplesIn(samples, span);
  const calls = overDomains(({ engineCalls }) => engineCalls);
  return own
    .slice(1)
    .flatMap((_, at) => totalPerSecond(own.slice(at, at + 2), ({ replicas }) => replicas, calls) ?? []);
}

function justBefore({ fromMs }: TimeSpan): TimeSpan {
  return { fromMs: fromMs - BEFORE_MS, toMs: fromMs };
}

/** Whole seconds only: a second that began before the loss belongs to both times. */
function secondsIn(seconds: readonly Second[], { fromMs, toMs }: TimeSpan): readonly Second[] {
  return seconds.filter(({ atMs }) => atMs - 1000 >= fromMs && atMs <= toMs);
}

type Loss = ReturnType<typeof lossesOf>[number];

/** Domains that are flushed together lose their keys within two polls of the control document. */
const TOGETHER_MS = 1500;

/**
 * Keys were lost at `fromMs`, and no others until `toMs`. In order of time. A drill with known stages begins to lose keys
 * with the first stage.
 */
export function lossesOf({ summary, events, seconds }: RunRecord) {
  const staged = new Set(events.filter(({ kind }) => kind === 'drill-stage').map(({ drill }) => drill));
  const isLoss = ({ kind, drill }: RunEvent): boolean =>
    kind === 'flush' || kind === 'drill-stage' || (kind === 'drill-started' && !staged.has(drill));
  const starts: RunEvent[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const event of events.filter(isLoss).toSorted((a, b) => a.atMs - b.atMs)) {
    if (event.atMs - last > TOGETHER_MS) starts.push(event);
    last = event.atMs;
  }
  const endMs = seconds.at(-1)?.atMs ?? summary.startedAtMs + summary.durationMs;
  return starts
    .filter(({ atMs }) => atMs < endMs)
    .map(({ atMs: fromMs, text: what, drill }, at) => {
      const inStep = summary.steps.findLast(({ step }) => summary.startedAtMs + step.startSeconds * 1000 <= fromMs);
      return {
        fromMs,
        toMs: starts[at + 1]?.atMs ?? endMs,
        step: inStep?.step.name ?? '',
        what,
        drill,
      };
    });
}
