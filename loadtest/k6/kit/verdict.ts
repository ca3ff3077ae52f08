import { ALWAYS } from './page.ts';
import { plannedRate } from './step.ts';
import {
  type CheckSummary,
  type Knee,
  msWords,
  numberWords,
  percentWords,
  type StepSummary,
  secondsWords,
  type Verdict,
} from './summary.ts';
import { beyondKnee, invalidReasons, kneeOf, type Run, rungsOf } from './validity.ts';

/** Share of the planned duration that a step must hold: a short hold shows nothing. */
const MIN_HELD_SHARE = 0.9;
/** Maximum share of searches without an answer in an endless ladder: more is not an honest refusal. */
const MAX_UNANSWERED_SHARE = 0.01;

export type MeasuredStep = Omit<StepSummary, 'result' | 'broken'>;

/** Whether a step held, by its own limits. A step that was cut short before it broke counts as not run. */
export function judgeStep(measured: MeasuredStep): Pick<StepSummary, 'result' | 'broken'> {
  const { step, searches, seconds } = measured;
  if (searches === 0) return { result: 'not-run', broken: [] };
  if (step.limits === undefined) return { result: 'shown', broken: [] };
  const broken = brokenLimits(measured);
  if (broken.length > 0) return { result: 'broke', broken };
  if (seconds >= MIN_HELD_SHARE * step.holdSeconds) return { result: 'held', broken };
  const words = `cut short after ${secondsWords(seconds)} of ${secondsWords(step.holdSeconds)}`;
  return { result: 'not-run', broken: [words] };
}

/** One sentence per limit that did not hold. The limit of a figure that was not measured did not hold. */
function brokenLimits({ step, errorRate, latencyMs, hitRatio, dishonest, drill }: MeasuredStep): readonly string[] {
  if (step.limits === undefined) return [];
  const { maxErrorRate, maxP99Ms, minHitRatio, drillPasses } = step.limits;
  return [
    ...limitFault('error rate', errorRate, { max: maxErrorRate }, percentWords),
    ...(maxP99Ms === undefined ? [] : limitFault('p99', latencyMs?.p99, { max: maxP99Ms }, msWords)),
    ...(minHitRatio === undefined ? [] : limitFault('hit ratio', hitRatio, { min: minHitRatio }, percentWords)),
    ...(drillPasses === true && drill !== 'passed' ? [`drill ${drill ?? 'unfinished'} (has to pass)`] : []),
    // No limit allows these: without Retry-After a client does not know what to do.
    ...(dishonest > 0 ? [`${numberWords(dishonest)} × 5xx that was no honest shed (none is allowed)`] : []),
  ];
}

type Words = (value: number, decimals?: number) => string;

function limitFault(
  what: string,
  value: number | undefined,
  bound: { readonly max: number } | { readonly min: number },
  words: Words,
): readonly string[] {
  const [name, limit] = 'max' in bound ? ['limit', bound.max] : ['at least', bound.min];
  if (value === undefined) return [`${what} not measured (${name} ${words(limit)})`];
  if ('max' in bound ? value <= limit : value >= limit) return [];
  return [`${what} ${distinctText(value, limit, words)} (${name} ${words(limit)})`];
}

/** A figure with enough decimals to differ from its limit: `0.1 %` above a limit of `0.1 %` would explain nothing. */
function distinctText(value: number, limit: number, words: Words): string {
  const differs = [undefined, 2, 3, 4, 5, 6].find((decimals) => words(value, decimals) !== words(limit, decimals));
  return words(value, differs);
}

/**
 * The verdict on a run, as far as k6 can know it. An `invalid` run is neither passed nor failed: when a service stalls,
 * requests pile up and use up the VUs just as with a weak generator, and k6 cannot tell which; the reasons name the
 * probable cause.
 *
 * A ladder is judged up to its first broken rung. An endless ladder is meant to break: it fails if it sheds dishonestly or
 * if no rung holds.
 */
