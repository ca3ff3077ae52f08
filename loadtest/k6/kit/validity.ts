import {
  type GeneratorSummary,
  type Knee,
  msWords,
  numberWords,
  type ScriptSummary,
  type StepSummary,
} from './summary.ts';

export interface Run extends Pick<ScriptSummary, 'steps' | 'generator'>, Partial<Pick<ScriptSummary, 'checks'>> {
  /** A ladder that goes on until the service breaks. */
  readonly isEndless?: boolean;
}

/** The rungs of a ladder: each step with a higher multiplier than all before it. A step back down is not a rung. */
export function rungsOf(steps: readonly StepSummary[]): readonly StepSummary[] {
  let highest = 0;
  return steps.filter(({ step: { multiplier, limits } }) => {
    if (multiplier === undefined || limits === undefined || multiplier <= highest) return false;
    highest = multiplier;
    return true;
  });
}

/** The rung at which a ladder stopped to hold; undefined if no step is a rung. */
export function kneeOf(steps: readonly StepSummary[]): Knee | undefined {
  const rungs = rungsOf(steps);
  if (rungs.length === 0) return undefined;
  const end = rungs.findIndex(({ result }) => result !== 'held');
  const held = rungs[(end === -1 ? rungs.length : end) - 1]?.step.name;
  // A rung that was not reached gives no result, and neither do the rungs above it.
  const broke = rungs[end]?.result === 'broke' ? rungs[end].step.name : undefined;
  return { held, broke };
}

export function beyondKnee(steps: readonly StepSummary[]): readonly StepSummary[] {
  const rungs = rungsOf(steps);
  const broke = rungs.findIndex(({ result }) => result === 'broke');
  return broke === -1 ? [] : rungs.slice(broke + 1);
}

/** Share of the VUs in use above which the next stall finds none free. */
const NEARLY_ALL = 0.9;

/**
 * The reasons why the figures of a run are not those of the service; empty for a valid run. A weak generator in the rungs
 * above the first broken one does not invalidate the run, because the knee was already known.
 */
export function invalidReasons({ steps, generator, isEndless = false }: Run): readonly string[] {
  if (steps.every(({ searches }) => searches === 0)) return ['no step ran: not a single search was sent'];
  if (steps.every(({ step }) => step.limits === undefined)) return ['no step has limits: nothing was judged'];
  // An endless ladder is meant to break, so a stall that uses up the VUs is a result.
  const isResult = (one: StepSummary): boolean => isEndless && one.result === 'broke' && isStalled(one, generator);
  const beyond = [...beyondKnee(steps), ...rungsOf(steps).filter(isResult)];
  const counted = steps.filter((one) => !beyond.includes(one));
  return [
    ...(generator.scriptFaults === 0
      ? []
      : [`${requestWords(generator.scriptFaults)} ended in an exception of the script: k6's log has it`]),
    ...droppedReason(counted, beyond, generator),
    ...vusReason(counted, beyond, generator),
    ...counted
      .filter(({ step, searches, seconds }) => step.limits !== undefined && searches === 0 && seconds > 0)
      .map(({ step }) => `${step.name} ran without a single search`),
    ...emptyReason(steps, generator),
  ];
}

function droppedReason(
  counted: readonly StepSummary[],
  beyond: readonly StepSummary[],
  generator: GeneratorSummary,
): readonly string[] {
  const parts = counted.filter(({ dropped }) => dropped > 0);
  const inSteps = droppedIn(counted);
  // The rest of the total was dropped between steps. It cannot be attributed once a rung beyond the knee ran.
  const between = beyond.some(({ searches }) => searches > 0)
    ? 0
    : Math.max(0, generator.dropped - inSteps - droppedIn(beyond));
  if (inSteps + between === 0) return [];
  const where = [
    ...parts.map(({ step, dropped, droppedOver }) => `${numberWords(dropped)} in ${droppedOver ?? step.name}`),
    ...(between > 0 ? [`${numberWords(between)} outside of the steps`] : []),
  ];
  const worst = parts.toSorted((a, b) => b.dropped - a.dropped).slice(0, 1);
  const causes = worst.flatMap((one) => causeWords(hardestOf(one, counted), generator));
  const words = `${requestWords(inSteps + between)} could not be begun (${where.join(', ')}): less was sent than planned`;
  return [[words, ...causes].join('. ')];
}

