import type { Comparison, FigureComparison, StepComparison } from './comparison.ts';
import { differencesOf, isSameRate } from './differences.ts';
import type { StepFigures } from './judged.ts';
import type { RunRecord } from './record.ts';
import { stepFigures } from './step-figures.ts';

/** One run beside an earlier one, step by step where both have a step of that name. */
export function compareRuns(now: RunRecord, earlier: RunRecord): Comparison {
  const before = new Map(stepFigures(earlier).map((step) => [step.summary.step.name, step]));
  const steps = stepFigures(now).flatMap((step): readonly StepComparison[] => {
    const other = before.get(step.summary.step.name);
    return other === undefined ? [] : [stepComparison(step, other)];
  });
  const notes = differencesOf(now, earlier);
  const comparable = steps.filter(({ isComparable }) => isComparable).length;
  const words = [
    `One run against one run: ${comparable} of ${steps.length} steps of the same name ran at the same rate in both.`,
    ...(notes.length === 0 ? [] : ['More than the service was different, so a difference may be of either.']),
    'Two runs do not tell a change from chance.',
  ];
  return { now: now.id, earlier: earlier.id, notes, steps, words: words.join(' ') };
}

function stepComparison(now: StepFigures, earlier: StepFigures): StepComparison {
  const figure = (
    name: string,
    unit: FigureComparison['unit'],
    read: (step: StepFigures) => number | undefined,
  ): FigureComparison => {
    const [one, other] = [read(now), read(earlier)];
    return {
      name,
      unit,
      ...(one === undefined ? {} : { now: one }),
      ...(other === undefined ? {} : { earlier: other }),
      ...(one === undefined || other === undefined || other === 0 ? {} : { ratio: one / other }),
    };
  };
  return {
    name: now.summary.step.name,
    isComparable: ran(now) && ran(earlier) && isSameRate(planned(now), planned(earlier)),
    figures: [
      figure('searches', 'perSecond', (step) => (ran(step) ? step.searchesPerSecond : undefined)),
      figure('p50', 'ms', ({ summary }) => summary.latencyMs?.p50),
      figure('p99', 'ms', ({ summary }) => summary.latencyMs?.p99),
      figure('error rate', 'share', ({ summary }) => summary.errorRate),
      figure('hit ratio', 'share', ({ summary }) => summary.hitRatio),
      figure('engine calls', 'perSecond', ({ engineCallsPerSecond }) => engineCallsPerSecond),
      figure('serpcache', 'cores', ({ serviceCores }) => serviceCores),
    ],
  };
}

function ran({ summary }: StepFigures): boolean {
  return summary.searches > 0;
}

function planned({ summary: { step } }: StepFigures): number {
  return step.ratePerSecond * step.searchesPerRequest;
}
