import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { BUCKETS } from '../../cache/invalidation.ts';
import { widthOfFraction } from './cohorts.ts';
import { DEFAULT_PATIENCE_MS, limitOfPatience } from './guards.ts';
import { type GuardFigure, type Plan, type PlanFault, parseDuration, type Stage, showValue } from './plan.ts';
import { PLAN_TABLE, type PlanNode, STAGE_TABLES } from './plan-table.ts';

export interface PlanForm {
  /** `file`: durations are texts (`hold: 10s`), as people write them. `object`: numbers (`holdMs: 10000`). */
  readonly form: 'file' | 'object';
  /** How many nodes the store has: what `node: each` is written out to. Absent: it is refused. */
  readonly nodes?: number;
}

export type ReadPlan =
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'faults'; readonly faults: readonly PlanFault[] };

type Path = PlanFault['path'];
type Mapping = Readonly<Record<string, unknown>>;

/** Every fault of a plan at once, or the plan with its defaults. */
export function readPlan(given: unknown, { form, nodes }: PlanForm): ReadPlan {
  const faults: PlanFault[] = [];
  const fault = (path: Path, value: unknown, allowed: string): undefined => {
    faults.push({ path, value: showValue(value), allowed });
    return undefined;
  };

  const readLeaf = (node: PlanNode, value: unknown, path: Path): unknown => {
    const isText = form === 'file' && node['x-duration'] === true;
    const read = isText && typeof value === 'string' ? parseDuration(value) : value;
    // The table is JSON Schema whatever its static type.
    if (Check(node as unknown as TSchema, read) && !(isText && typeof value !== 'string')) return read;
    const unit = node['x-duration'] !== true ? '' : isText ? 'a duration such as 10s, ' : 'milliseconds, ';
    return fault(path, value, `${unit}${node.description}`);
  };

  const read = (node: PlanNode, value: unknown, path: Path): unknown => {
    if (node.properties !== undefined) {
      const known = Object.keys(node.properties).map((name) => nameIn(form, name, node.properties?.[name]));
      if (!isMapping(value)) return fault(path, value, `a mapping of ${known.join(', ')}`);
      return readMapping(node, node.properties, value, path);
    }
    if (node.type !== 'array' || node.items === undefined) return readLeaf(node, value, path);
    const { items, minItems = 0, maxItems = 0 } = node;
    if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) {
      return fault(path, value, node.description ?? 'a list');
    }
    const readGuard = (item: unknown, at: Path): unknown => read(items, inNumbers(item), at);
    const readItem = items.properties === undefined ? readStage : readGuard;
    return value.map((item, place) => readItem(item, [...path, place]));
  };

  const readMapping = (
    node: PlanNode,
    properties: Readonly<Record<string, PlanNode>>,
    value: Mapping,
    path: Path,
  ): Mapping => {
    const known = new Map(Object.entries(properties).map(([name, member]) => [nameIn(form, name, member), name]));
    for (const name of Object.keys(value)) {
      if (!known.has(name))
        fault([...path, name], value[name], `no such setting; known: ${[...known.keys()].join(', ')}`);
    }
    const members = [...known].flatMap(([given, name]): [string, unknown][] => {
      const member = properties[name] ?? {};
      const own = Object.hasOwn(value, given) ? (value[given] ?? undefined) : undefined;
      // A default is in the words of the object form already.
      if (own === undefined && member.default !== undefined) return [[name, withDefaults(member)]];
      if (own === undefined && !(node.required ?? []).includes(name)) return [];
      return [[name, read(member, own, [...path, given])]];
    });
    return Object.fromEntries(members);
  };

  const readStage = (value: unknown, path: Path): unknown => {
    if (!isMapping(value)) return fault(path, value, 'a mapping: fraction, node or kind: blackout, each with its hold');
    const kind = value['kind'] ?? ['fraction', 'node'].find((each) => Object.hasOwn(value, each));
    const table = typeof kind === 'string' && Object.hasOwn(STAGE_TABLES, kind) ? STAGE_TABLES[kind] : undefined;
    if (table === undefined) return fault([...path, 'kind'], kind, 'one of fraction, node, blackout');
    return read(table, { ...value, kind }, path);
  };

  const plan = read(PLAN_TABLE, given, []);
  if (faults.length > 0 || !isMapping(plan)) return { kind: 'faults', faults };
  // What the table let through has the shape of a plan, but for the nodes that are still to be written out.
  const whole = { title: plan['name'], ...plan } as unknown as Omit<Plan, 'stages'> & { stages: readonly DraftStage[] };
  const { stages, ...rest } = whole;
  const written: Plan = { ...rest, stages: stages.flatMap((stage) => writtenOut(stage, nodes ?? 0)) };
  const wrong = [...stages.flatMap((stage, place) => unwritable(stage, place, nodes)), ...contradictions(written)];
  return wrong.length > 0 ? { kind: 'faults', faults: wrong } : { kind: 'plan', plan: written };
}

