import Type, { type TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { BUCKETS } from '../../cache/invalidation.ts';
import { FLUSH_MODES } from '../../control/document.ts';
import { widthOfFraction } from './cohorts.ts';
import { DEFAULT_PATIENCE_MS, patienceLimitMs } from './guards.ts';
import {
  formatDuration,
  GUARD_FIGURES,
  type GuardFigure,
  type GuardRule,
  type Plan,
  type PlanFault,
  parseDuration,
  type Stage,
  showValue,
} from './plan.ts';

interface PlanForm {
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
  return { ...guard, max: patienceLimitMs(DEFAULT_PATIENCE_MS), follows: 'patience' };
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
function contradictions(plan: Plan): readonly PlanFault[] {
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

/** What may be in a plan: the checks, the defaults and the words of faults all come from here. */
interface PlanNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, PlanNode>>;
  readonly required?: readonly string[];
  readonly items?: PlanNode;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  /** What is allowed, in words. */
  readonly description?: string;
  /** Milliseconds: a plan file names it without its `Ms`, as `10s`. */
  readonly 'x-duration'?: true;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const duration = (minimum: number, maximum: number, fallback?: number): TSchema =>
  Type.Integer({
    minimum,
    maximum,
    'x-duration': true,
    description: `from ${formatDuration(minimum)} to ${formatDuration(maximum)}`,
    ...(fallback === undefined ? {} : { default: fallback }),
  });

const choice = (values: readonly string[], fallback?: string): TSchema =>
  Type.Unsafe<string>({
    type: 'string',
    enum: values,
    description: `one of ${values.join(', ')}`,
    ...(fallback === undefined ? {} : { default: fallback }),
  });

const number = (minimum: number, maximum: number, description: string, fallback?: number): TSchema =>
  Type.Number({ minimum, maximum, description, ...(fallback === undefined ? {} : { default: fallback }) });

const title = Type.Optional(
  Type.String({ minLength: 1, maxLength: 120, description: 'a text of 1 to 120 characters' }),
);
const ofStage = {
  kind: choice(['fraction', 'node', 'blackout']),
  holdMs: duration(SECOND, 60 * MINUTE),
  title,
};

/** By `kind`, which may be left out where the other members tell it. */
const STAGE_TABLES: Readonly<Record<string, PlanNode>> = {
  fraction: closed({
    ...ofStage,
    fraction: Type.Number({ exclusiveMinimum: 0, maximum: 1, description: 'a number above 0 and at most 1, rising' }),
  }),
  node: closed({
    ...ofStage,
    node: Type.Unsafe<number>({
      anyOf: [{ type: 'integer', minimum: 0, maximum: 255 }, { const: 'each' }],
      description: 'the place of a node in the store, counted from 0',
    }),
  }),
  blackout: closed(ofStage),
};

const guard = Type.Object({
  figure: choice(GUARD_FIGURES),
  max: number(0, 1e6, 'a number from 0 to 1000000, or patience for p99Ms'),
  follows: Type.Optional(choice(['patience'])),
  forMs: duration(0, 5 * MINUTE, SECOND),
  // biome-ignore lint/suspicious/noThenProperty: a word of the plan, and never awaited.
  then: choice(['rollback', 'hold', 'continue']),
});

/** So that whoever breaks the service most is stopped first: errors and refusals roll back, a busy engine is waited for. */
const GUARDS: readonly GuardRule[] = (
  [
    ['errorRate', 0.02, 500, 'rollback'],
    ['shedRate', 0.1, 500, 'rollback'],
    ['p99Ms', patienceLimitMs(DEFAULT_PATIENCE_MS), 500, 'rollback'],
    ['engineInFlightShare', 0.95, 2 * SECOND, 'hold'],
    ['engineRateFactor', 20, 2 * SECOND, 'continue'],
    ['hitRatioDrop', 25, 2 * SECOND, 'rollback'],
  ] as const
).map(([figure, max, forMs, then]) => {
  return { figure, max, ...(figure === 'p99Ms' ? { follows: 'patience' } : {}), forMs, then };
});

const PLAN_TABLE: PlanNode = closed({
  name: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,63}$',
    description: '1 to 64 characters: a lower-case letter or digit, then these and -',
  }),
  title,
  mode: choice(FLUSH_MODES, 'drop'),
  eraseBy: choice(['unlink', 'flushall'], 'unlink'),
  over: choice(['one', 'domains'], 'one'),
  baselineMs: duration(SECOND, 10 * MINUTE, 10 * SECOND),
  holdout: number(0.001, 0.5, 'a number from 0.001 to 0.5', 0.01),
  stages: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 16, description: 'a list of 1 to 16 stages' }),
  guards: Type.Array(guard, { maxItems: 16, default: GUARDS, description: 'a list of at most 16 guards' }),
  recovery: Type.Object(
    {
      withinPoints: number(0.1, 100, 'points of hit ratio, from 0.1 to 100', 5),
      // A lifetime of the defaults: by then every page would have been computed anew without any drill.
      timeoutMs: duration(SECOND, 60 * MINUTE, 5 * MINUTE),
    },
    { default: {} },
  ),
  afterMs: duration(SECOND, 10 * MINUTE, 10 * SECOND),
  minSearches: Type.Integer({ minimum: 1, maximum: 1e9, default: 100, description: 'a whole number from 1' }),
});

function closed(properties: Readonly<Record<string, TSchema>>): PlanNode {
  return Type.Object(properties) as unknown as PlanNode;
}
