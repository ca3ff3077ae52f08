import { capitalized } from '../../report/components.ts';
import { amountText, countText, durationText, percentText, pointsText } from '../../report/format.ts';
import { medianOf } from '../../report/plot/curve.ts';
import type { Criterion, ShadowFigures, ShadowSample, ShadowVerdict } from './figures.ts';

interface JudgeOptions {
  /** The recorded intervals in order of time. They tell which time is covered; their percentiles cannot be joined. */
  readonly samples: readonly ShadowSample[];
  /** Since the start of the shadow, as far as this process has recorded it. */
  readonly total: ShadowFigures;
  /** Keys whose values were wrong at any time, also before this process began to record. */
  readonly wrongKeys: readonly string[];
  /** True figures between two times since the start of the shadow. */
  readonly between: (fromMs: number, toMs: number) => ShadowFigures;
  /** The time for which the candidate must have been as good as the primary. */
  readonly forMs: number;
  /** Milliseconds since the start of the shadow. */
  readonly nowMs: number;
}

/** Reads without which percentiles and small rates are chance: a p99 of 1,000 reads has ten above it. */
const MIN_READS = 1000;
/** The candidate must be full in every part of the time: a mean would hide a node that lost its keys for a minute. */
const SLICES = 10;
/** With fewer reads, one key more or less is more than the bound of the hit ratio. */
const MIN_SLICE_READS = 50;
/** Share of the slices that must have that number of reads. A quiet moment is no reason to begin again. */
const MIN_MEASURED = 0.8;
const MAX_HIT_POINTS = 2;
/** A smaller difference is shown as none. */
const SHOWN_POINTS = 0.05;
/** A p99 varies by some percent between equal servers, and one millisecond more is no difference for a user. */
const MAX_P99_FACTOR = 1.25;
const MAX_P99_MORE_MS = 1;
const MAX_ERROR_POINTS = 0.1;
/** Intervals without figures before the time counts as not covered: fewer are a late timer. */
const MAX_GAP_INTERVALS = 3;

/**
 * Judges whether the candidate is as good as the primary. A missed criterion decides; one that is not measured leaves
 * the verdict open.
 */
export function judge({ samples, total, wrongKeys, between, forMs, nowMs }: JudgeOptions): ShadowVerdict {
  const recorded = recordedUntil(samples, nowMs);
  const [fromMs, toMs] = [recorded.toMs - forMs, recorded.toMs];
  const window: Window = {
    fromMs,
    toMs,
    forMs,
    coveredMs: Math.min(forMs, toMs - recorded.fromMs),
    intervalMs: medianOf(samples.filter(({ atMs }) => atMs > fromMs).map(lengthMs)) ?? 0,
    figures: between(fromMs, toMs),
    between,
  };
  const measured = [hitRatio(window), latency(window), errors(window), values(total, wrongKeys.length)];
  const criteria = [duration(window), volume(window), ...measured];
  const missed = criteria.filter(({ met }) => met === 'no');
  const open = criteria.filter(({ met }) => met === 'not-measured');
  if (missed.length > 0) return { kind: 'do-not', why: `${capitalized(listed(missed))}.`, criteria };
  if (open.length > 0) return { kind: 'undecided', why: `Not measured yet: ${listed(open)}.`, criteria };
  return { kind: 'cut-over', why: `For ${durationText(forMs)}: ${listed(measured)}.`, criteria };
}

/** The time that the verdict covers, and its figures. */
interface Window {
  readonly fromMs: number;
  readonly toMs: number;
  readonly forMs: number;
  /** Length of the recorded time at the end of the window: there is no gap in it. */
  readonly coveredMs: number;
  /** Usual length of a recorded interval. */
  readonly intervalMs: number;
  readonly figures: ShadowFigures;
  readonly between: JudgeOptions['between'];
}

