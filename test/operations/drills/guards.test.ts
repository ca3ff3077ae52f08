import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createGuardWatch, patienceLimitMs } from '../../../src/operations/drills/guards.ts';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import { createMetricsWindow } from '../../../src/operations/drills/metrics-window.ts';
import { figuresBetween } from '../../../src/operations/meter/figures.ts';
import { createMeter } from '../../../src/operations/meter/meter.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { createDrillHarness, createSimulatedDomain, type DrillHarness, planOf } from './harness.ts';

const withGuard = (figure: string, max: number, action: string, forMs = 500, more = {}) =>
  planOf({
    guards: [
      Object.fromEntries([
        ['figure', figure],
        ['max', max],
        ['forMs', forMs],
        ['then', action],
      ]),
    ],
    ...more,
  });

const atMsOf = (journal: Journal, kind: string): number =>
  journal.marks.find((mark) => mark.kind === kind)?.atMs ?? Number.NaN;

/** Changes the load the given time after the second stage began. */
function changeLoadAfter(harness: DrillHarness, afterMs: number, change: (harness: DrillHarness) => void): void {
  let done = false;
  harness.onTick = (journal) => {
    const stage = journal.marks.find((mark) => mark.kind === 'stage' && mark.stage === 1);
    const lastMs = journal.samples.at(-1)?.atMs ?? 0;
    if (done || stage === undefined || lastMs - stage.atMs < afterMs) return;
    done = true;
    change(harness);
  };
}

test('a guard that breaks rolls the drill back within two seconds of the harm', async (t) => {
  const harness = createDrillHarness(t);
  let brokeMs = 0;
  changeLoadAfter(harness, 1000, ({ load, clock }) => {
    load().failing = 0.08;
    brokeMs = clock.wallMs();
  });
  const journal = await harness.run(withGuard('errorRate', 0.02, 'rollback'));
  assert.equal(journal.verdict?.kind, 'failed');
  assert.match(journal.verdict?.detail ?? '', /^A guard broke: errorRate was 0\.0\d+, above 0\.02\.$/);
  assert.deepEqual(journal.verdict?.resumable, { domain: 'goods', stage: 1 });
  const tookMs = journal.startedAtMs + atMsOf(journal, 'restored') - brokeMs;
  assert.ok(tookMs <= 2000, `rolled back ${tookMs} ms after the harm began`);
  assert.equal(harness.control().document().overlay, undefined);
});

test('the journal has the figures after a rollback', async (t) => {
  const harness = createDrillHarness(t);
  changeLoadAfter(harness, 0, ({ load }) => {
    load().p99Ms = 2000;
  });
  const { learned, verdict } = await harness.run(withGuard('p99Ms', 500, 'rollback'));
  assert.match(verdict?.detail ?? '', /p99Ms was 2000, above 500/);
  assert.ok(Math.abs((learned[0]?.after?.hitRatio ?? 0) - 0.9) < 0.01);
});

test('a guard with hold keeps the drill in its stage until the guard holds again', async (t) => {
  const harness = createDrillHarness(t);
  let since = 0;
  changeLoadAfter(harness, 0, ({ load, clock }) => {
    load().inFlight = 8;
    since = clock.monotonicMs();
    harness.onTick = () => {
      if (clock.monotonicMs() - since > 20_000) load().inFlight = 1;
    };
  });
  const journal = await harness.run(withGuard('engineInFlightShare', 0.9, 'hold'));
  assert.equal(journal.verdict?.kind, 'passed', journal.verdict?.detail ?? 'no verdict');
  const phases = journal.marks.flatMap((mark) => (mark.kind === 'phase' ? [mark.phase] : []));
  assert.deepEqual(phases, ['baseline', 'stage', 'hold', 'stage', 'recovery', 'after']);
  assert.ok(atMsOf(journal, 'restored') > 25_000);
});

test('a drill that is held for too long ends', async (t) => {
  const harness = createDrillHarness(t);
  changeLoadAfter(harness, 0, ({ load }) => {
    load().inFlight = 8;
  });
  const { verdict } = await harness.run(withGuard('engineInFlightShare', 0.9, 'hold'));
  assert.equal(verdict?.kind, 'failed');
  assert.match(verdict?.detail ?? '', /did not hold again within 5 minutes/);
});

test('a guard with continue is recorded and changes nothing', async (t) => {
  const harness = createDrillHarness(t);
  const journal = await harness.run(withGuard('engineRateFactor', 3, 'continue'));
  assert.equal(journal.verdict?.kind, 'passed', journal.verdict?.detail ?? 'no verdict');
  const turns = journal.marks.flatMap(({ kind }) => (kind.startsWith('guard') ? [kind] : []));
  assert.deepEqual(turns, ['guard', 'guard-holds']);
  assert.ok(harness.events.some(({ kind }) => kind === 'drill-guard'));
});

