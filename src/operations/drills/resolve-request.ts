import { BUCKETS } from '../../cache/invalidation.ts';
import { OperationError } from '../../control/operation-error.ts';
import { pointerOf } from '../../schema/faults.ts';
import type { FlushPreview } from '../flush/flush.ts';
import {
  type CohortForecasts,
  createCohortLayout,
  forecastCohorts,
  MAX_COHORT_WAIT_MS,
  MIN_COHORT_SEARCHES,
  nodesLostBy,
  stageTitle,
} from './cohorts.ts';
import type { DrillDomain, DrillRequest } from './drills.ts';
import { applyPatience, brokenHypothesis } from './guards.ts';
import type { Plan } from './plan.ts';
import { describeFaults, type ReadyPlans, readPlan } from './plan-file.ts';

export interface ResolvedRequest {
  readonly plan: Plan;
  readonly domains: readonly [DrillDomain, ...DrillDomain[]];
}

/** The plan and the domains of a request. @throws OperationError when there is no such plan or domain, or they do not fit */
export function resolveRequest(request: DrillRequest, all: readonly DrillDomain[], ready: ReadyPlans): ResolvedRequest {
  const named = request.domains?.map((name) => domainOf(name, all));
  const nodes = Math.max(0, ...(named ?? all).map((domain) => domain.nodes().length));
  const plan =
    typeof request.plan === 'string' ? readyPlan(request.plan, ready(nodes)) : validPlan(request.plan, nodes);
  const chosen = named ?? (plan.over === 'domains' || all.length === 1 ? all : []);
  const [first, ...others] = [...new Set(chosen)];
  if (first === undefined || (plan.over === 'one' && others.length > 0)) {
    const known = all.map(({ name }) => name).join(', ');
    const words = plan.over === 'one' ? 'drills one domain: name it' : 'needs a domain at least';
    throw new OperationError('invalid-request', `Plan ${plan.name} ${words} (${known}).`, '/domains');
  }
  const domains = [first, ...others] as const;
  for (const domain of domains) checkFits(plan, domain);
  return { plan: applyPatience(plan, domains), domains };
}

function domainOf(name: string, all: readonly DrillDomain[]): DrillDomain {
  const domain = all.find((one) => one.name === name);
  if (domain !== undefined) return domain;
  const known = all.map((one) => one.name).join(', ');
  throw new OperationError('unknown-domain', `There is no domain ${name}; known: ${known}.`, '/domains');
}

function readyPlan(name: string, ready: readonly Plan[]): Plan {
  const plan = ready.find((one) => one.name === name);
  if (plan !== undefined) return plan;
  const known = ready.map((one) => one.name).join(', ');
  throw new OperationError('unknown-plan', `There is no plan ${name}; ready-made are ${known}.`, '/plan');
}

/** A plan from outside may be written by hand, so all of it is validated. */
function validPlan(given: unknown, nodes: number): Plan {
  const read = readPlan(given, { form: 'object', nodes });
  if (read.kind === 'plan') return read.plan;
  const [first] = read.faults;
  throw new OperationError('invalid-plan', describeFaults(read.faults), pointerOf(first?.path ?? [], '/plan'));
}

/** The domain must have the store and the nodes that the plan takes away. */
function checkFits(
  { name: planName, stages, mode, eraseBy }: Plan,
  { name, nodes, hasStore, dedicated }: DrillDomain,
): void {
  const index = stages.findIndex(({ kind }) => kind === 'node');
  const isFlushall = mode === 'erase' && eraseBy === 'flushall';
  if ((index >= 0 || isFlushall) && !hasStore) {
    const words = `Domain ${name} has no store, so it has no node to lose; plan ${planName} takes one.`;
    throw new OperationError('no-store', words, index < 0 ? '/plan/eraseBy' : `/plan/stages/${index}`);
  }
  const count = nodes().length;
  const beyond = stages.findIndex((stage) => stage.kind === 'node' && stage.node >= count);
  if (beyond >= 0) {
    const words = `The store of ${name} has ${count} nodes (counted from 0), fewer than the plan names.`;
    throw new OperationError('invalid-plan', words, `/plan/stages/${beyond}/node`);
  }
  if (isFlushall && !dedicated) {
    const words = `The store of ${name} is not declared dedicated: flushall could remove what others keep there.`;
    throw new OperationError('not-dedicated', words, '/plan/eraseBy');
  }
}