/** The last stretch of recorded time without a gap. It ends now when the recording has stopped, and is empty then. */
function recordedUntil(
  samples: readonly ShadowSample[],
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number } {
  const last = samples.at(-1);
  if (last === undefined || nowMs - last.atMs > MAX_GAP_INTERVALS * lengthMs(last))
    return { fromMs: nowMs, toMs: nowMs };
  let fromMs = last.atMs - lengthMs(last);
  for (let at = samples.length - 2; at >= 0; at -= 1) {
    const [before, after] = [samples[at], samples[at + 1]];
    if (before === undefined || after === undefined) break;
    const longest = Math.max(lengthMs(before), lengthMs(after));
    if (fromMs - before.atMs > MAX_GAP_INTERVALS * longest) break;
    fromMs = Math.min(fromMs, before.atMs - lengthMs(before));
  }
  return { fromMs: Math.max(0, fromMs), toMs: last.atMs };
}

function lengthMs({ figures }: ShadowSample): number {
  return figures.seconds * 1000;
}

function duration({ forMs, coveredMs }: Window): Criterion {
  // Times are sums of fractions of milliseconds.
  const isMet = forMs - coveredMs < 1;
  const more = isMet ? '' : `, ${durationText(forMs - coveredMs)} to go`;
  return {
    name: 'duration',
    what: `${durationText(coveredMs)} of ${durationText(forMs)} are recorded${more}`,
    met: isMet ? 'yes' : 'not-measured',
    value: coveredMs,
    bound: forMs,
  };
}

function volume(window: Window): Criterion {
  const compared = comparedReads(window.figures);
  const isMet = compared >= MIN_READS;
  const more = isMet ? '' : `, ${moreTime(window)}`;
  return {
    name: 'volume',
    what: `${countText(compared)} reads are compared (at least ${countText(MIN_READS)})${more}`,
    met: isMet ? 'yes' : 'not-measured',
    value: compared,
    bound: MIN_READS,
  };
}

/** The time until the window has enough reads, at the present rate. */
function moreTime({ figures, forMs }: Window): string {
  const perMs = readsPerMs(figures);
  if (perMs === 0) return 'none arrive now';
  if (perMs * forMs < MIN_READS) return TOO_FEW;
  return `about ${durationText((MIN_READS - comparedReads(figures)) / perMs)} to go`;
}

const TOO_FEW = 'it takes a larger fraction or a longer time';

function readsPerMs(figures: ShadowFigures): number {
  return figures.seconds > 0 ? comparedReads(figures) / (figures.seconds * 1000) : 0;
}

/** Reads without an error on the side that has fewer of them. */
function comparedReads({ primary, candidate }: ShadowFigures): number {
  return Math.min(primary.compared, candidate.compared);
}

function hitRatio(window: Window): Criterion {
  const { fromMs, toMs, forMs, intervalMs, figures } = window;
  // A slice shorter than two intervals may hold none.
  const count = Math.max(1, Math.min(SLICES, Math.floor(forMs / Math.max(1, 2 * intervalMs))));
  const sliceMs = forMs / count;
  const slices = Array.from({ length: count }, (_, at) => {
    const endMs = at === count - 1 ? toMs : fromMs + (at + 1) * sliceMs;
    return pointsBelow(window.between(fromMs + at * sliceMs, endMs));
  });
  const measured = slices.filter((points) => points !== undefined);
  const needed = Math.ceil(count * MIN_MEASURED);
  const worst = measured.length === 0 ? undefined : Math.max(...measured);
  const criterion = {
    name: 'hit-ratio' as const,
    bound: MAX_HIT_POINTS,
    value: worst,
  };
  const bound = `at most ${MAX_HIT_POINTS}`;
  const below =
    worst === undefined || worst < SHOWN_POINTS
      ? "the hit ratio is never below the primary's"
      : `the hit ratio is up to ${pointsText(worst)} below the primary's (${bound})`;
  if (worst !== undefined && isAbove(worst, MAX_HIT_POINTS)) {
    const last = slices.findLastIndex((points) => points !== undefined && isAbove(points, MAX_HIT_POINTS));
    const sinceMs = (count - 1 - last) * sliceMs;
    return {
      ...criterion,
      met: 'no',
      what: sinceMs === 0 ? below : `${below}, but not in the last ${durationText(sinceMs)}`,
    };
  }
  if (measured.length >= needed) return { ...criterion, met: 'yes', what: below };
  const parts = `the hit ratio is known in ${measured.length} of ${count} parts of the time (at least ${needed})`;
  // The duration says how long the rest takes, unless the parts have too few reads.
  const more = readsPerMs(figures) * sliceMs < MIN_SLICE_READS ? `: too few reads, ${TOO_FEW}` : '';
  return { ...criterion, met: 'not-measured', what: `${parts}${more}` };
}

