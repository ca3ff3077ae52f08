import { perSecondText } from '../../src/report/format.ts';
import type { Judged } from '../judge/judged.ts';
import type { StepSummary, Verdict } from '../k6/kit/summary.ts';

/** The last rung that held, in a sentence; undefined where no ladder was climbed or its rungs mean nothing. */
export function kneeWords({ verdict, steps }: Judged): string | undefined {
  const knee = kneeOf(verdict);
  if (knee === undefined) return undefined;
  const named = (name: string): string => {
    const step = steps.find(({ summary }) => summary.step.name === name);
    return step === undefined
      ? name
      : `${name} (${perSecondText(step.searchesPerSecond).replace('/s', '\u00a0searches/s')})`;
  };
  const { held, broke } = knee;
  if (held === undefined)
    return broke === undefined ? undefined : `The knee lies below ${named(broke)}: it broke already.`;
  if (broke === undefined) return `Every rung held, up to ${named(held)}: the knee lies above it.`;
  const why = steps.find(({ summary }) => summary.step.name === broke)?.summary;
  return `The knee: ${named(held)} held, ${named(broke)} broke${brokenText(why)}.`;
}

function brokenText(step: StepSummary | undefined): string {
  return step === undefined || step.broken.length === 0 ? '' : `: ${step.broken.join(', ')}`;
}

function kneeOf(verdict: Verdict) {
  return verdict.kind === 'invalid' ? undefined : verdict.knee;
}
