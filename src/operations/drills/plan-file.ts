import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUCKETS } from '../../cache/invalidation.ts';
import { readDocument } from '../../schema/document.ts';
import { describeFault, type Fault, formatPath } from '../../schema/faults.ts';
import { isMapping, readTree } from '../../schema/read.ts';
import { KIB } from '../../schema/units.ts';
import { widthOfFraction } from './cohorts.ts';
import {
  type DraftPlan,
  type GuardFigure,
  MAX_STAGES,
  PLAN,
  PLAN_BODY,
  type Plan,
  type PlanStage,
  UNFITTED_PATIENCE_LIMIT_MS,
} from './plan.ts';

const MAX_BYTES = 64 * KIB;

/**
 * Reads a plan from YAML, with durations as `10s` and defaults for absent members.
 * @param nodes number of nodes in the store, when known: `node: each` becomes one stage per node.
 */
export function readPlanFile(text: string, nodes?: number): ReadPlan {
  const { tree, faults, lineOf } = readDocument(text, MAX_BYTES);
  if (faults.length > 0) return { kind: 'faults', faults };
  const read = readPlan(tree, { form: 'file', nodes });
  if (read.kind === 'plan') return read;
  return { kind: 'faults', faults: read.faults.map((fault) => ({ ...fault, line: lineOf(fault.path) })) };
}

/** All faults of a plan, one per line. */
export function describeFaults(faults: readonly Fault[]): string {
  return faults
    .map(({ path, ...fault }) => describeFault({ ...fault, path: formatPath(path) || 'the plan' }))
    .join('\n');
}

/** The ready-made plans, for a store with `nodes` nodes. */
export type ReadyPlans = (nodes: number) => readonly Plan[];

/** From the mildest rehearsal to the hardest. */
const ORDER = ['canary', '1-5-25-100', 'full-loss', 'node-by-node', 'domain-by-domain', 'engine-blackout'];

/** Reads the files once. @throws when a ready-made plan is invalid */
export function loadReadyPlans(directory = join(import.meta.dirname, 'plans')): ReadyPlans {
  const texts = readdirSync(directory)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => ({ name, text: readFileSync(join(directory, name), 'utf8') }));
  const rank = ({ name }: Plan): number => (ORDER.indexOf(name) + ORDER.length + 1) % (ORDER.length + 1);
  return (nodes) =>
    texts
      .map(({ name, text }): Plan => {
        // Without a store the plan is shown for one node; starting it is refused with the reason.
        const read = readPlanFile(text, Math.max(1, nodes));
        if (read.kind === 'plan') return read.plan;
        throw new Error(`${name}: ${describeFaults(read.faults)}`);
      })
      .sort((a, b) => rank(a) - rank(b));
}

type ReadPlan =
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'faults'; readonly faults: readonly Fault[] };

interface PlanForm {
  /** `file`: durations are texts (`hold: 10s`), as people write them. `object`: numbers (`holdMs: 10000`). */
  readonly form: 'file' | 'object';
  /** Number of nodes in the store: `node: each` becomes one stage per node. Absent: `node: each` is refused. */
  readonly nodes?: number;
}

/** The plan with its defaults, or all of its faults at once. */
export function readPlan(given: unknown, { form, nodes = 0 }: PlanForm): ReadPlan {
  const { value, faults } = readTree(form === 'file' ? PLAN : PLAN_BODY, withNumericLimits(given));
  if (faults.length > 0) return { kind: 'faults', faults };
  // A value without faults is a plan, except that it may have no title, and that `node: each` is not expanded yet.
  const { stages, ...rest } = value as DraftPlan;
  const plan: Plan = { title: rest.name, ...rest, stages: expandedStages(stages, nodes) };
  const each = stages.flatMap((one, index): Fault[] =>
    nodes === 0 && isEach(one)
      ? [{ path: ['stages', index, 'node'], value: '"each"', allowed: 'the place of a node, counted from 0' }]
      : [],
  );
  const wrong = [...each, ...contradictions(plan)];
  return wrong.length > 0 ? { kind: 'faults', faults: wrong } : { kind: 'plan', plan };
}

