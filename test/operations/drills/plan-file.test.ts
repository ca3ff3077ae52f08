import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import type { Plan } from '../../../src/operations/drills/plan.ts';
import { describeFaults, loadReadyPlans, readPlan, readPlanFile } from '../../../src/operations/drills/plan-file.ts';
import { formatDuration, parseDuration } from '../../../src/schema/units.ts';
import { pluck } from '../../pluck.ts';

const planOf = (text: string, nodes?: number) => {
  const read = readPlanFile(text, nodes);
  assert.equal(read.kind, 'plan', read.kind === 'faults' ? describeFaults(read.faults) : '');
  return read.kind === 'plan' ? read.plan : assert.fail();
};
const faultsOf = (text: string, nodes?: number): string => {
  const read = readPlanFile(text, nodes);
  return read.kind === 'faults' ? describeFaults(read.faults) : 'no fault';
};

test('a plan needs only a name and one stage; everything else has a default', () => {
  const plan = planOf('name: mine\nstages:\n  - { fraction: 0.5, hold: 10s }\n');
  assert.deepEqual(plan.stages, [{ kind: 'fraction', fraction: 0.5, holdMs: 10_000 }]);
  assert.equal(plan.title, 'mine');
  assert.equal(plan.mode, 'drop');
  assert.equal(plan.baselineMs, 10_000);
  assert.deepEqual(plan.recovery, { withinPoints: 5, timeoutMs: 300_000 });
  assert.ok(plan.guards.some(({ figure, then }) => figure === 'errorRate' && then === 'rollback'));
});

const head = 'name: a\nstages:\n  - { fraction: 0.1, hold: 10s }\n';
const BAD: readonly (readonly [what: string, text: string, fault: RegExp])[] = [
  ['no content', '', /^name: \(missing\); allowed: 1 to 64 .*\nstages: \(missing\); allowed: /],
  ['no YAML', 'name: [', /^the plan \(line \d\): not YAML/],
  ['a list', '- a\n', /^the plan \(line 1\): a list of 1; allowed: a mapping/],
  ['too many bytes', `name: ${'a'.repeat(70_000)}`, /^the plan: 70006 bytes; allowed: at most 64KiB/],
  ['a name with a capital', head.replace('a', 'A'), /name \(line 1\): "nAme|no such setting|name/],
  ['no stages', 'name: a\n', /^stages \(line 1\): \(missing\); allowed: a list of 1 to 16 stages/],
  ['an empty list of stages', 'name: a\nstages: []\n', /^stages \(line 2\): a list of 0/],
  [
    'seventeen stages',
    `name: a\nstages:\n${'  - { kind: blackout, hold: 1s }\n'.repeat(17)}`,
    /^stages .*a list of 17/,
  ],
  [
    'a stage that is not a mapping',
    'name: a\nstages: [half]\n',
    /^stages\[0\] \(line 2\): a text; allowed: a mapping: fraction, node or kind: blackout, each with its hold$/,
  ],
  [
    'too many points',
    `${head}recovery: { withinPoints: 101 }\n`,
    /101; allowed: points of hit ratio, from 0\.1 to 100$/,
  ],
  ['a fraction of 0', head.replace('0.1', '0'), /^stages\[0\]\.fraction \(line 3\): 0; allowed: a number above 0/],
  ['a fraction above 1', head.replace('0.1', '1.5'), /^stages\[0\]\.fraction \(line 3\): 1\.5; .*at most 1/],
  ['a fraction in words', head.replace('0.1', 'half'), /^stages\[0\]\.fraction \(line 3\): "half"/],
  [
    'fractions that do not rise',
    `${head}  - { fraction: 0.1, hold: 1s }\n`,
    /^stages\[1\]\.fraction \(line 4\): 0\.1; .*0\.1/,
  ],
  [
    'a fraction that the holdout reduces to the one before',
    'name: a\nholdout: 0.5\nstages:\n  - { fraction: 0.6, hold: 1s }\n  - { fraction: 1, hold: 1s }\n',
    /^stages\[1\]\.fraction \(line 5\): 1; .*more than the 0\.5/,
  ],
  [
    'a duration without a unit',
    head.replace('10s', '10'),
    /^stages\[0\]\.hold .*: 10; allowed: a duration such as 50ms/,
  ],
  ['a duration that is too short', head.replace('10s', '5ms'), /^stages\[0\]\.hold .*: "5ms"; .*from 1s to 1h/],
  [
    'a stage without a kind',
    'name: a\nstages:\n  - { hold: 1s }\n',
    /^stages\[0\]\.kind .*\(missing\); .*fraction, node or blackout/,
  ],
  ['a stage without a duration', 'name: a\nstages:\n  - { fraction: 1 }\n', /^stages\[0\]\.hold .*\(missing\)/],
  [
    'an unknown setting',
    `${head}holdOut: 0.1\n`,
    /^holdOut \(line 4\): \*\*\*; allowed: no such setting; did you mean holdout\?/,
  ],
  ['a holdout of nothing', `${head}holdout: 0\n`, /^holdout \(line 4\): 0; allowed: a number from 0\.001/],
  ['nodes after fractions', `${head}  - { node: 1, hold: 1s }\n`, /^stages\[1\]\.node .*not both/],
  [
    'nodes that do not rise',
    'name: a\nstages:\n  - { node: 1, hold: 1s }\n  - { node: 1, hold: 1s }\n',
    /^stages\[1\]\.node/,
  ],
  ['each node of an unknown store', 'name: a\nstages:\n  - { node: each, hold: 1s }\n', /^stages\[0\]\.node .*"each"/],
  [
    'a guard of an unknown figure',
    `${head}guards:\n  - { figure: x, max: 1, then: hold }\n`,
    /^guards\[0\]\.figure .*allowed: errorRate, /,
  ],
  [
    'a guard that can never break',
    `${head}guards:\n  - { figure: errorRate, max: 2, then: hold }\n`,
    /^guards\[0\]\.max .*at most 1/,
  ],
  [
    'a factor that the baseline itself exceeds',
    `${head}guards:\n  - { figure: engineRateFactor, max: 0.5, then: hold }\n`,
    /^guards\[0\]\.max .*at least 1/,
  ],
  [
    'patience as the limit of a figure that is not a duration',
    `${head}guards:\n  - { figure: errorRate, max: patience, then: hold }\n`,
    /^guards\[0\]\.max \(line 5\): patience; allowed: a number, for errorRate/,
  ],
  [
    'a limit that is neither a number nor patience',
    `${head}guards:\n  - { figure: p99Ms, max: endless, then: hold }\n`,
    /^guards\[0\]\.max .*"endless"; allowed: a number from 0 to 1000000, or patience for p99Ms/,
  ],
  ['a part of a node by FLUSHALL', `${head}mode: erase\neraseBy: flushall\n`, /^stages\[0\]\.fraction .*flushall/],
];

for (const [what, text, fault] of BAD) {
  test(`a plan file with ${what} is refused with the place, the value and the allowed values`, () => {
    assert.match(faultsOf(text), fault);
  });
}

test('bounds of milliseconds are told as durations', () => {
  const read = readPlan({ name: 'a', stages: [{ fraction: 1, holdMs: 5 }] }, { form: 'object' });
  const faults = read.kind === 'faults' ? describeFaults(read.faults) : 'no fault';
  assert.equal(faults, 'stages[0].holdMs: 5; allowed: milliseconds, from 1s to 1h');
});

test('the stages of a plan stand last, after everything that holds for all of them', () => {
  const names = Object.keys(planOf(head));
  assert.deepEqual(names.slice(0, 2), ['title', 'name']);
  assert.equal(names.at(-1), 'stages');
});

test('all faults are reported at once', () => {
  const faults = faultsOf('name: A\nmode: burn\nstages:\n  - { fraction: 7, hold: x }\n').split('\n');
  assert.deepEqual(
    faults.map((fault) => fault.split(' ')[0]),
    ['name', 'mode', 'stages[0].hold', 'stages[0].fraction'],
  );
});

test('a file whose aliases expand without limit is refused', () => {
  const lines = ['a: &a [1,1,1,1,1,1,1,1,1]'];
  for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef'].map((pair) => [...pair])) {
    lines.push(`${to}: &${to} [${`*${from},`.repeat(9).slice(0, -1)}]`);
  }
  assert.match(faultsOf(lines.join('\n')), /aliases/);
});

