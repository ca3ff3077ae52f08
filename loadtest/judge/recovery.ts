import type { Sample } from '../sample/sample.ts';
import type { Recovery, RunEvent, RunRecord, Second } from './record.ts';
import {
  hitRatioCurve,
  perSecond,
  type RatioPoint,
  ratioOf,
  type Stretch,
  samplesIn,
  seriesByPart,
  sumOfKnown,
  totalOf,
} from './series.ts';

/** What a loss is measured against, and how long it has to stay as good. */
const BEFORE_MS = 10_000;
const STAYS_MS = 10_000;
/** Zhang et al., HotStorage '20: recovered is within two points of before. */
const WITHIN = 0.02;
/** A second or two at the end of a run do not stay. */
const LEAST_POINTS = 3;

/**
 * Of each loss: how deep it went and when it was over. The stages of one drill are all measured against what was before
 * its first: losing a little again and again, or half of what was left already, is no recovery.
 */
export function recoveriesOf(record: RunRecord): readonly Recovery[] {
  const found: Recovery[] = [];
  const baselines = new Map<string, number>();
  for (const loss of lossesOf(record)) {
    const before = baselines.get(loss.drill ?? '') ?? ratioOf(secondsIn(record.seconds, justBefore(loss)));
    if (loss.drill !== undefined && before !== undefined) baselines.set(loss.drill, before);
    const recovery = before === undefined ? undefined : recoveryOf(record, loss, before);
    if (recovery !== undefined) found.push(recovery);
  }
  return found;
}

function recoveryOf(record: RunRecord, loss: Loss, hitRatioBefore: number): Recovery | undefined {
  const seconds = secondsIn(record.seconds, loss);
  const points = hitRatioCurve(seconds);
  if (points.length === 0) return undefined;
  const recoveredAtMs = backFor(points, hitRatioBefore - WITHIN);
  const calls = engineRates(record.samples, loss);
  const callsBefore = engineRates(record.samples, justBefore(loss));
  const count = (read: (second: Second) => number): number => seconds.reduce((sum, second) => sum + read(second), 0);
  return {
    step: loss.step,
    what: loss.what,
    lostAtMs: loss.fromMs,
    hitRatioBefore,
    hitRatioLowest: Math.min(...points.map(({ ratio }) => ratio)),
    ...(recoveredAtMs === undefined ? {} : { recoveredAfterMs: Math.max(0, recoveredAtMs - loss.fromMs) }),
    ...(callsBefore.length === 0
      ? {}
      : { engineCallsPerSecondBefore: callsBefore.reduce((sum, rate) => sum + rate, 0) / callsBefore.length }),
    ...(calls.length === 0 ? {} : { engineCallsPerSecondMost: Math.max(...calls) }),
    shed: count(({ outcomes }) => outcomes.shed ?? 0),
    // Second by second nobody counts what was no honest shed; the service calls nearly all of it failed.
    dishonest: count(({ outcomes }) => outcomes.failed ?? 0),
  };
}

/** Since when it was as before, and stayed so for a while, or for as long as anybody looked. */
function backFor(points: readonly RatioPoint[], least: number): number | undefined {
  return points.find(({ atMs }, at) => {
    const next = points.slice(at).filter((point) => point.atMs < atMs + STAYS_MS);
    return next.length >= LEAST_POINTS && next.every(({ ratio }) => ratio >= least);
  })?.atMs;
}

/** Engine calls a second of the fleet, between each two samples. */
function engineRates(samples: readonly Sample[], stretch: Stretch): readonly number[] {
  const own = samplesIn(samples, stretch);
  return own.slice(1).flatMap((after, at) => {
    const pair = own.slice(at, at + 2);
    const calls = seriesByPart(
      pair,
      ({ replicas }) => replicas,
      ({ domains }) => sumOfKnown(Object.values(domains).map(({ engineCalls }) => engineCalls)),
    );
    const rate = after.replicas.length === 0 ? undefined : totalOf(calls, perSecond);
    return rate === undefined ? [] : [rate];
  });
}

function justBefore({ fromMs }: Stretch): Stretch {
  return { fromMs: fromMs - BEFORE_MS, toMs: fromMs };
}

/** Whole seconds only: one that began before the loss is half of each. */
function secondsIn(seconds: readonly Second[], { fromMs, toMs }: Stretch): readonly Second[] {
  return seconds.filter(({ atMs }) => atMs - 1000 >= fromMs && atMs <= toMs);
}

/** Keys were taken away at `fromMs`; until `toMs` no others were. */
export interface Loss extends Stretch {
  readonly step: string;
  /** As the event tells it: `25 % of the keys`. */
  readonly what: string;
  readonly drill?: string;
}

/** Domains that are flushed together lose their keys within one poll of the control document or two. */
const TOGETHER_MS = 1500;

/** In the order in which they happened. A drill whose stages are known begins to lose with the first of them. */
export function lossesOf({ summary, events, seconds }: RunRecord): readonly Loss[] {
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
        ...(drill && { drill }),
      };
    });
}
