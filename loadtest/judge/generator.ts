import { percentText } from '../../src/report/format.ts';
import { beyondKnee } from '../k6/kit/validity.ts';
import type { Verdict } from '../k6/kit/summary.ts';
import type { Sample } from '../sample/sample.ts';
import { processorsIn } from '../stack/processors.ts';
import { coreCount, coresText, generatorCores } from './core-meters.ts';
import { holdWindow, samplesIn } from './hold-window.ts';
import type { RunRecord } from './record.ts';
import { machineBusyShare } from './step-figures.ts';

/** What is known of a run before anybody has judged it. */
export type Ran = Pick<RunRecord, 'summary' | 'samples' | 'machine'>;

/** Of its processors, over a whole step: above this, requests begin late and answers are timed late. */
const SATURATED = 0.9;
/** The same for a short while, which a step's mean hides. */
const FULL = 0.97;
const FULL_SAMPLES = 3;

/** The script's own verdict, and what only somebody beside k6 can see: that it had no processor time left. */
export function finalVerdict(verdict: Verdict, ran: Ran): Verdict {
  const saturated = generatorReasons(ran);
  if (saturated.length === 0) return verdict;
  const earlier = verdict.kind === 'invalid' ? verdict.reasons : [];
  const detail = verdict.kind === 'invalid' ? verdict.detail : 'This run says nothing about the service.';
  return { kind: 'invalid', detail, reasons: [...earlier, ...saturated] };
}

/**
 * A sentence for each judged step in which k6 was short of processor time. Rungs above the first that broke are not
 * judged. Empty as well when k6 was not sampled: then nobody knows.
 */
export function generatorReasons({ summary, samples, machine }: Ran): readonly string[] {
  const capacity = processorsIn(machine.generatorCpus) ?? machine.cores;
  const beyond = beyondKnee(summary.steps);
  const judged = summary.steps.filter((one) => one.step.limits !== undefined && !beyond.includes(one));
  return judged.flatMap((one) => {
    const own = samplesIn(samples, holdWindow(summary, one));
    const cores = generatorCores(own);
    if (cores === undefined) return [];
    const used = `${coresText(cores)} of its ${coreCount(capacity)}`;
    if (cores >= SATURATED * capacity) {
      return [`k6 used ${used} (${percentText(cores / capacity)}) in ${one.step.name}: the generator was full`];
    }
    const busy = machineBusyShare(own) ?? 0;
    if (machine.generatorCpus === undefined && busy >= FULL) {
      const words = `the machine had no processor time left in ${one.step.name} (${percentText(busy)} busy)`;
      return [`${words}, and k6 used ${used}: nobody can tell how late it was`];
    }
    const full = longestFull(own, capacity);
    return full < FULL_SAMPLES
      ? []
      : [`k6 had no processor time left for ${full} s on end in ${one.step.name} (${used} over the step)`];
  });
}

/** So many samples on end in which nearly everything was used. */
function longestFull(samples: readonly Sample[], capacity: number): number {
  let [longest, current] = [0, 0];
  for (let at = 1; at < samples.length; at += 1) {
    const cores = generatorCores(samples.slice(at - 1, at + 1));
    current = cores !== undefined && cores >= FULL * capacity ? current + 1 : 0;
    longest = Math.max(longest, current);
  }
  return longest;
}
