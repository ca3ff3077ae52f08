import type { GuardRule, Plan, Stage } from '../../src/operations/drills/plan.ts';

const guard = (figure: GuardRule['figure'], max: number, then: GuardRule['then']): GuardRule => {
  return { figure, max, forMs: 2000, then };
};

const GUARDS: readonly GuardRule[] = [
  guard('errorRate', 0.01, 'rollback'),
  guard('shedRate', 0.05, 'rollback'),
  guard('p99Ms', 800, 'hold'),
  guard('engineRateFactor', 12, 'continue'),
  guard('hitRatioDrop', 10, 'rollback'),
];

const fractions = (...all: readonly number[]): readonly Stage[] =>
  all.map((fraction) => ({ kind: 'fraction', fraction, holdMs: 5000, title: `${fraction * 100} %` }));

const plan = (name: string, title: string, stages: readonly Stage[], over: Plan['over'] = 'one'): Plan => ({
  name,
  title,
  mode: 'drop',
  eraseBy: 'unlink',
  over,
  baselineMs: 3000,
  holdout: 0.01,
  stages,
  guards: GUARDS,
  recovery: { withinPoints: 2, timeoutMs: 10_000 },
  afterMs: 2000,
  minSearches: 50,
});

/** Short enough to be watched to the end by whoever tries a console. */
export const FAKE_PLANS: readonly Plan[] = [
  plan('canary', 'One key in a hundred', fractions(0.01)),
  plan('1-5-25-100', 'In four stages', fractions(0.01, 0.05, 0.25, 1)),
  plan('full-loss', 'Everything at once', fractions(1)),
  plan('node-by-node', 'One node after another', [
    { kind: 'node', node: 0, holdMs: 5000, title: 'first node' },
    { kind: 'node', node: 1, holdMs: 5000, title: 'second node' },
  ]),
  plan('domain-by-domain', 'One domain after another', fractions(1), 'domains'),
  plan('engine-blackout', 'The engine is taken for dead', [{ kind: 'blackout', holdMs: 5000 }]),
];
