/**
 * The curves of a shadow: both sides of each figure, since the start of the shadow.
 * @typedef {import('../api.mjs').ShadowSample} ShadowSample
 * @typedef {import('../api.mjs').Side} Side
 * @typedef {import('./charts.mjs').Colour} Colour
 *
 * @typedef {object} SideLook One side in the time of one point.
 * @property {number | undefined} readsPerSecond
 * @property {number | undefined} hitRatio
 * @property {number | undefined} errorRate
 * @property {number | undefined} p99Ms The highest of its samples: percentiles have no mean.
 *
 * @typedef {{ readonly primary: SideLook, readonly candidate: SideLook }} ShadowLook
 * @typedef {import('./charts.mjs').Moment<ShadowLook>} ShadowMoment
 */

import { amountText, clockText, durationText, percentText, stopwatchText } from '../../../../report/format.mjs';

/** Points along a plot of full width; a plot is not much wider in pixels. */
const MAX_POINTS = 300;
/** With fewer reads a hit ratio is chance; a quiet shadow gets one point per `MAX_POINT_MS`. */
const MIN_POINT_READS = 50;
const MAX_POINT_MS = 30_000;
/** A sample that begins later after the one before, in its own lengths, is drawn after a gap. */
const GAP_SAMPLES = 3;
const MIN_SPAN_MS = 60_000;

/** Axis of the time since the start of the shadow. */
export const SHADOW_AXIS = /** @type {import('./plots.mjs').TimeAxis} */ ({
  isWallTime: false,
  range: (lastMs = 0) => [0, Math.max(MIN_SPAN_MS, lastMs) / 1000],
  stepsS: [10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 432_000],
  tickText: clockText,
  momentText: stopwatchText,
});

/** @type {readonly import('./charts.mjs').Chart<ShadowLook>[]} */
export const SHADOW_CHARTS = [
  {
    id: 'shadow-hits',
    title: 'Hit ratio',
    scale: 'share',
    format: percentText,
    lines: bothSides(({ hitRatio }) => hitRatio),
  },
  {
    id: 'shadow-p99',
    title: 'Time of a read, p99',
    scale: 'log',
    format: durationText,
    lines: bothSides(({ p99Ms }) => p99Ms),
  },
  {
    id: 'shadow-reads',
    title: 'Reads per second',
    scale: 'count',
    format: amountText,
    lines: bothSides(({ readsPerSecond }) => readsPerSecond),
  },
  {
    id: 'shadow-errors',
    title: 'Errors, of reads and writes',
    scale: 'part',
    format: percentText,
    lines: bothSides(({ errorRate }) => errorRate),
  },
];

/**
 * The lines of both sides. The primary is dashed and lies on top, because an equal candidate would hide it.
 * @param {(side: SideLook) => number | undefined} read
 * @returns {readonly import('./charts.mjs').Line<ShadowLook>[]}
 */
function bothSides(read) {
  return [
    { name: 'candidate', colour: 'engine', read: ({ candidate }) => read(candidate) },
    { name: 'primary', colour: 'store', dashed: true, read: ({ primary }) => read(primary) },
  ];
}

/**
 * The points of the curves: a few samples each, so that a point has enough reads and a long shadow not too many points.
 * @param {readonly ShadowSample[]} samples In the order of time.
 * @returns {readonly ShadowMoment[]}
 */
export function momentsOf(samples) {
  const pointMs = (samples.at(-1)?.atMs ?? 0) / MAX_POINTS;
  /** @type {ShadowMoment[]} */
  const moments = [];
  /** @type {ShadowSample[]} */
  let open = [];
  let endMs = samples[0]?.atMs ?? 0;
  const close = () => {
    if (open.length === 0) return;
    moments.push({ atMs: endMs, look: { primary: lookOf(open, 'primary'), candidate: lookOf(open, 'candidate') } });
    open = [];
  };
  const hasEnough = () => {
    const reads = open.reduce((sum, { figures }) => sum + figures.primary.compared, 0);
    return reads >= MIN_POINT_READS || lengthMs(open) >= MAX_POINT_MS;
  };
  for (const sample of samples) {
    const ownMs = lengthMs([sample]);
    if (sample.atMs - ownMs - endMs > GAP_SAMPLES * ownMs) {
      close();
      moments.push({ atMs: endMs + 1 });
    }
    open.push(sample);
    endMs = sample.atMs;
    if (lengthMs(open) >= pointMs && hasEnough()) close();
  }
  // The last point is drawn before it has its whole time, but not from a few reads.
  if (moments.length === 0 || hasEnough()) close();
  return moments;
}

/** @param {readonly ShadowSample[]} samples */
function lengthMs(samples) {
  return samples.reduce((sum, { figures }) => sum + figures.seconds * 1000, 0);
}

/**
 * @param {readonly ShadowSample[]} samples
 * @param {'primary' | 'candidate'} name
 * @returns {SideLook}
 */
function lookOf(samples, name) {
  /** @param {(side: Side) => number} of */
  const sum = (of) => samples.reduce((total, { figures }) => total + of(figures[name]), 0);
  const asked = sum(({ reads, writes }) => reads + writes);
  const p99s = samples.flatMap(({ figures }) => figures[name].p99Ms ?? []);
  return {
    readsPerSecond: ratio(
      sum(({ reads }) => reads),
      lengthMs(samples) / 1000,
    ),
    hitRatio: ratio(
      sum(({ hits }) => hits),
      sum(({ compared }) => compared),
    ),
    errorRate: ratio(
      sum(({ errors }) => Object.values(errors).reduce((total, count) => total + count, 0)),
      asked,
    ),
    p99Ms: p99s.length === 0 ? undefined : Math.max(...p99s),
  };
}

/**
 * @param {number} part
 * @param {number} whole
 */
function ratio(part, whole) {
  return whole > 0 ? part / whole : undefined;
}