/** The step of a segment that needed most VUs: k6 counts dropped requests by segment. */
function hardestOf(first: StepSummary, counted: readonly StepSummary[]): StepSummary {
  const from = counted.indexOf(first);
  const end = counted.findIndex(({ step }, at) => at > from && step.goesOn !== true);
  const need = ({ step, latencyMs }: StepSummary): number => step.ratePerSecond * (latencyMs?.p99 ?? 0);
  const segment = counted.slice(from, end === -1 ? counted.length : end);
  return segment.reduce((hardest, one) => (need(one) > need(hardest) ? one : hardest), first);
}

function vusReason(
  counted: readonly StepSummary[],
  beyond: readonly StepSummary[],
  generator: GeneratorSummary,
): readonly string[] {
  const { vusUsed, vusCap } = generator;
  if (vusCap <= 0 || vusUsed < NEARLY_ALL * vusCap) return [];
  // k6 gives one figure for the whole run: it is attributed to the rungs beyond the knee if these can explain it.
  const isBeyond = beyond.some((one) => one.dropped > 0 || isStalled(one, generator));
  if (isBeyond && droppedIn(counted) === 0) return [];
  // Steps that dropped requests have their own reason already.
  const stalled = counted.filter((one) => one.dropped === 0 && isStalled(one, generator));
  const words = `${numberWords(vusUsed)} of ${numberWords(vusCap)} VUs were in use: the generator had none to spare`;
  return [[words, ...stalled.slice(0, 1).flatMap((one) => causeWords(one, generator))].join('. ')];
}

/**
 * The probable cause. Each request that waits for a slow service holds a VU, so a stall and a weak generator look the same
 * to k6. Little's law separates them: concurrent requests = requests a second × seconds per request.
 */
function causeWords(one: StepSummary, generator: GeneratorSummary): readonly string[] {
  const { step, latencyMs } = one;
  if (latencyMs === undefined) return [];
  const { p50, p90, p95, p99, max } = latencyMs;
  // The mean, estimated from the area below the percentiles.
  const meanMs = 0.5 * p50 + 0.2 * (p50 + p90) + 0.025 * (p90 + p95) + 0.02 * (p95 + p99) + 0.005 * (p99 + max);
  const vusAt = (ms: number): number => Math.ceil((step.ratePerSecond * ms) / 1000);
  const cap = capOf(one, generator);
  const figures =
    `${numberWords(step.ratePerSecond)}/s × p99 ${msWords(p99)} = ` +
    `${numberWords(vusAt(p99))} VUs (about ${numberWords(vusAt(meanMs))} at the mean) of ${numberWords(cap)}`;
  if (isStalled(one, generator)) {
    return [
      `In ${step.name} it looks like the service: ${figures}. Raise MAX_VUS until they do not run out, or let the abort threshold end the run`,
    ];
  }
  if (vusAt(max) < cap) {
    return [`In ${step.name} it looks like the generator: the answers were quick enough, ${figures}`];
  }
  return [
    `In ${step.name} something stood still for a moment, service or generator: ${figures}, but ${numberWords(vusAt(max))} at the slowest (${msWords(max)})`,
  ];
}

function isStalled(one: StepSummary, generator: GeneratorSummary): boolean {
  const { step, latencyMs } = one;
  return latencyMs !== undefined && (step.ratePerSecond * latencyMs.p99) / 1000 >= capOf(one, generator);
}

/** Each step can have its own maximum, lower than that of the largest step. */
function capOf({ vusCap }: StepSummary, generator: GeneratorSummary): number {
  return vusCap ?? generator.vusCap;
}

/** Thresholds without samples, except those of steps that were not reached, which have none for that reason. */
function emptyReason(steps: readonly StepSummary[], { emptyThresholds }: GeneratorSummary): readonly string[] {
  const unreached = new Set(steps.filter(({ searches }) => searches === 0).map(({ step }) => step.name));
  return emptyThresholds
    .filter((threshold) => !unreached.has(/\b(?:step|scenario):([\w-]+)/.exec(threshold)?.[1] ?? ''))
    .map((threshold) => `the threshold on ${threshold} had no samples: k6 takes it for passed`);
}

function droppedIn(steps: readonly StepSummary[]): number {
  return steps.reduce((sum, { dropped }) => sum + dropped, 0);
}

function requestWords(count: number): string {
  return count === 1 ? '1 request' : `${numberWords(count)} requests`;
}