interface StagePreview {
  readonly title: string;
  readonly preview: FlushPreview;
}

/** The keys that are flushed at the end of a stage, earlier stages included. @throws OperationError */
export async function previewStage(
  plan: Plan,
  stage: number,
  domain: DrillDomain,
  offset: number,
): Promise<StagePreview> {
  const nodes = domain.nodes();
  const layout = createCohortLayout(plan, offset, nodes.length);
  const ranges = layout.flushedBy(stage);
  const buckets = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
  const { mode, eraseBy } = plan;
  const isFlushall = mode === 'erase' && eraseBy === 'flushall';
  const preview = await domain.flush.preview({
    mode,
    fraction: isFlushall ? 1 : Math.max(1, buckets) / BUCKETS,
    from: offset,
    by: mode === 'erase' ? eraseBy : undefined,
  });
  const lost = nodesLostBy(plan.stages, stage, nodes);
  const title = stageTitle(plan, stage);
  if (buckets === 0) return { title, preview: withoutLoss(preview) };
  if (lost === undefined) return { title, preview };
  const share = layout.shareOf(stage);
  const { extraCallsPerSecond: whole } = preview.engine;
  return {
    title,
    preview: {
      ...preview,
      fraction: share,
      nodes: preview.nodes.filter(({ node }) => lost.includes(node)),
      engine: { ...preview.engine, extraCallsPerSecond: whole === undefined ? undefined : whole * share },
    },
  };
}

/** A blackout flushes nothing; its preview still shows the recent figures of the engine. */
function withoutLoss({ mode, engine, nodes }: FlushPreview): FlushPreview {
  const { extraCallsPerSecond: _, ...recent } = engine;
  return {
    mode,
    fraction: 0,
    ranges: [],
    nodes: nodes.map(({ node }) => ({ node, keys: 0, bytes: 0, exact: true })),
    memory: { entries: 0, bytes: 0 },
    engine: recent,
  };
}

export function forecastOf(plan: Plan, { nodes, recent }: DrillDomain): CohortForecasts {
  return forecastCohorts(plan, createCohortLayout(plan, 0, nodes().length), recent()?.searchesPerSecond);
}

/** Reasons against the drill now. */
export function drillWarnings(plan: Plan, domain: DrillDomain, stages: readonly StagePreview[]): readonly string[] {
  const { name, recent, nodes, control } = domain;
  const warnings: string[] = [];
  const [first] = stages;
  const { enoughMs = 0, searchesPerSecond = 0 } = forecastOf(plan, domain).flushed;
  if (first === undefined || first.preview.engine.searches === 0) {
    warnings.push(`${name}: nothing was searched of late, so a drill would be refused after its baseline.`);
  } else if (enoughMs > MAX_COHORT_WAIT_MS) {
    const wait = `${Math.ceil(enoughMs / 1000)} s, and ${MAX_COHORT_WAIT_MS / 1000} s are waited at most`;
    const rate = `about ${Number(searchesPerSecond.toPrecision(2))} searches a second are of keys to be flushed`;
    warnings.push(
      `${name}: ${rate}; ${MIN_COHORT_SEARCHES} of them take ${wait}. It will probably end as not measured.`,
    );
  }
  const layout = createCohortLayout(plan, 0, nodes().length);
  for (const [index, { title, preview }] of stages.entries()) {
    const { survivable } = preview.engine;
    // Fractions lost in earlier stages have been refilled by then.
    const atOnce =
      plan.stages[index]?.kind === 'fraction' ? layout.shareOf(index) - layout.shareOf(index - 1) : preview.fraction;
    if (survivable === undefined || atOnce <= survivable) continue;
    const words = `loses ${percent(atOnce)} of the keys at once; by its latest figures the engine carries ${percent(survivable)} for sure`;
    warnings.push(`${name}: stage ${index + 1} (${title}) ${words}.`);
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
    warnings.push(`${name}: flushall takes the control cohort too, so there is nothing to compare with.`);
  }
  return warnings;
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`;
}