/** `max: patience` is a number from here on; which one is told where the plan meets its domains. */
function inNumbers(guard: unknown): unknown {
  if (!isMapping(guard) || guard['max'] !== 'patience') return guard;
  return { ...guard, max: limitOfPatience(DEFAULT_PATIENCE_MS), follows: 'patience' };
}

type DraftStage =
  | Exclude<Stage, { kind: 'node' }>
  | (Omit<Extract<Stage, { kind: 'node' }>, 'node'> & { node: number | 'each' });

/** Of a store with more nodes than a plan may have stages, the first ones. */
function writtenOut(stage: DraftStage, nodes: number): readonly Stage[] {
  if (stage.kind !== 'node') return [stage];
  const { node, ...rest } = stage;
  if (node !== 'each') return [{ ...rest, node }];
  return Array.from({ length: Math.min(nodes, 16) }, (_, place) => ({ ...rest, node: place }));
}

function unwritable(stage: DraftStage, place: number, nodes: number | undefined): readonly PlanFault[] {
  if (stage.kind !== 'node' || stage.node !== 'each' || (nodes !== undefined && nodes > 0)) return [];
  return [{ path: ['stages', place, 'node'], value: '"each"', allowed: 'the place of a node, counted from 0' }];
}

function nameIn(form: PlanForm['form'], name: string, node: PlanNode | undefined): string {
  return form === 'file' && node?.['x-duration'] === true ? name.replace(/Ms$/, '') : name;
}

function withDefaults(node: PlanNode): unknown {
  if (node.properties === undefined) return node.default;
  return Object.fromEntries(Object.entries(node.properties).map(([name, member]) => [name, member.default]));
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What each figure can be at most; a guard beyond it would never break. */
const MOST: Readonly<Partial<Record<GuardFigure, number>>> = {
  errorRate: 1,
  shedRate: 1,
  engineInFlightShare: 1,
  hitRatioDrop: 100,
};

/** Faults of a plan whose members are right one by one. */
export function contradictions(plan: Plan): readonly PlanFault[] {
  return [...ofStages(plan), ...ofErasing(plan), ...ofGuards(plan)];
}

function ofStages({ stages, holdout }: Plan): readonly PlanFault[] {
  const faults: PlanFault[] = [];
  let reached = 0;
  let node = -1;
  for (const [place, stage] of stages.entries()) {
    const fault = (member: string, value: number, allowed: string): void => {
      faults.push({ path: ['stages', place, member], value: String(value), allowed });
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

/** A whole node can be emptied; a part of it cannot, other than key by key. */
function ofErasing({ mode, eraseBy, stages }: Plan): readonly PlanFault[] {
  if (mode !== 'erase' || eraseBy !== 'flushall') return [];
  return stages.flatMap((stage, place) =>
    stage.kind === 'fraction' && stage.fraction < 1
      ? [
          {
            path: ['stages', place, 'fraction'],
            value: String(stage.fraction),
            allowed: '1, as FLUSHALL empties whole nodes',
          },
        ]
      : [],
  );
}

function ofGuards({ guards }: Plan): readonly PlanFault[] {
  return guards.flatMap(({ figure, max, follows }, place) => {
    if (follows !== undefined && figure !== 'p99Ms') {
      return [{ path: ['guards', place, 'max'], value: follows, allowed: `a number, for ${figure}` }];
    }
    const most = MOST[figure] ?? Number.POSITIVE_INFINITY;
    // The baseline itself has the factor 1.
    const least = figure === 'engineRateFactor' ? 1 : 0;
    if (max <= most && max >= least) return [];
    const allowed = max > most ? `at most ${most}, for ${figure}` : `at least ${least}, for ${figure}`;
    return [{ path: ['guards', place, 'max'], value: String(max), allowed }];
  });
}