test('a break that is shorter than the time of the guard ends nothing', async (t) => {
  const harness = createDrillHarness(t);
  changeLoadAfter(harness, 0, ({ load, clock }) => {
    load().failing = 0.08;
    const sinceMs = clock.monotonicMs();
    harness.onTick = () => {
      if (clock.monotonicMs() - sinceMs >= 1000) load().failing = 0;
    };
  });
  const { verdict } = await harness.run(withGuard('errorRate', 0.02, 'rollback', 5000));
  assert.equal(verdict?.kind, 'passed', verdict?.detail ?? 'no verdict');
});

test('harm to keys that were not flushed breaks a guard', async (t) => {
  const harness = createDrillHarness(t);
  const holdout = {
    holdout: 0.1,
    stages: [
      { fraction: 0.1, holdMs: 2000 },
      { fraction: 0.2, holdMs: 20_000 },
    ],
  };
  changeLoadAfter(harness, 0, ({ load }) => {
    load().hitRatio = 0.4;
  });
  const { verdict } = await harness.run(withGuard('hitRatioDrop', 25, 'rollback', 500, holdout));
  assert.match(verdict?.detail ?? '', /hitRatioDrop was [2-5]\d(\.\d)?, above 25/);
});

test('a drill whose figures can no longer be read ends, because no guard would work', async (t) => {
  const harness = createDrillHarness(t);
  changeLoadAfter(harness, 0, ({ load }) => {
    load().away = true;
  });
  const { verdict } = await harness.run(planOf());
  assert.equal(verdict?.kind, 'not-measured');
  assert.match(verdict?.detail ?? '', /figures of the fleet could not be read/);
  assert.equal(harness.control().document().overlay, undefined);
});

test('a hypothesis that fails already refuses the drill before its first stage', async (t) => {
  const harness = createDrillHarness(t);
  harness.load().failing = 0.05;
  const journal = await harness.run(planOf());
  assert.equal(journal.verdict?.kind, 'refused');
  assert.match(journal.verdict?.detail ?? '', /errorRate is 0\.05, above 0\.02/);
  assert.equal(journal.verdict?.resumable, undefined);
  assert.equal(
    journal.marks.some(({ kind }) => kind === 'stage' || kind === 'restored'),
    false,
  );
  assert.equal(journal.learned[0]?.stages.length, 0);
});

test('a drill without traffic is refused', async (t) => {
  const harness = createDrillHarness(t);
  harness.load().searchesPerSecond = 0;
  const { verdict } = await harness.run(planOf());
  assert.equal(verdict?.kind, 'refused');
  assert.match(verdict?.detail ?? '', /Only 0 searches in the baseline; the plan wants 100/);
});

test('a hypothesis that does not hold once the cache is back fails the drill', async (t) => {
  const harness = createDrillHarness(t);
  harness.onTick = ({ state }) => {
    if (state.kind === 'ending') harness.load().failing = 0.08;
  };
  const { verdict } = await harness.run(planOf());
  assert.equal(verdict?.kind, 'failed');
  assert.match(verdict?.detail ?? '', /does not hold afterwards: errorRate/);
});

test('a cache that does not refill within the timeout fails the drill and is restored', async (t) => {
  const harness = createDrillHarness(t);
  harness.load().refillMs = 600_000;
  const plan = planOf({ stages: [{ fraction: 0.5, holdMs: 2000 }], recovery: { withinPoints: 5, timeoutMs: 8000 } });
  const { verdict, learned } = await harness.run(plan);
  assert.equal(verdict?.kind, 'failed');
  assert.match(verdict?.detail ?? '', /not back within 5 points of its past after 8 s/);
  assert.equal(learned[0]?.stages[0]?.refillMs, undefined);
  assert.equal(harness.control().document().overlay, undefined);
});

test('a loss that the control cohort shares is not counted as an effect of the flush', async (t) => {
  const harness = createDrillHarness(t);
  changeLoadAfter(harness, 3000, ({ load }) => {
    load().hitRatio = 0.6;
  });
  const stages = [
    { fraction: 0.25, holdMs: 2000 },
    { fraction: 0.5, holdMs: 6000 },
  ];
  const { verdict } = await harness.run(planOf({ stages, guards: [], holdout: 0.2 }));
  assert.equal(verdict?.kind, 'passed', verdict?.detail ?? 'no verdict');
});

const { guards } = planOf({
  // biome-ignore lint/suspicious/noThenProperty: a key of the plan; the object is never awaited.
  guards: [{ figure: 'errorRate', max: 0.1, forMs: 2000, then: 'hold' }],
});

/** Checks a guard every half second with the given values. */
function statesAfter(values: readonly (number | undefined)[]) {
  const watch = createGuardWatch(guards);
  return values.map((value, n) => watch.check(n * 500, () => value)[0]);
}

test('a guard is breached when it was broken for its whole time without a break', () => {
  const states = statesAfter([0.5, 0.5, 0.5, 0.5, 0.5]);
  assert.deepEqual(
    states.map((state) => state?.breached),
    [false, false, false, false, true],
  );
});

test('two short breaks do not add up', () => {
  const states = statesAfter([0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0]);
  assert.ok(states.every((state) => state?.breached === false && state.turned === undefined));
});

