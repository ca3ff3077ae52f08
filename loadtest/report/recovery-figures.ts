import { countText, durationText, elapsedText, percentText, perSecondText } from '../../src/report/format.ts';
import type { Recovery } from '../judge/judged.ts';
import type { RunRecord } from '../judge/record.ts';

export interface RecoveryFigure {
  readonly title: string;
  /** Words of others, as long as they like. */
  readonly isProse?: true;
  readonly text: (recovery: Recovery) => string;
}

/** What is told of a loss, the same on the page and in a README. */
export function recoveryFigures({ summary }: RunRecord): readonly RecoveryFigure[] {
  return [
    { title: 'Lost', isProse: true, text: ({ what }) => what },
    { title: 'Lost at', text: ({ lostAtMs }) => elapsedText(lostAtMs - summary.startedAtMs) },
    { title: 'Hit ratio before', text: ({ hitRatioBefore }) => percentText(hitRatioBefore) },
    { title: 'Lowest', text: ({ hitRatioLowest }) => percentText(hitRatioLowest) },
    {
      title: 'Recovered after',
      text: ({ recoveredAfterMs: after }) =>
        after === undefined ? 'not in its time' : after === 0 ? 'never below' : durationText(after),
    },
    { title: 'Engine before', text: ({ engineCallsPerSecondBefore: before }) => perSecondText(before) },
    { title: 'Engine, most', text: ({ engineCallsPerSecondMost: most }) => perSecondText(most) },
    { title: 'Shed honestly', text: ({ shed }) => countText(shed) },
    { title: 'Other 5xx', text: ({ dishonest }) => countText(dishonest) },
  ];
}