export function verdictOf(run: Run): Verdict {
  const { steps, isEndless = false } = run;
  const reasons = invalidReasons(run);
  if (reasons.length > 0) return { kind: 'invalid', detail: 'This run says nothing about the service.', reasons };
  const knee = kneeOf(steps);
  const rungs = isEndless ? rungsOf(steps) : [];
  const beyond = beyondKnee(steps);
  const judged = steps.filter((one) => one.step.limits !== undefined && !beyond.includes(one));
  const strict = judged.filter((one) => !rungs.includes(one));
  const faults = [
    ...wrongAnswers(run.checks ?? []),
    ...strict.filter(({ result }) => result === 'broke').map(brokeWords),
    ...unreachedWords(strict),
    ...endlessFaults(rungs, knee),
  ];
  const topHeld = steps.find(({ step }) => step.name === knee?.held);
  const held = topHeld === undefined ? [] : [`held up to ${rungWords(topHeld)}`];
  if (faults.length > 0) return { kind: 'failed', detail: `${[...faults, ...held].join('; ')}.`, knee };
  const broke = rungs.filter(({ step }) => step.name === knee?.broke).map(brokeWords);
  const detail =
    broke.length > 0 ? [...held, ...broke].join('; ') : heldWords(judged.filter(({ result }) => result === 'held'));
  return { kind: 'passed', detail: `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`, knee };
}

function wrongAnswers(checks: readonly CheckSummary[]): readonly string[] {
  return checks
    .filter(({ name, fails }) => fails > 0 && ALWAYS.includes(name))
    .map(({ name, passes, fails }) => {
      const all = numberWords(passes + fails);
      return `wrong answers: for ${numberWords(fails)} of ${all} it does not hold that ${name}`;
    });
}

function endlessFaults(rungs: readonly StepSummary[], knee: Knee | undefined): readonly string[] {
  const [first] = rungs;
  if (first === undefined) return [];
  const dishonest = rungs.filter((one) => one.dishonest > 0);
  if (dishonest.length > 0) return dishonest.map(brokeWords);
  // A service that is gone does not refuse honestly.
  const silent = rungs.filter(({ outcomes, searches }) => outcomes.unanswered > MAX_UNANSWERED_SHARE * searches);
  if (silent.length > 0) {
    return silent.map(({ step, outcomes }) => `${step.name} broke: ${numberWords(outcomes.unanswered)} got no answer`);
  }
  // A run that was stopped before any rung broke does not show its limit.
  const unreached = knee?.broke === undefined ? unreachedWords(rungs) : [];
  if (unreached.length > 0) return unreached;
  return knee?.held === undefined ? [brokeWords(first)] : [];
}

function brokeWords({ step, broken }: StepSummary): string {
  return `${step.name} broke: ${broken.join(', ')}`;
}

function unreachedWords(steps: readonly StepSummary[]): readonly string[] {
  const unreached = steps.filter(({ result }) => result === 'not-run');
  const cut = unreached
    .filter(({ broken }) => broken.length > 0)
    .map(({ step, broken }) => `${step.name} ${broken[0]}`);
  const never = unreached.filter(({ broken }) => broken.length === 0).map(({ step }) => step.name);
  const were = never.length === 1 ? 'was' : 'were';
  return [...cut, ...(never.length === 0 ? [] : [`${never.join(', ')} ${were} never reached`])];
}

function heldWords(judged: readonly StepSummary[]): string {
  const top = rungsOf(judged).at(-1);
  if (judged.length === 1) return `${judged[0]?.step.name} held${top === undefined ? '' : ` at ${rate(top)}`}`;
  return `All ${judged.length} steps held${top === undefined ? '' : `, up to ${rungWords(top)}`}`;
}

function rungWords(one: StepSummary): string {
  return `${one.step.name} (${rate(one)})`;
}

function rate({ step }: StepSummary): string {
  const perSecond = plannedRate(step);
  return `${numberWords(perSecond, perSecond < 10 ? 1 : 0)} searches/s`;
}
