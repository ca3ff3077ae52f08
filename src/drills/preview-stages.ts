import { BUCKETS } from '../cache/rules.ts';
import type { FlushPreview } from '../flush/flush.ts';
import { createCircle, nodesLostBy, stageTitle } from './circle.ts';
import { type CohortForecasts, ENOUGH_OF_COHORT, forecastCohorts, LONGEST_WAIT_MS } from './cohort-load.ts';
import type { DrillDomain } from './drill-domain.ts';
import { brokenHypothesis } from './guard-values.ts';
import type { Plan } from './plan.ts';

export interface StagePreview {
  readonly title: string;
  readonly preview: FlushPreview;
}

/** What is flushed at the end of a stage, those before it included. @throws OperationRefused */
export async function previewStage(
  plan: Plan,
  stage: number,
  domain: DrillDomain,
  offset: number,
): Promise<StagePreview> {
  const nodes = domain.nodes();
  const circle = createCircle(plan, offset, nodes.length);
  const ranges = circle.flushedBy(stage);
  const buckets = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
  const { mode, eraseBy } = plan;
  const takesAll = mode === 'erase' && eraseBy === 'flushall';
  const preview = await domain.flush.preview({
    mode,
    fraction: takesAll ? 1 : Math.max(1, buckets) / BUCKETS,
    from: offset,
    ...(mode === 'erase' ? { by: eraseBy } : {}),
  });
  const lost = nodesLostBy(plan.stages, stage, nodes);
  const title = stageTitle(plan, stage);
  if (buckets === 0) return { title, preview: nothingOf(preview) };
  if (lost === undefined) return { title, preview };
  const share = circle.shareOf(stage);
  const { extraCallsPerSecond, ...engine } = preview.engine;
  const extra = extraCallsPerSecond === undefined ? {} : { extraCallsPerSecond: extraCallsPerSecond * share };
  return {
    title,
    preview: {
      ...preview,
      fraction: share,
      nodes: preview.nodes.filter(({ node }) => lost.includes(node)),
      engine: { ...engine, ...extra },
    },
  };
}

/** A blackout flushes nothing; what the engine did of late is worth seeing all the same. */
function nothingOf({ mode, engine, nodes }: FlushPreview): FlushPreview {
  const { extraCallsPerSecond: _, ...lately } = engine;
  return {
    mode,
    fraction: 0,
    ranges: [],
    nodes: nodes.map(({ node }) => ({ node, keys: 0, bytes: 0, exact: true })),
    memory: { entries: 0, bytes: 0 },
    engine: lately,
  };
}

export function cohortsOf(plan: Plan, { nodes, recent }: DrillDomain): CohortForecasts {
  return forecastCohorts(plan, createCircle(plan, 0, nodes().length), recent()?.searchesPerSecond);
}

/** What speaks against a drill now. */
export function warningsOf(plan: Plan, domain: DrillDomain, stages: readonly StagePreview[]): readonly string[] {
  const { name, recent, nodes, control } = domain;
  const warnings: string[] = [];
  const [first] = stages;
  const { enoughMs = 0, searchesPerSecond = 0 } = cohortsOf(plan, domain).flushed;
  if (first === undefined || first.preview.engine.searches === 0) {
    warnings.push(`${name}: nothing was searched of late, so a drill would be refused after its baseline.`);
  } else if (enoughMs > LONGEST_WAIT_MS) {
    const wait = `${Math.ceil(enoughMs / 1000)} s, and ${LONGEST_WAIT_MS / 1000} s are waited at most`;
    const rate = `about ${Number(searchesPerSecond.toPrecision(2))} searches a second are of keys to be flushed`;
    warnings.push(`${name}: ${rate}; ${ENOUGH_OF_COHORT} of them take ${wait}. It will probably end as not measured.`);
  }
  const circle = createCircle(plan, 0, nodes().length);
  for (const [place, { title, preview }] of stages.entries()) {
    const { survivable } = preview.engine;
    // Stages before it have been refilled by then.
    const atOnce =
      plan.stages[place]?.kind === 'fraction' ? circle.shareOf(place) - circle.shareOf(place - 1) : preview.fraction;
    if (survivable === undefined || atOnce <= survivable) continue;
    const words = `loses ${percent(atOnce)} of the keys at once; by its latest figures the engine carries ${percent(survivable)} for sure`;
    warnings.push(`${name}: stage ${place + 1} (${title}) ${words}.`);
  }
  const figures = recent();
  for (const broken of figures === undefined ? [] : brokenHypothesis(plan.guards, figures, undefined, undefined)) {
    warnings.push(`${name}: the hypothesis fails already: ${broken}.`);
  }
  const { halted } = control.document();
  if (halted !== undefined) warnings.push(`${name}: all drills are halted by ${halted.by}: ${halted.reason}.`);
  const overlay = control.overlay();
  if (overlay !== undefined) warnings.push(`${name}: drill ${overlay.drill} runs there.`);
  if (plan.mode === 'erase') {
    warnings.push(`${name}: what is erased does not come back when the drill ends; the engine fills it again.`);
  }
  if (plan.mode === 'erase' && plan.eraseBy === 'flushall') {
    warnings.push(`${name}: FLUSHALL takes the control cohort too, so there is nothing to compare with.`);
  }
  return warnings;
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`;
}
