import { element, type Markup, said } from '../../report/markup.ts';
import { countText, durationText, percentText, timesText } from '../../report/number-text.ts';
import { table } from '../../report/table.ts';
import type { Journal, Mark } from '../journal.ts';
import { MEANINGS, toldText } from './lessons.ts';
import { stageName } from './stage-name.ts';
import { lastStage, samplesOf, type Track, trackOf } from './track.ts';

interface Row {
  readonly at: number;
  readonly track: Track;
}

/** A drill over domains at a glance; one domain needs none. */
export function overview(journal: Journal): Markup | undefined {
  if (journal.domains.length < 2) return undefined;
  return table<Row>({
    caption: 'Domain by domain',
    narrow: 'cards',
    columns: [
      { title: 'Domain', cell: ({ at, track }) => element('a', { href: `#domain-${at + 1}` }, said(track.domain)) },
      { title: 'Came to', cell: ({ track }) => reached(journal, track) },
      {
        title: 'Headroom left',
        meaning: MEANINGS.headroom,
        isNumber: true,
        cell: ({ track: { learned } }) => toldText(learned, learned?.survival?.headroomLeft, timesText),
      },
      {
        title: 'Amplification',
        meaning: MEANINGS.amplification,
        isNumber: true,
        cell: ({ track: { learned } }) => toldText(learned, learned?.survival?.amplification, timesText),
      },
      {
        title: 'f*',
        meaning: MEANINGS.survivable,
        isNumber: true,
        cell: ({ track: { learned } }) => toldText(learned, learned?.survival?.survivable, percentText),
      },
      { title: 'Longest refill', isNumber: true, cell: ({ track }) => durationText(longestRefillMs(track)) },
      { title: 'Shed, failed', isNumber: true, cell: ({ track }) => countText(refused(track)) },
      { title: 'Guards broken', isNumber: true, cell: ({ track }) => countText(track.marks.filter(isBreak).length) },
    ],
    rows: journal.domains.map((domain, at) => ({ at, track: trackOf(journal, domain) })),
  });
}

function reached({ plan }: Journal, track: Track): string {
  const stage = lastStage(track);
  if (stage !== undefined) return stageName(plan, stage);
  return track.runs.length === 0 ? 'not begun' : 'nothing flushed';
}

function longestRefillMs({ learned }: Track): number | undefined {
  return learned?.stages.reduce<number | undefined>(
    (most, { refillMs }) => (refillMs === undefined ? most : Math.max(most ?? 0, refillMs)),
    undefined,
  );
}

function refused(track: Track): number | undefined {
  const samples = samplesOf(track);
  if (samples.length === 0) return undefined;
  return samples.reduce((sum, { figures }) => sum + (figures.outcomes.shed || 0) + (figures.outcomes.failed || 0), 0);
}

function isBreak({ kind }: Mark): boolean {
  return kind === 'guard';
}
