import Type, { type TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { BUCKETS } from '../../cache/invalidation.ts';
import { FLUSH_MODES } from '../../control/document.ts';
import { widthOfFraction } from './cohorts.ts';
import { UNFITTED_PATIENCE_LIMIT_MS } from './guards.ts';
import {
  formatDuration,
  GUARD_FIGURES,
  type GuardFigure,
  type GuardRule,
  type Plan,
  type PlanFault,
  parseDuration,
  type Stage,
} from './plan.ts';

export type ReadPlan =
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'faults'; readonly faults: readonly PlanFault[] };

interface PlanForm {
  /** `file`: durations are texts (`hold: 10s`), as people write them. `object`: numbers (`holdMs: 10000`). */
  readonly form: 'file' | 'object';
  /** Number of nodes in the store: `node: each` becomes one stage per node. Absent: `node: each` is refused. */
  readonly nodes?: number;
}

type Path = PlanFault['path'];
type Mapping = Readonly<Record<string, unknown>>;

/** The plan with its defaults, or all of its faults at once. */
export function readPlan(given: unknown, { form, nodes }: PlanForm): ReadPlan {
  const faults: PlanFault[] = [];
  const fault = (path: Path, value: unknown, allowed: string): undefined => {
    faults.push({ path, value: shortText(value), allowed });
    return undefined;
  };

  const readLeaf = (node: PlanNode, value: unknown, path: Path): unknown => {
    const isText = form === 'file' && node['x-duration'] === true;
    const read = isText && typeof value === 'string' ? parseDuration(value) : value;
    // The static type is narrower than JSON Schema; the value is one.
    if (Check(node as unknown as TSchema, read) && !(isText && typeof value !== 'string')) return read;
    const unit = node['x-duration'] !== true ? '' : isText ? 'a duration such as 10s, ' : 'milliseconds, ';
    return fault(path, value, `${unit}${node.description}`);
  };

  const read = (node: PlanNode, value: unknown, path: Path): unknown => {
    if (node.properties !== undefined) {
      const known = Object.keys(node.properties).map((name) => memberName(form, name, node.properties?.[name]));
      if (!isMapping(value)) return fault(path, value, `a mapping of ${known.join(', ')}`);
      return readMapping(node, node.properties, value, path);
    }
    if (node.type !== 'array' || node.items === undefined) return readLeaf(node, value, path);
    const { items, minItems = 0, maxItems = 0 } = node;
    if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) {
      return fault(path, value, node.description ?? 'a list');
    }
    const readGuard = (item: unknown, at: Path): unknown => read(items, withNumericMax(item), at);
    const readItem = items.properties === undefined ? readStage : readGuard;
    return value.map((item, index) => readItem(item, [...path, index]));
  };

  const readMapping = (
    node: PlanNode,
    properties: Readonly<Record<string, PlanNode>>,
    value: Mapping,
    path: Path,
  ): Mapping => {
    const known = new Map(Object.entries(properties).map(([name, member]) => [memberName(form, name, member), name]));
    for (const name of Object.keys(value)) {
      if (!known.has(name))
        fault([...path, name], value[name], `no such setting; known: ${[...known.keys()].join(', ')}`);
    }
    const members = [...known].flatMap(([given, name]): [string, unknown][] => {
      const member = properties[name] ?? {};
      const own = Object.hasOwn(value, given) ? (value[given] ?? undefined) : undefined;
      // Defaults are in the object form already.
      if (own === undefined && member.default !== undefined) return [[name, withDefaults(member)]];
      if (own === undefined && !(node.required ?? []).includes(name)) return [];
      return [[name, read(member, own, [...path, given])]];
    });
    return Object.fromEntries(members);
  };

  const readStage = (value: unknown, path: Path): unknown => {
    if (!isMapping(value)) return fault(path, value, 'a mapping: fraction, node or kind: blackout, each with its hold');
    const kind = value['kind'] ?? ['fraction', 'node'].find((each) => Object.hasOwn(value, each));
    const schema = typeof kind === 'string' && Object.hasOwn(STAGES, kind) ? STAGES[kind] : undefined;
    if (schema === undefined) return fault([...path, 'kind'], kind, 'one of fraction, node, blackout');
    return read(schema, { ...value, kind }, path);
  };

  const plan = read(PLAN, given, []);
  if (faults.length > 0 || !isMapping(plan)) return { kind: 'faults', faults };
  // A value that passed the schema has the shape of a plan, except that `node: each` is not expanded yet.
  const whole = { title: plan['name'], ...plan } as unknown as Omit<Plan, 'stages'> & { stages: readonly DraftStage[] };
  const { stages, ...rest } = whole;
  const expanded: Plan = { ...rest, stages: stages.flatMap((stage) => expandedStages(stage, nodes ?? 0)) };
  const wrong = [...stages.flatMap((stage, index) => eachFault(stage, index, nodes)), ...contradictions(expanded)];
  return wrong.length > 0 ? { kind: 'faults', faults: wrong } : { kind: 'plan', plan: expanded };
}

/** Replaces `max: patience` by a number. `applyPatience` computes the real one when the domains are known. */
function withNumericMax(guard: unknown): unknown {
  if (!isMapping(guard) || guard['max'] !== 'patience') return guard;
  return { ...guard, max: UNFITTED_PATIENCE_LIMIT_MS, follows: 'patience' };
}

type DraftStage =
  | Exclude<Stage, { kind: 'node' }>
  | (Omit<Extract<Stage, { kind: 'node' }>, 'node'> & { node: number | 'each' });