/** Replaces `max: patience` by a number. `applyPatience` computes the real one when the domains are known. */
function withNumericLimits(given: unknown): unknown {
  if (!isMapping(given) || !Array.isArray(given['guards'])) return given;
  const guards = given['guards'].map((one: unknown) =>
    isMapping(one) && one['max'] === 'patience'
      ? { ...one, max: UNFITTED_PATIENCE_LIMIT_MS, follows: 'patience' }
      : one,
  );
  return { ...given, guards };
}

function isEach(stage: PlanStage): boolean {
  return stage.kind === 'node' && (stage.node as unknown) === 'each';
}

/** One stage per node for `node: each`, 16 at most: a plan has no more stages. */
function expandedStages(stages: readonly PlanStage[], nodes: number): readonly PlanStage[] {
  return stages.flatMap((one) =>
    isEach(one)
      ? Array.from({ length: Math.min(nodes, MAX_STAGES) }, (_, node): PlanStage => ({ ...one, kind: 'node', node }))
      : [one],
  );
}

/** Faults of a plan whose members are valid one by one. */
function contradictions(plan: Plan): readonly Fault[] {
  return [...stageFaults(plan), ...eraseFaults(plan), ...guardFaults(plan)];
}

function stageFaults({ stages, holdout }: Plan): readonly Fault[] {
  const faults: Fault[] = [];
  let reached = 0;
  let node = -1;
  for (const [index, stage] of stages.entries()) {
    const fault = (member: string, value: number, allowed: string): void => {
      faults.push({ path: ['stages', index, member], value: String(value), allowed });
    };
    if (stage.kind === 'fraction') {
      const { fraction } = stage;
      const reach = widthOfFraction(fraction, holdout) / BUCKETS;
      if (reach <= reached) fault('fraction', fraction, `more than the ${reached} that the stage before reaches`);
      if (node >= 0) fault('fraction', fraction, 'fractions or nodes in one plan, not both');
      reached = Math.max(reached, reach);
    }
    if (stage.kind === 'node') {
      if (stage.node <= node) fault('node', stage.node, `a later place than the ${node} of the stage before`);
      if (reached > 0) fault('node', stage.node, 'fractions or nodes in one plan, not both');
      node = Math.max(node, stage.node);
    }
  }
  return faults;
}

/** `flushall` empties whole nodes; only `unlink` can erase a part of a node. */
function eraseFaults({ mode, eraseBy, stages }: Plan): readonly Fault[] {
  if (mode !== 'erase' || eraseBy !== 'flushall') return [];
  return stages.flatMap((stage, index) =>
    stage.kind === 'fraction' && stage.fraction < 1
      ? [
          {
            path: ['stages', index, 'fraction'],
            value: String(stage.fraction),
            allowed: '1, as flushall empties whole nodes',
          },
        ]
      : [],
  );
}

/** Highest possible value of each figure: a guard with a higher limit would never break. */
const HIGHEST: Readonly<Partial<Record<GuardFigure, number>>> = {
  errorRate: 1,
  shedRate: 1,
  engineInFlightShare: 1,
  hitRatioDrop: 100,
};

function guardFaults({ guards }: Plan): readonly Fault[] {
  return guards.flatMap(({ figure, max, follows }, index) => {
    if (follows !== undefined && figure !== 'p99Ms') {
      return [{ path: ['guards', index, 'max'], value: follows, allowed: `a number, for ${figure}` }];
    }
    const highest = HIGHEST[figure] ?? Number.POSITIVE_INFINITY;
    // The baseline itself has the factor 1.
    const lowest = figure === 'engineRateFactor' ? 1 : 0;
    if (max <= highest && max >= lowest) return [];
    const allowed = max > highest ? `at most ${highest}, for ${figure}` : `at least ${lowest}, for ${figure}`;
    return [{ path: ['guards', index, 'max'], value: String(max), allowed }];
  });
}