test('the ready-made plans are valid, and in the order of a rehearsal', () => {
  const plans = loadReadyPlans()(3);
  assert.deepEqual(pluck(plans, 'name'), [
    'canary',
    '1-5-25-100',
    'full-loss',
    'node-by-node',
    'domain-by-domain',
    'engine-blackout',
  ]);
  const ofNodes = plans.find(({ name }) => name === 'node-by-node');
  assert.deepEqual(
    ofNodes?.stages.map((stage) => (stage.kind === 'node' ? stage.node : undefined)),
    [0, 1, 2],
  );
});

test('guards of ready-made plans that roll back wait for at most half a second', () => {
  for (const plan of loadReadyPlans()(1)) {
    const slow = plan.guards.filter(
      ({ then, forMs, figure }) => then === 'rollback' && figure !== 'hitRatioDrop' && forMs > 500,
    );
    assert.deepEqual(slow, [], plan.name);
  }
});

test('a plan written to a file reads as the same plan', () => {
  for (const plan of loadReadyPlans()(2)) assert.deepEqual(planOf(textOf(plan)), plan);
});

test('a duration reads back as itself', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100_000_000 }), (ms) => {
      assert.equal(parseDuration(formatDuration(ms)), ms);
    }),
  );
  assert.equal(parseDuration('1.001s'), 1001);
  assert.equal(parseDuration('0.5ms'), undefined);
  assert.equal(parseDuration('10'), undefined);
});

/** The whole plan as a file: no member is left to its default. */
function textOf(plan: Plan): string {
  const { baselineMs, afterMs, stages, guards, recovery, ...rest } = plan;
  return stringify({
    ...rest,
    baseline: formatDuration(baselineMs),
    after: formatDuration(afterMs),
    recovery: { withinPoints: recovery.withinPoints, timeout: formatDuration(recovery.timeoutMs) },
    stages: stages.map(({ holdMs, ...stage }) => ({ ...stage, hold: formatDuration(holdMs) })),
    guards: guards.map(({ forMs, max, follows, ...guard }) => {
      return { ...guard, max: follows ?? max, for: formatDuration(forMs) };
    }),
  });
}