/** One stage per node for `node: each`, 16 at most: a plan has no more stages. */
function expandedStages(stage: DraftStage, nodes: number): readonly Stage[] {
  if (stage.kind !== 'node') return [stage];
  const { node, ...rest } = stage;
  if (node !== 'each') return [{ ...rest, node }];
  return Array.from({ length: Math.min(nodes, MAX_STAGES) }, (_, index) => ({ ...rest, node: index }));
}

function eachFault(stage: DraftStage, index: number, nodes: number | undefined): readonly PlanFault[] {
  if (stage.kind !== 'node' || stage.node !== 'each' || (nodes !== undefined && nodes > 0)) return [];
  return [{ path: ['stages', index, 'node'], value: '"each"', allowed: 'the place of a node, counted from 0' }];
}

function memberName(form: PlanForm['form'], name: string, node: PlanNode | undefined): string {
  return form === 'file' && node?.['x-duration'] === true ? name.replace(/Ms$/, '') : name;
}

function withDefaults(node: PlanNode): unknown {
  if (node.properties === undefined) return node.default;
  return Object.fromEntries(Object.entries(node.properties).map(([name, member]) => [name, member.default]));
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shortText(value: unknown): string {
  if (value === undefined || value === null) return '(missing)';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'a mapping';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}

/** A part of the plan's schema. Checks, defaults and the texts of faults all come from it. */
interface PlanNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, PlanNode>>;
  readonly required?: readonly string[];
  readonly items?: PlanNode;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  /** The allowed values, in words. */
  readonly description?: string;
  /** Milliseconds. A plan file names the member without `Ms` and writes `10s`. */
  readonly 'x-duration'?: true;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const MAX_STAGES = 16;

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
const stageMembers = {
  kind: choice(['fraction', 'node', 'blackout']),
  holdMs: duration(SECOND, 60 * MINUTE),
  title,
};

/** By `kind`, which may be left out when another member implies it. */
const STAGES: Readonly<Record<string, PlanNode>> = {
  fraction: mapping({
    ...stageMembers,
    fraction: Type.Number({ exclusiveMinimum: 0, maximum: 1, description: 'a number above 0 and at most 1, rising' }),
  }),
  node: mapping({
    ...stageMembers,
    node: Type.Unsafe<number>({
      anyOf: [{ type: 'integer', minimum: 0, maximum: 255 }, { const: 'each' }],
      description: 'the place of a node in the store, counted from 0',
    }),
  }),
  blackout: mapping(stageMembers),
};

const guard = Type.Object({
  figure: choice(GUARD_FIGURES),
  max: number(0, 1e6, 'a number from 0 to 1000000, or patience for p99Ms'),
  follows: Type.Optional(choice(['patience'])),
  forMs: duration(0, 5 * MINUTE, SECOND),
  // biome-ignore lint/suspicious/noThenProperty: a word of the plan, and never awaited.
  then: choice(['rollback', 'hold', 'continue']),
});

/** Errors, refusals and slow answers roll back first; a busy engine only holds the next stage. */
const DEFAULT_GUARDS: readonly GuardRule[] = (
  [
    ['errorRate', 0.02, 500, 'rollback'],
    ['shedRate', 0.1, 500, 'rollback'],
    ['p99Ms', UNFITTED_PATIENCE_LIMIT_MS, 500, 'rollback'],
    ['engineInFlightShare', 0.95, 2 * SECOND, 'hold'],
    ['engineRateFactor', 20, 2 * SECOND, 'continue'],
    ['hitRatioDrop', 25, 2 * SECOND, 'rollback'],
  ] as const
).map(([figure, max, forMs, then]) => {
  return { figure, max, ...(figure === 'p99Ms' ? { follows: 'patience' } : {}), forMs, then };
});

const PLAN: PlanNode = mapping({
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
  stages: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_STAGES, description: 'a list of 1 to 16 stages' }),
  guards: Type.Array(guard, { maxItems: 16, default: DEFAULT_GUARDS, description: 'a list of at most 16 guards' }),
  recovery: Type.Object(
    {
      withinPoints: number(0.1, 100, 'points of hit ratio, from 0.1 to 100', 5),
      // The default lifetime of an entry: by then every page would have been computed again without any drill.
      timeoutMs: duration(SECOND, 60 * MINUTE, 5 * MINUTE),
    },
    { default: {} },
  ),
  afterMs: duration(SECOND, 10 * MINUTE, 10 * SECOND),
  minSearches: Type.Integer({ minimum: 1, maximum: 1e9, default: 100, description: 'a whole number from 1' }),
});

function mapping(properties: Readonly<Record<string, TSchema>>): PlanNode {
  return Type.Object(properties) as unknown as PlanNode;
}

/** Faults of a plan whose members are valid one by one. */
function contradictions(plan: Plan): readonly PlanFault[] {
  return [...stageFaults(plan), ...eraseFaults(plan), ...guardFaults(plan)];
}

function stageFaults({ stages, holdout }: Plan): readonly PlanFault[] {
  const faults: PlanFault[] = [];
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
function eraseFaults({ mode, eraseBy, stages }: Plan): readonly PlanFault[] {
  if (mode !== 'erase' || eraseBy !== 'flushall') return [];
  return stages.flatMap((stage, index) =>
    stage.kind === 'fraction' && stage.fraction < 1
      ? [
          {
            path: ['stages', index, 'fraction'],
            value: String(stage.fraction),
            allowed: '1, as FLUSHALL empties whole nodes',
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

function guardFaults({ guards }: Plan): readonly PlanFault[] {
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
