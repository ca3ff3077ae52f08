import Type, { type TSchema } from 'typebox';
import { FLUSH_MODES } from '../../control/document.ts';
import { DEFAULT_PATIENCE_MS, limitOfPatience } from './guards.ts';
import { formatDuration, GUARD_FIGURES, type GuardRule } from './plan.ts';

/** What may be in a plan: the checks, the defaults and the words of faults all come from here. */
export interface PlanNode {
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
export const STAGE_TABLES: Readonly<Record<string, PlanNode>> = {
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
    ['p99Ms', limitOfPatience(DEFAULT_PATIENCE_MS), 500, 'rollback'],
    ['engineInFlightShare', 0.95, 2 * SECOND, 'hold'],
    ['engineRateFactor', 20, 2 * SECOND, 'continue'],
    ['hitRatioDrop', 25, 2 * SECOND, 'rollback'],
  ] as const
).map(([figure, max, forMs, then]) => {
  return { figure, max, ...(figure === 'p99Ms' ? { follows: 'patience' } : {}), forMs, then };
});

export const PLAN_TABLE: PlanNode = closed({
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
