import { brokenLimits, type MeasuredStep } from './broken-limits.ts';
import { wrongAnswers } from './checks.ts';
import { kneeOf, rungsOf } from './knee.ts';
import { numberWords, secondsWords } from './number-words.ts';
import { beyondKnee, type Run, spoiledBy } from './spoiled.ts';
import type { Knee, StepSummary, Verdict } from './summary.ts';

/** Of what was planned: a rung that held for a moment has not shown that it holds. */
const WHOLE = 0.9;
/** Of the searches of an endless ladder: more without an answer is no way of refusing. */
const MOST_SILENT = 0.01;

/** Whether a step held, by its own limits. What was cut short before it broke has not been reached. */
export function judgeStep(measured: MeasuredStep): Pick<StepSummary, 'result' | 'broken'> {
  const { step, searches, seconds } = measured;
  if (searches === 0) return { result: 'not-run', broken: [] };
  if (step.limits === undefined) return { result: 'shown', broken: [] };
  const broken = brokenLimits(measured);
  if (broken.length > 0) return { result: 'broke', broken };
  if (seconds >= WHOLE * step.holdSeconds) return { result: 'held', broken };
  const words = `cut short after ${secondsWords(seconds)} of ${secondsWords(step.holdSeconds)}`;
  return { result: 'not-run', broken: [words] };
}

/**
 * Of a whole run, by what k6 alone can know. A run that its generator spoiled is `invalid` before it is anything else:
 * when a service stalls, requests pile up and use up the VUs just as they do when the generator is too weak, and k6
 * cannot know which; the reasons say what it looks like.
 *
 * A ladder is judged up to its first broken rung. An endless one is to break: it fails where it refuses dishonestly, or
 * does not hold at all.
 */
export function verdictOf(run: Run): Verdict {
  const { steps, isEndless = false } = run;
  const reasons = spoiledBy(run);
  if (reasons.length > 0) return { kind: 'invalid', detail: 'This run says nothing about the service.', reasons };
  const knee = kneeOf(steps);
  const withKnee = knee === undefined ? {} : { knee };
  const rungs = isEndless ? rungsOf(steps) : [];
  const beyond = beyondKnee(steps);
  const judged = steps.filter((one) => one.step.limits !== undefined && !beyond.includes(one));
  const strict = judged.filter((one) => !rungs.includes(one));
  const faults = [
    ...wrongAnswers(run.checks ?? []),
    ...strict.filter(({ result }) => result === 'broke').map(brokeWords),
    ...unreachedWords(strict.filter(({ result }) => result === 'not-run')),
    ...endlessFaults(rungs, knee),
  ];
  const topHeld = steps.find(({ step }) => step.name === knee?.held);
  const held = topHeld === undefined ? [] : [`held up to ${rungWords(topHeld)}`];
  if (faults.length > 0) return { kind: 'failed', detail: `${[...faults, ...held].join('; ')}.`, ...withKnee };
  const broke = rungs.filter(({ step }) => step.name === knee?.broke).map(brokeWords);
  const detail =
    broke.length > 0 ? [...held, ...broke].join('; ') : heldWords(judged.filter(({ result }) => result === 'held'));
  return { kind: 'passed', detail: `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`, ...withKnee };
}

function endlessFaults(rungs: readonly StepSummary[], knee: Knee | undefined): readonly string[] {
  const [first] = rungs;
  if (first === undefined) return [];
  const dishonest = rungs.filter((one) => one.dishonest > 0);
  if (dishonest.length > 0) return dishonest.map(brokeWords);
  // A service that is gone refuses nobody honestly.
  const silent = rungs.filter(({ outcomes, searches }) => outcomes.unanswered > MOST_SILENT * searches);
  if (silent.length > 0) {
    return silent.map(({ step, outcomes }) => `${step.name} broke: ${numberWords(outcomes.unanswered)} got no answer`);
  }
  // Ended by whoever started it: nothing gave, and nobody knows what would have.
  const isUnfinished = knee?.broke === undefined && rungs.some(({ result }) => result === 'not-run');
  if (isUnfinished) return unreachedWords(rungs.filter(({ result }) => result === 'not-run'));
  if (knee?.held !== undefined) return [];
  return [brokeWords(first)];
}

function brokeWords({ step, broken }: StepSummary): string {
  return `${step.name} broke: ${broken.join(', ')}`;
}

function unreachedWords(steps: readonly StepSummary[]): readonly string[] {
  const cut = steps.filter(({ broken }) => broken.length > 0).map(({ step, broken }) => `${step.name} ${broken[0]}`);
  const never = steps.filter(({ broken }) => broken.length === 0).map(({ step }) => step.name);
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
  const perSecond = step.ratePerSecond * step.searchesPerRequest;
  return `${numberWords(perSecond, perSecond < 10 ? 1 : 0)} searches/s`;
}
