import type { CohortForecast } from '../../drills/cohort-load.ts';
import type { DrillPreview } from '../../drills/drills.ts';
import { columns, indented } from '../admin/columns.ts';
import { duration, figure, grouped, percent } from '../admin/format.ts';
import { operatorCommand } from '../admin/operator-command.ts';
import { previewText } from '../admin/preview-text.ts';
import type { Command } from '../command.ts';
import { askedPlan } from './plan-word.ts';

export const previewDrill: Command = operatorCommand({
  name: 'drill preview',
  usage: '<plan|file.yaml> [--domain D…]',
  summary: 'what each stage would flush and cost, without doing it',
  options: [{ name: 'domain', takes: 'D', about: 'which; several with a plan over domains', repeats: true }],
  takes: { min: 1, max: 1 },
  run: async ({ words, client, output }) => {
    const found = await client.post<DrillPreview>('/admin/drills/preview', await askedPlan(words, client));
    output.result(found, () => drillPreviewText(found));
  },
});

function forecastCells({ share, searchesPerSecond, enoughMs }: CohortForecast, holdMs?: number): readonly string[] {
  const keys = `${percent(share)} of the keys`;
  if (searchesPerSecond === undefined || enoughMs === undefined) return [keys, 'no searches of late'];
  const held = holdMs === undefined ? '' : `, ${grouped((searchesPerSecond * holdMs) / 1000)} while it is held`;
  return [keys, `about ${figure(searchesPerSecond)} searches/s${held}`, `tells something after ${duration(enoughMs)}`];
}

/** The dry run of a whole drill: each stage shortly, the worst in full. */
export function drillPreviewText({ plan, domains, warnings }: DrillPreview): string {
  const lines = [`${plan.name}: ${plan.title}`];
  for (const { domain, stages, cohorts } of domains) {
    const heldMs = plan.stages.reduce((sum, { holdMs }) => sum + holdMs, 0);
    const atLeastMs = plan.baselineMs + heldMs + plan.afterMs;
    lines.push(`${domain}: ${stages.map(({ title }) => title).join(' → ')}, at least ${duration(atLeastMs)}`);
    const rows = cohorts.stages.map((one, i) => [`stage ${i + 1}`, ...forecastCells(one, plan.stages[i]?.holdMs)]);
    lines.push(indented(columns([['control', ...forecastCells(cohorts.control)], ...rows])));
    const last = stages.at(-1);
    if (last !== undefined) lines.push(previewText(domain, last.preview));
  }
  return [...lines, ...warnings.map((warning) => `! ${warning}`)].join('\n');
}
