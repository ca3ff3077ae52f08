import type { Markup } from '../../report/markup.ts';
import { countText, durationText, percentText, perSecondText } from '../../report/number-text.ts';
import { table } from '../../report/table.ts';
import { elapsedText } from '../../report/time-text.ts';
import type { Plan } from '../plan.ts';
import { type Segment, segmentsOf } from './segments.ts';
import type { Track } from './track.ts';

/** The plots as figures, phase by phase. */
export function phaseTable(track: Track, plan: Plan): Markup | undefined {
  return table<Segment>({
    caption: 'The plots in figures, phase by phase',
    narrow: 'sideways',
    columns: [
      { title: 'Phase', cell: ({ name }) => name },
      { title: 'From', isNumber: true, cell: ({ fromMs }) => elapsedText(fromMs) },
      { title: 'Lasted', isNumber: true, cell: ({ fromMs, toMs }) => durationText(toMs - fromMs) },
      { title: 'Searches', isNumber: true, cell: (one) => countText(sum(one, ({ searches }) => searches)) },
      { title: 'Hit ratio', isNumber: true, cell: (one) => percentText(share(one, ['hit-l1', 'hit-l2'])) },
      { title: 'Stale', isNumber: true, cell: (one) => percentText(share(one, ['stale'])) },
      { title: 'Shed', isNumber: true, cell: (one) => percentText(share(one, ['shed'])) },
      { title: 'Failed', isNumber: true, cell: (one) => percentText(share(one, ['failed'])) },
      { title: 'p50', isNumber: true, cell: (one) => durationText(middle(values(one, ({ p50Ms }) => p50Ms))) },
      { title: 'p99, worst', isNumber: true, cell: (one) => durationText(most(values(one, ({ p99Ms }) => p99Ms))) },
      { title: 'Engine, mean', isNumber: true, cell: (one) => perSecondText(meanRate(one)) },
      {
        title: 'Engine, peak',
        isNumber: true,
        cell: (one) => perSecondText(most(values(one, ({ engineCallsPerSecond }) => engineCallsPerSecond))),
      },
      {
        title: 'In flight, most',
        isNumber: true,
        cell: (one) => countText(most(values(one, ({ engineInFlight }) => engineInFlight))),
      },
    ],
    rows: segmentsOf(track, plan),
  });
}

type Figures = Segment['stretches'][number]['sample']['figures'];

function values({ stretches }: Segment, of: (figures: Figures) => number | undefined): readonly number[] {
  return stretches.flatMap(({ sample }) => {
    const value = of(sample.figures);
    return value !== undefined && Number.isFinite(value) ? [value] : [];
  });
}

function sum(segment: Segment, of: (figures: Figures) => number): number {
  return values(segment, of).reduce((total, value) => total + value, 0);
}

function share(segment: Segment, outcomes: readonly (keyof Figures['outcomes'])[]): number | undefined {
  const searches = sum(segment, (figures) => figures.searches);
  const found = outcomes.reduce((total, outcome) => total + sum(segment, (figures) => figures.outcomes[outcome]), 0);
  return searches > 0 ? found / searches : undefined;
}

/** Each sample counts for as long as it lasted. */
function meanRate(segment: Segment): number | undefined {
  const seconds = sum(segment, (figures) => figures.seconds);
  return seconds > 0 ? sum(segment, (figures) => figures.engineCallsPerSecond * figures.seconds) / seconds : undefined;
}

function most(some: readonly number[]): number | undefined {
  return some.length === 0 ? undefined : some.reduce((high, value) => Math.max(high, value));
}

function middle(some: readonly number[]): number | undefined {
  return some.toSorted((a, b) => a - b)[Math.floor(some.length / 2)];
}