test('a breached guard holds again when a good value is measured, not when there is no value', () => {
  const states = statesAfter([0.5, 0.5, 0.5, 0.5, 0.5, undefined, undefined, 0]).slice(4);
  assert.deepEqual(
    states.map((state) => [state?.broken, state?.turned]),
    [
      [true, 'breached'],
      [true, undefined],
      [true, undefined],
      [false, 'holds'],
    ],
  );
});

test('a guard without any value is not broken', () => {
  const states = statesAfter([undefined, 0.5, undefined, undefined, undefined, undefined, undefined]);
  assert.deepEqual(
    states.map((state) => state?.broken),
    [false, true, false, false, false, false, false],
  );
});

/** The p99 that guards see when all searches have this duration. */
function p99Of(durationMs: number): number {
  const clock = createFakeClock();
  const levels = { inFlight: 0, queued: 0, maxConcurrent: 1, ceiling: 1, breaker: 'closed' } as const;
  const meter = createMeter({ buckets: 1, engine: () => levels, clock });
  const before = new Map([['only', meter.read()]]);
  for (let n = 0; n < 100; n += 1) meter.noteRequest({ outcome: 'engine', durationMs });
  clock.advance(1000);
  return figuresBetween(before, new Map([['only', meter.read()]])).p99Ms ?? Number.NaN;
}

test('an answer at the end of the patience breaks no guard, and a clearly later one does', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 60_000 }), (patienceMs) => {
      const max = patienceLimitMs(patienceMs);
      assert.ok(p99Of(patienceMs) <= max, `${patienceMs} ms is reported as ${p99Of(patienceMs)}, the limit is ${max}`);
      assert.ok(p99Of(patienceMs + 200) <= max);
      assert.ok(p99Of(max + 1) > max, `${max + 1} ms is reported as ${p99Of(max + 1)}`);
      assert.ok(max <= patienceMs * 1.5 + 600, `${max} for ${patienceMs}`);
    }),
  );
});

test('every ready-made plan limits p99 by the patience of its domain', async (t) => {
  const harness = createDrillHarness(t, { domains: ['goods', 'auto'], patienceMs: { auto: 4000 }, nodes: ['a:1'] });
  const limits = (plan: { readonly guards: readonly { readonly figure: string; readonly max: number }[] }) =>
    plan.guards.filter(({ figure }) => figure === 'p99Ms').map(({ max }) => max);
  for (const { name } of harness.drills.plans()) {
    assert.deepEqual(limits((await harness.drills.preview({ plan: name, domains: ['goods'] })).plan), [2250], name);
    assert.deepEqual(limits((await harness.drills.preview({ plan: name, domains: ['auto'] })).plan), [5000], name);
  }
  const own = planOf({ guards: [Object.fromEntries([...GUARD, ['max', 'patience']])] });
  assert.deepEqual(limits((await harness.drills.preview({ plan: own, domains: ['auto'] })).plan), [5000]);
  const fixed = planOf({ guards: [Object.fromEntries([...GUARD, ['max', 700]])] });
  assert.deepEqual(limits((await harness.drills.preview({ plan: fixed, domains: ['auto'] })).plan), [700]);
});

test('with several domains the limit follows the most patient one', async (t) => {
  const harness = createDrillHarness(t, { domains: ['goods', 'auto', 'jobs'], patienceMs: { auto: 4000 } });
  const { plan } = await harness.drills.preview({ plan: 'domain-by-domain' });
  assert.deepEqual(
    plan.guards.flatMap(({ figure, max }) => (figure === 'p99Ms' ? [max] : [])),
    [5000],
  );
});

const GUARD = [
  ['figure', 'p99Ms'],
  ['forMs', 500],
  ['then', 'rollback'],
] as const;

/** A window of ten seconds with two readings and ten searches per second. */
async function filledWindow() {
  const clock = createFakeClock();
  const { readings, load } = createSimulatedDomain(clock, { overlay: () => undefined });
  load.searchesPerSecond = 10;
  const metrics = createMetricsWindow();
  for (let ms = 0; ms <= 10_000; ms += 500) {
    metrics.add(ms, (await readings.collect()) ?? new Map());
    clock.advance(500);
  }
  return metrics;
}

test('the period is as short as allowed, and as long as needed for enough searches', async () => {
  const metrics = await filledWindow();
  assert.equal(metrics.over({ atLeastMs: 2000 })?.seconds, 2);
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 50 })?.seconds, 5);
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 1001 }), undefined);
});

test('the period does not begin before the given start', async () => {
  const metrics = await filledWindow();
  assert.equal(metrics.over({ atLeastMs: 2000 }, 9000), undefined);
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 50 }, 6000), undefined);
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 40 }, 6000)?.seconds, 4);
});

test('the period is not longer than its maximum', async () => {
  const metrics = await filledWindow();
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 50, atMostMs: 4000 }), undefined);
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 50, atMostMs: 5000 })?.seconds, 5);
});
