import { rungsOf } from './knee.ts';
import { msWords, numberWords } from './number-words.ts';
import type { CheckSummary, GeneratorSummary, StepSummary } from './summary.ts';

export interface Run {
  readonly steps: readonly StepSummary[];
  readonly generator: GeneratorSummary;
  /** What was found in answers; absent: nobody looked. */
  readonly checks?: readonly CheckSummary[];
  /** A ladder that goes on until something gives. */
  readonly isEndless?: boolean;
}

/** Of the VUs: above this, the next stall finds none that is free. */
const NEARLY_ALL = 0.9;

/**
 * Why the figures of a run are not those of the service: empty when they are. What happened to the generator in the
 * rungs above the first that broke spoils nothing: the knee was known by then.
 */
export function spoiledBy({ steps, generator, isEndless = false }: Run): readonly string[] {
  if (steps.every(({ searches }) => searches === 0)) return ['no step ran: not a single search was sent'];
  if (steps.every(({ step }) => step.limits === undefined)) return ['no step has limits: nothing was judged'];
  // Where breaking is what the ladder is for, a stall that uses up the VUs is an answer.
  const isAnswer = (one: StepSummary): boolean => isEndless && one.result === 'broke' && isStalled(one, generator);
  const beyond = [...beyondKnee(steps), ...rungsOf(steps).filter(isAnswer)];
  const telling = steps.filter((one) => !beyond.includes(one));
  return [
    ...faultReason(generator),
    ...droppedReason(telling, beyond, generator),
    ...vusReason(telling, beyond, generator),
    ...silentReason(telling),
    ...emptyReason(steps, generator),
  ];
}

/** The rungs above the first that broke. */
export function beyondKnee(steps: readonly StepSummary[]): readonly StepSummary[] {
  const rungs = rungsOf(steps);
  const broke = rungs.findIndex(({ result }) => result === 'broke');
  return broke === -1 ? [] : rungs.slice(broke + 1);
}

function faultReason({ scriptFaults }: GeneratorSummary): readonly string[] {
  if (scriptFaults === 0) return [];
  return [`${iterations(scriptFaults)} ended in an exception of the script: k6's log has it`];
}

function droppedReason(
  telling: readonly StepSummary[],
  beyond: readonly StepSummary[],
  generator: GeneratorSummary,
): readonly string[] {
  const parts = telling.filter(({ dropped }) => dropped > 0);
  const named = droppedIn(telling);
  // What no step counted was dropped between them: nobody can say before which.
  const nameless = beyond.some(({ searches }) => searches > 0)
    ? 0
    : Math.max(0, generator.dropped - named - droppedIn(beyond));
  if (named + nameless === 0) return [];
  const where = [
    ...parts.map(({ step, dropped, droppedOver }) => `${numberWords(dropped)} in ${droppedOver ?? step.name}`),
    ...(nameless > 0 ? [`${numberWords(nameless)} outside of the steps`] : []),
  ];
  const worst = parts.toSorted((a, b) => b.dropped - a.dropped).slice(0, 1);
  const looks = worst.flatMap((one) => looksLike(hardestOf(one, telling), generator));
  return [
    [
      `${iterations(named + nameless)} could not be begun (${where.join(', ')}): less was sent than planned`,
      ...looks,
    ].join('. '),
  ];
}

/** k6 tells dropped requests by stint: of its steps, the one that needed most virtual users. */
function hardestOf(first: StepSummary, telling: readonly StepSummary[]): StepSummary {
  const from = telling.indexOf(first);
  const end = telling.findIndex(({ step }, at) => at > from && step.goesOn !== true);
  const need = ({ step, latencyMs }: StepSummary): number => step.ratePerSecond * (latencyMs?.p99 ?? 0);
  const stint = telling.slice(from, end === -1 ? telling.length : end);
  return stint.reduce((hardest, one) => (need(one) > need(hardest) ? one : hardest), first);
}

