import { facts } from '../../report/facts.ts';
import { element, type Markup, said } from '../../report/markup.ts';
import { countText, durationText, percentText, pointsText } from '../../report/number-text.ts';
import { table } from '../../report/table.ts';
import type { Journal } from '../journal.ts';
import type { Plan, Stage } from '../plan.ts';
import { limitText } from './hypothesis-table.ts';
import { stageTitle } from './stage-name.ts';

const MODES: Readonly<Record<Plan['mode'], string>> = {
  refresh: 'refresh: what was cached is served as stale while it is computed anew',
  drop: 'drop: what was cached is a miss and stays in the store, so that the end of the drill brings it back',
  erase: 'erase: what was cached is physically removed and does not come back',
};

/** The plan as it was run, whatever it says today. */
export function planSection({ plan, domains }: Journal): Markup {
  const numbered = plan.stages.map((stage, at) => ({ stage, at }));
  return element(
    'section',
    { 'aria-labelledby': 'plan' },
    element('h2', { id: 'plan' }, 'The plan as run'),
    facts([
      ['Name', said(plan.name)],
      ['Mode', plan.mode === 'erase' ? `${MODES.erase} (by ${plan.eraseBy})` : MODES[plan.mode]],
      ['Domains', said(domains.join(', '))],
      ['Baseline', `${durationText(plan.baselineMs)}, with at least ${countText(plan.minSearches)} searches`],
      ['Control cohort', `${percentText(plan.holdout)} of the keys, flushed by no stage`],
      [
        'Recovered',
        `within ${pointsText(plan.recovery.withinPoints)} of its own past, in ${durationText(plan.recovery.timeoutMs)} at most`,
      ],
      ['Measured afterwards', durationText(plan.afterMs)],
    ]),
    table<{ readonly stage: Stage; readonly at: number }>({
      caption: 'Stages',
      narrow: 'cards',
      columns: [
        { title: 'Stage', cell: ({ at }) => said(stageTitle(plan, at)) },
        { title: 'Held for', isNumber: true, cell: ({ stage }) => durationText(stage.holdMs) },
        { title: 'Loses', cell: ({ stage }) => losesText(stage, plan) },
      ],
      rows: numbered,
    }),
    plan.guards.length === 0
      ? undefined
      : element(
          'ul',
          { class: 'plain' },
          plan.guards.map((guard) => element('li', {}, `Guard – never above ${limitText(guard)}; then ${guard.then}.`)),
        ),
  );
}

function losesText(stage: Stage, plan: Plan): string {
  switch (stage.kind) {
    case 'fraction':
      return stage.fraction > 1 - plan.holdout
        ? 'every key but those of the control cohort'
        : `${percentText(stage.fraction)} of the keys, chosen by their hash`;
    case 'node':
      return "what lives on that node of the store, but for the control cohort's keys";
    case 'blackout':
      return 'the engine: its breakers are forced open';
  }
}
