import { percentText } from '../../src/report/format.ts';
import type { Verdict } from '../k6/kit/summary.ts';
import { beyondKnee } from '../k6/kit/validity.ts';
import type { Sample } from '../sample/sample.ts';
import { processorsIn } from '../stack/processors.ts';
import { coreCount, coresText, processCores } from './meters.ts';
import type { RunRecord } from './record.ts';
import { holdWindow, samplesIn } from './series.ts';
import { machineBusyShare } from './step-figures.ts';

/** The part of a record that exists before the verdict. */
type Ran = Pick<RunRecord, 'summary' | 'samples' | 'machine'>;

/** Share of k6's processors over a whole step: above it, requests begin late and answers are timed late. */
const SATURATED = 0.9;
/** The same for consecutive samples, which the mean of a step hides. */
const FULL = 0.97;
const FULL_SAMPLES = 3;

/** The script's verdict, or an invalid one when k6 had no processor time left, which only the runner can see. */
export function finalVerdict(verdict: Verdict, ran: Ran): Verdict {
  const saturated = generatorReasons(ran);
  if (saturated.length === 0) return verdict;
  const earlier = verdict.kind === 'invalid' ? verdict.reasons : [];
  const detail = verdict.kind === 'invalid' ? verdict.detail : 'This run says nothing about the service.';
  return { kind: 'invalid', detail, reasons: [...earlier, ...saturated] };
}

/**
 * A sentence for each judged step in which k6 was short of processor time. Rungs above the first that broke are not
 * judged. Also empty when k6 was not sampled, because then it is not known.
 */
export function generatorReasons({ summary, samples, machine }: Ran): readonly string[] {
  const capacity = processorsIn(machine.generatorCpus) ?? machine.cores;
  const beyond = beyondKnee(summary.steps);
  const judged = summary.steps.filter((one) => one.step.limits !== undefined && !beyond.includes(one));
  return judged.flatMap((one) => {
    const own = samplesIn(samples, holdWindow(summary, one));
    const cores = processCores(own, 'k6');
    if (cores === undefined) return [];
    const used = `${coresText(cores)} of its ${coreCount(capacity)}`;
    if (cores >= SATURATED * capacity) {
      return [`k6 used ${used} (${percentText(cores / capacity)}) in ${one.step.name}: the generator was full`];
    }
    const busy = machineBusyShare(own) ?? 0;
    if (machine.generatorCpus === undefined && busy >= FULL) {
      const words = `the machine had no processor time left in ${one.step.name} (${percentText(busy)} busy)`;
      return [`${words}, and k6 used ${used}: its lateness is not known`];
    }
    const full = longestFull(own, capacity);
    return full < FULL_SAMPLES
      ? []
      : [`k6 had no processor time left for ${full} s on end in ${one.step.name} (${used} over the step)`];
  });
}

/** The maximum number of consecutive samples in which k6 used nearly all of its processors. */
function longestFull(samples: readonly Sample[], capacity: number): number {
  let [longest, current] = [0, 0];
  for (let at = 1; at < samples.length; at += 1) {
    const cores = processCores(samples.slice(at - 1, at + 1), 'k6');
    current = cores !== undefined && cores >= FULL * capacity ? current + 1 : 0;
    longest = Math.max(longest, current);
  }
  return longest;
}

/** One sample may fall between the join of a process and the moment when the others have learned of it. */
const SAMPLES_OVER_LIMIT = 2;

/** A sentence for each domain of a process that held more engine permits than its ceiling in two consecutive samples. */
export function overLimit(samples: readonly Sample[]): readonly string[] {
  const found = new Map<string, string>();
  const consecutive = new Map<string, number>();
  for (const { replicas } of samples) {
    for (const { name, domains } of replicas) {
      for (const [domain, { engineInFlight: held = 0, engineCeiling: ceiling }] of Object.entries(domains)) {
        const key = `${name} ${domain}`;
        const times = ceiling !== undefined && held > ceiling ? (consecutive.get(key) ?? 0) + 1 : 0;
        consecutive.set(key, times);
        if (times >= SAMPLES_OVER_LIMIT)
          found.set(key, `${name} held ${held} engine permits of ${domain}, ${ceiling} are allowed`);
      }
    }
  }
  return [...found.values()];
}

/** A run that exceeded the engine's limit has failed, even if every search was answered well. */
export function withinLimit(verdict: Verdict, samples: readonly Sample[]): Verdict {
  const faults = overLimit(samples);
  if (faults.length === 0 || verdict.kind === 'invalid') return verdict;
  const earlier = verdict.kind === 'failed' ? [verdict.detail] : [];
  return { ...verdict, kind: 'failed', detail: [...earlier, `${faults.join('; ')}.`].join(' ') };
}
