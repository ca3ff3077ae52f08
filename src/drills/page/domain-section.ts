import { element, type Markup, said } from '../../report/markup.ts';
import { backdrop } from '../../report/plot/backdrop.ts';
import { FRAME_WIDTH } from '../../report/plot/frame.ts';
import { panelFigure } from '../../report/plot/panel.ts';
import { linearScale } from '../../report/plot/scale.ts';
import type { Journal } from '../journal.ts';
import type { Sheet } from './curve.ts';
import { dryRun } from './dry-run.ts';
import { enginePlacesPlot, engineRatePlot } from './engine-plots.ts';
import { guardPlots } from './guard-plots.ts';
import { hitRatioPlot } from './hit-ratio-plot.ts';
import { hypothesisTable } from './hypothesis-table.ts';
import { latencyPlot } from './latency-plot.ts';
import { learnedTable } from './learned-table.ts';
import { outcomePlot } from './outcome-plot.ts';
import { phaseTable } from './phase-table.ts';
import { plotKey } from './plot-key.ts';
import { sceneryOf } from './scenery.ts';
import { stageTable } from './stage-table.ts';
import { trackOf } from './track.ts';

/** What one domain went through: first what it means, then the plots, then the same in figures. */
export function domainSection({ plan, ...journal }: Journal, at: number, columns: number): Markup {
  const domain = journal.domains[at] ?? '';
  const track = trackOf({ plan, ...journal }, domain);
  const sheet: Sheet = { track, columnMs: (track.toMs - track.fromMs) / columns };
  const scenery = sceneryOf(track, plan);
  const id = `domain-${at + 1}`;
  const panels = [
    hitRatioPlot(sheet, plan, `${id}-hits`),
    engineRatePlot(sheet, `${id}-engine`),
    enginePlacesPlot(sheet, `${id}-places`),
    latencyPlot(sheet, `${id}-time`),
    outcomePlot(sheet, `${id}-outcomes`),
  ];
  const guards = guardPlots(sheet, plan, `${id}-guard`);
  return element(
    'section',
    { 'aria-labelledby': id },
    element('h2', { id }, journal.domains.length > 1 ? ['Domain ', said(domain)] : 'Result'),
    learnedTable(track, plan),
    stageTable(track, plan),
    hypothesisTable(track, plan),
    element('h3', {}, 'Over time'),
    plotKey(sheet, scenery),
    backdrop({ id, x: linearScale(track.fromMs, track.toMs, 0, FRAME_WIDTH), ...scenery }),
    panels.map((panel) => panelFigure(panel, id)),
    guards.length === 0
      ? undefined
      : [
          element('h3', {}, 'Guards'),
          element(
            'div',
            { class: 'plots' },
            guards.map((panel) => panelFigure(panel, id, true)),
          ),
        ],
    phaseTable(track, plan),
    element('h3', {}, 'What the dry run said'),
    dryRun(track) ?? element('p', { class: 'note' }, 'No dry run is written down.'),
  );
}
