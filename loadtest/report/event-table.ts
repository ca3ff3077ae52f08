import { countText, elapsedText } from '../../src/report/format.ts';
import { type Content, element, said, table } from '../../src/report/markup.ts';
import { momentSign } from '../../src/report/plot/panel.ts';
import type { RunEvent, RunRecord } from '../judge/record.ts';
import { EVENT_SIGNS, isSigned } from './scenery.ts';

/** What stands in the page; a drill whose guards flap writes more than anybody reads. */
const MAX_ROWS = 200;

/** What an operator, or the script as one, did meanwhile. */
export function eventTable({ events, summary }: RunRecord): Content {
  const inOrder = events.toSorted((a, b) => a.atMs - b.atMs);
  // The beginning and the end say most.
  const shown =
    inOrder.length > MAX_ROWS ? [...inOrder.slice(0, MAX_ROWS / 2), ...inOrder.slice(-MAX_ROWS / 2)] : inOrder;
  const left = inOrder.length - shown.length;
  return [
    table<RunEvent>({
      caption: 'What was done meanwhile',
      narrow: 'cards',
      columns: [
        { title: 'Elapsed', cell: ({ atMs }) => elapsedText(atMs - summary.startedAtMs) },
        { title: 'Kind', cell: kindCell },
        { title: 'What', isProse: true, cell: ({ text }) => said(text) },
        { title: 'Drill', cell: ({ drill }) => (drill === undefined ? '' : element('code', {}, said(drill))) },
      ],
      rows: shown,
    }),
    left === 0
      ? undefined
      : element('p', { class: 'note' }, `${countText(left)} in the middle are not shown; run.json has them all.`),
  ];
}

function kindCell({ kind }: RunEvent): Content {
  if (!isSigned(kind)) return said(kind);
  const { style, shape } = EVENT_SIGNS[kind];
  return element('span', { class: 'signed' }, momentSign(style, shape), ' ', kind);
}
