import type { Markup } from '../../report/markup.ts';
import { durationText, percentText, perSecondText } from '../../report/number-text.ts';
import { table } from '../../report/table.ts';
import type { StageLearned } from '../journal.ts';
import type { Plan } from '../plan.ts';
import { stageTitle } from './stage-name.ts';
import type { Track } from './track.ts';

/** Stage by stage: how far its cohort fell and how soon it was back. */
export function stageTable({ learned, marks }: Track, plan: Plan): Markup | undefined {
  const begun = (stage: number): string | undefined => {
    const mark = marks.find((one) => one.kind === 'stage' && one.stage === stage);
    return mark?.kind === 'stage' ? mark.title : undefined;
  };
  return table<StageLearned>({
    caption: 'Stage by stage: hit ratio of its cohort, and what the engine was asked',
    narrow: 'cards',
    columns: [
      { title: 'Stage', cell: ({ stage, title }) => stageTitle(plan, stage, begun(stage) ?? title) },
      { title: 'Before', isNumber: true, cell: ({ before }) => percentText(before) },
      { title: 'Lowest', isNumber: true, cell: ({ lowest }) => percentText(lowest) },
      { title: 'At its end', isNumber: true, cell: ({ end }) => percentText(end) },
      { title: 'Control then', isNumber: true, cell: ({ control }) => percentText(control) },
      {
        title: 'Refilled in',
        isNumber: true,
        cell: ({ refillMs }) => (refillMs === undefined ? 'not seen' : durationText(refillMs)),
      },
      {
        title: 'Engine, peak',
        isNumber: true,
        cell: ({ peakEngineCallsPerSecond }) => perSecondText(peakEngineCallsPerSecond),
      },
    ],
    rows: learned?.stages ?? [],
  });
}