function vusReason(
  telling: readonly StepSummary[],
  beyond: readonly StepSummary[],
  generator: GeneratorSummary,
): readonly string[] {
  const { vusUsed, vusCap } = generator;
  if (vusCap <= 0 || vusUsed < NEARLY_ALL * vusCap) return [];
  // The VUs of a run are known only as one figure: they are laid to the rungs beyond the knee where those explain it.
  const isBeyond = beyond.some((one) => one.dropped > 0 || isStalled(one, generator));
  if (isBeyond && droppedIn(telling) === 0) return [];
  // Said once: the steps that dropped have said it already.
  const stalled = telling.filter((one) => one.dropped === 0 && isStalled(one, generator));
  const words = `${numberWords(vusUsed)} of ${numberWords(vusCap)} VUs were in use: the generator had none to spare`;
  return [[words, ...stalled.slice(0, 1).flatMap((one) => looksLike(one, generator))].join('. ')];
}

/**
 * Requests that wait for a slow service hold a VU each, so that a stall and a weak generator look the same to k6.
 * Little's law tells what it looks like: requests under way = requests a second × seconds each takes.
 */
function looksLike(one: StepSummary, generator: GeneratorSummary): readonly string[] {
  const { step, latencyMs } = one;
  if (latencyMs === undefined) return [];
  const meanMs = meanOf(latencyMs);
  const cap = capOf(one, generator);
  const figures =
    `${numberWords(step.ratePerSecond)}/s × p99 ${msWords(latencyMs.p99)} = ` +
    `${numberWords(needed(step.ratePerSecond, latencyMs.p99))} VUs ` +
    `(about ${numberWords(needed(step.ratePerSecond, meanMs))} at the mean) of ${numberWords(cap)}`;
  if (isStalled(one, generator)) {
    return [
      `In ${step.name} it looks like the service: ${figures}. Raise MAX_VUS until they do not run out, or let the abort threshold end the run`,
    ];
  }
  const atSlowest = needed(step.ratePerSecond, latencyMs.max);
  if (atSlowest < cap) {
    return [`In ${step.name} it looks like the generator: the answers were quick enough, ${figures}`];
  }
  return [
    `In ${step.name} something stood still for a moment, service or generator: ${figures}, but ${numberWords(atSlowest)} at the slowest (${msWords(latencyMs.max)})`,
  ];
}

function isStalled(one: StepSummary, generator: GeneratorSummary): boolean {
  const { step, latencyMs } = one;
  return latencyMs !== undefined && (step.ratePerSecond * latencyMs.p99) / 1000 >= capOf(one, generator);
}

/** Each step may have VUs of its own, fewer than the step that has most. */
function capOf({ vusCap }: StepSummary, generator: GeneratorSummary): number {
  return vusCap ?? generator.vusCap;
}

/** From what percentiles say: the area below them. */
function meanOf({ p50, p90, p95, p99, max }: NonNullable<StepSummary['latencyMs']>): number {
  return 0.5 * p50 + 0.2 * (p50 + p90) + 0.025 * (p90 + p95) + 0.02 * (p95 + p99) + 0.005 * (p99 + max);
}

function needed(ratePerSecond: number, ms: number): number {
  return Math.ceil((ratePerSecond * ms) / 1000);
}

function silentReason(telling: readonly StepSummary[]): readonly string[] {
  return telling
    .filter(({ step, searches, seconds }) => step.limits !== undefined && searches === 0 && seconds > 0)
    .map(({ step }) => `${step.name} ran without a single search`);
}

/** A step that was never reached has no samples, and is told as such. */
function emptyReason(steps: readonly StepSummary[], { emptyThresholds }: GeneratorSummary): readonly string[] {
  const unreached = new Set(steps.filter(({ searches }) => searches === 0).map(({ step }) => step.name));
  return emptyThresholds
    .filter((threshold) => !unreached.has(/\b(?:step|scenario):([\w-]+)/.exec(threshold)?.[1] ?? ''))
    .map((threshold) => `the threshold on ${threshold} had no samples: k6 takes it for passed`);
}

function droppedIn(steps: readonly StepSummary[]): number {
  return steps.reduce((sum, { dropped }) => sum + dropped, 0);
}

function iterations(count: number): string {
  return count === 1 ? '1 request' : `${numberWords(count)} requests`;
}
