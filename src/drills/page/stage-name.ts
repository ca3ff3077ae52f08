import { percentText } from '../../report/number-text.ts';
import type { Plan, Stage } from '../plan.ts';

/** What a stage loses, short enough for a band of a plot: `25 %`, `node 2`, `blackout`. */
export function stageName(plan: Plan, stage: number): string {
  const planned = plan.stages[stage];
  return planned === undefined ? `stage ${stage + 1}` : lossText(planned);
}

/** `Stage 3: 25 %`, with the plan's own title where it says something else. */
export function stageTitle(plan: Plan, stage: number, ownTitle?: string): string {
  const name = stageName(plan, stage);
  const title = ownTitle ?? plan.stages[stage]?.title;
  const numbered = `Stage ${stage + 1}`;
  if (plan.stages[stage] === undefined) return title === undefined ? numbered : `${numbered}: ${title}`;
  return `${numbered}: ${withLoss(title, name)}`;
}

/** The largest share of the keys that a stage up to this one has flushed; undefined of nodes and of a blackout. */
export function shareFlushed(plan: Plan, stage: number): number | undefined {
  return plan.stages
    .slice(0, stage + 1)
    .reduce<number | undefined>(
      (most, planned) => (planned.kind === 'fraction' ? Math.max(most ?? 0, planned.fraction) : most),
      undefined,
    );
}

function lossText(stage: Stage): string {
  switch (stage.kind) {
    case 'fraction':
      return percentText(stage.fraction);
    case 'node':
      return `node ${Number.isFinite(stage.node) ? stage.node + 1 : '?'}`;
    case 'blackout':
      return 'blackout';
  }
}

/** A title that names the loss already needs no more. */
function withLoss(title: string | undefined, name: string): string {
  if (title === undefined) return name;
  return letters(title).includes(letters(name)) ? title : `${title} (${name})`;
}

function letters(text: string): string {
  return text.replaceAll(/\s/g, '').toLowerCase();
}
