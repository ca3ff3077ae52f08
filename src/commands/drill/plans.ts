import type { Plan, Stage } from '../../drills/plan.ts';
import { columns, indented } from '../admin/columns.ts';
import { duration, percent } from '../admin/format.ts';
import { operatorCommand } from '../admin/operator-command.ts';
import type { Command } from '../command.ts';
import { guardValue } from './guard-text.ts';

export const listPlans: Command = operatorCommand({
  name: 'drill plans',
  usage: '',
  summary: 'the ready-made plans, with their stages and guards',
  options: [],
  takes: { min: 0, max: 0 },
  run: async ({ client, output }) => {
    const found = await client.get<{ plans: readonly Plan[] }>('/admin/plans');
    output.result(found, () => found.plans.map(planText).join('\n\n'));
  },
});

function planText({ name, title, mode, baselineMs, holdout, stages, guards, recovery }: Plan): string {
  const rows = [
    ['baseline', duration(baselineMs), `${percent(holdout)} of the keys are never touched: the control cohort`],
    ...stages.map((stage, i) => [`stage ${i + 1}`, duration(stage.holdMs), stageText(stage, mode)]),
    ['recovery', duration(recovery.timeoutMs), `at most, until within ${recovery.withinPoints} points of its own past`],
  ];
  const rules = guards.map(({ figure, max, forMs, then }) => [
    'guard',
    `${figure} > ${guardValue(figure, max)}`,
    `for ${duration(forMs)}: ${then}`,
  ]);
  return `${name}: ${title}\n${indented(columns(rows))}\n${indented(columns(rules))}`;
}

function stageText(stage: Stage, mode: string): string {
  switch (stage.kind) {
    case 'fraction':
      return `${mode} ${percent(stage.fraction)} of the keys`;
    case 'node':
      return `${mode} everything on node ${stage.node + 1}`;
    case 'blackout':
      return 'the engine is taken for dead';
  }
}