/** How far the candidate's hit ratio is below the primary's; undefined with too few reads. */
function pointsBelow(figures: ShadowFigures): number | undefined {
  const { primary, candidate } = figures;
  if (comparedReads(figures) < MIN_SLICE_READS) return undefined;
  if (primary.hitRatio === undefined || candidate.hitRatio === undefined) return undefined;
  return (primary.hitRatio - candidate.hitRatio) * 100;
}

/** Differences of shares have errors of rounding: 0.9 − 0.88 is above 0.02. */
function isAbove(value: number, bound: number): boolean {
  return value > bound + 1e-9;
}

function latency({ figures: { primary, candidate } }: Window): Criterion {
  const reads = Math.min(primary.reads, candidate.reads);
  if (reads < MIN_READS || primary.p99Ms === undefined || candidate.p99Ms === undefined) {
    return { name: 'latency', met: 'not-measured', what: `a p99 takes ${countText(MIN_READS)} reads` };
  }
  const bound = Math.max(primary.p99Ms * MAX_P99_FACTOR, primary.p99Ms + MAX_P99_MORE_MS);
  const value = candidate.p99Ms;
  return {
    name: 'latency',
    what: `the p99 is ${durationText(value)}, the primary's ${durationText(primary.p99Ms)} (at most ${durationText(bound)})`,
    met: isAbove(value, bound) ? 'no' : 'yes',
    value,
    bound,
  };
}

/** A candidate that is down is known before there are many reads, and a single error among few is no rate. */
function errors({ figures: { primary, candidate } }: Window): Criterion {
  const attempts = candidate.reads + candidate.writes;
  const [theirs, own] = [candidate.errorRate ?? 0, primary.errorRate ?? 0];
  const value = ((theirs - own) * attempts * 100) / Math.max(attempts, MIN_READS);
  const isMissed = isAbove(value, MAX_ERROR_POINTS);
  const criterion = { name: 'errors', bound: MAX_ERROR_POINTS } as const;
  if (!isMissed && attempts < MIN_READS) {
    return {
      ...criterion,
      met: 'not-measured',
      what: `a rate of errors takes ${countText(MIN_READS)} reads and writes`,
    };
  }
  const rates = `${percentText(theirs)} of reads and writes fail, of the primary's ${percentText(own)}`;
  return {
    ...criterion,
    value,
    what: `${rates} (at most ${amountText(MAX_ERROR_POINTS)} points more)`,
    met: isMissed ? 'no' : 'yes',
  };
}

/** Since the start: a store that has returned one wrong value may return another. */
function values({ agreement }: ShadowFigures, wrongKeys: number): Criterion {
  const wrong = Math.max(agreement.wrong, wrongKeys);
  const compared = Math.max(agreement.compared, wrong);
  const all = `${countText(compared)} compared`;
  const what =
    wrong > 0
      ? `${countText(wrong)} of ${all} values ${wrong === 1 ? 'is' : 'are'} wrong (none may be)`
      : compared > 0
        ? `no value of ${all} is wrong`
        : 'no value is compared yet';
  const met = wrong > 0 ? 'no' : compared > 0 ? 'yes' : 'not-measured';
  return { name: 'values', what, met, value: wrong, bound: 0 };
}

function listed(criteria: readonly Criterion[]): string {
  return criteria.map(({ what }) => what).join('; ');
}
