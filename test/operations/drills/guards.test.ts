import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import { createRig, planOf, type Rig } from './rig.ts';

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

/** Changes the weather the given time after the second stage began. */
function turnWeather(rig: Rig, afterMs: number, change: (rig: Rig) => void): void {
  let done = false;
  rig.onTick = (journal) => {
    const stage = journal.marks.find((mark) => mark.kind === 'stage' && mark.stage === 1);
    const lastMs = journal.samples.at(-1)?.atMs ?? 0;
    if (done || stage === undefined || lastMs - stage.atMs < afterMs) return;
    done = true;
    change(rig);
  };
}

test('a guard that breaks rolls the drill back within two seconds of the harm', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  let brokeMs = 0;
  turnWeather(rig, 1000, ({ weather, clock }) => {
    weather().failing = 0.08;
    brokeMs = clock.wallMs();
  });
  const journal = await rig.end((await rig.start(withGuard('errorRate', 0.02, 'rollback'))).id);
  assert.equal(journal.verdict?.kind, 'failed');
  assert.match(journal.verdict?.detail ?? '', /^A guard broke: errorRate was 0\.0\d+, above 0\.02\.$/);
  assert.deepEqual(journal.verdict?.resumable, { domain: 'goods', stage: 1 });
  const tookMs = journal.startedAtMs + atMsOf(journal, 'restored') - brokeMs;
  assert.ok(tookMs <= 2000, `rolled back ${tookMs} ms after the harm began`);
  assert.equal(rig.control().document().overlay, undefined);
});

test('what the cache did after a rollback is in the journal', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  turnWeather(rig, 0, ({ weather }) => {
    weather().p99Ms = 2000;
  });
  const { learned, verdict } = await rig.end((await rig.start(withGuard('p99Ms', 500, 'rollback'))).id);
  assert.match(verdict?.detail ?? '', /p99Ms was 2000, above 500/);
  assert.ok(Math.abs((learned[0]?.after?.hitRatio ?? 0) - 0.9) < 0.01);
});

test('a guard that holds the drill keeps it in its stage until it holds again', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  let since = 0;
  turnWeather(rig, 0, ({ weather, clock }) => {
    weather().inFlight = 8;
    since = clock.monotonicMs();
    rig.onTick = () => {
      if (clock.monotonicMs() - since > 20_000) weather().inFlight = 1;
    };
  });
  const journal = await rig.end((await rig.start(withGuard('engineInFlightShare', 0.9, 'hold'))).id);
  assert.equal(journal.verdict?.kind, 'passed', journal.verdict?.detail);
  const phases = journal.marks.flatMap((mark) => (mark.kind === 'phase' ? [mark.phase] : []));
  assert.deepEqual(phases, ['baseline', 'stage', 'hold', 'stage', 'recovery', 'after']);
  assert.ok(atMsOf(journal, 'restored') > 25_000);
});

test('a drill that is held for too long ends', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  turnWeather(rig, 0, ({ weather }) => {
    weather().inFlight = 8;
  });
  const { verdict } = await rig.end((await rig.start(withGuard('engineInFlightShare', 0.9, 'hold'))).id);
  assert.equal(verdict?.kind, 'failed');
  assert.match(verdict?.detail ?? '', /did not hold again within 5 minutes/);
});

test('a guard that is only written down changes nothing', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  const journal = await rig.end((await rig.start(withGuard('engineRateFactor', 3, 'continue'))).id);
  assert.equal(journal.verdict?.kind, 'passed', journal.verdict?.detail);
  const turns = journal.marks.flatMap(({ kind }) => (kind.startsWith('guard') ? [kind] : []));
  assert.deepEqual(turns, ['guard', 'guard-holds']);
  assert.ok(rig.events.some(({ kind }) => kind === 'drill-guard'));
});

test('a guard waits for its time: a shorter break ends nothing', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  turnWeather(rig, 0, ({ weather, clock }) => {
    weather().failing = 0.08;
    const sinceMs = clock.monotonicMs();
    rig.onTick = () => {
      if (clock.monotonicMs() - sinceMs >= 1000) weather().failing = 0;
    };
  });
  const { verdict } = await rig.end((await rig.start(withGuard('errorRate', 0.02, 'rollback', 5000))).id);
  assert.equal(verdict?.kind, 'passed', verdict?.detail);
});

test('harm to keys that nobody flushed breaks a guard', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  const holdout = {
    holdout: 0.1,
    stages: [
      { fraction: 0.1, holdMs: 2000 },
      { fraction: 0.2, holdMs: 20_000 },
    ],
  };
  turnWeather(rig, 0, ({ weather }) => {
    weather().hitRatio = 0.4;
  });
  const { verdict } = await rig.end((await rig.start(withGuard('hitRatioDrop', 25, 'rollback', 500, holdout))).id);
  assert.match(verdict?.detail ?? '', /hitRatioDrop was [2-5]\d(\.\d)?, above 25/);
});

test('a drill whose figures cannot be read any more is ended: nobody would guard it', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  turnWeather(rig, 0, ({ weather }) => {
    weather().away = true;
  });
  const { verdict } = await rig.end((await rig.start(planOf())).id);
  assert.equal(verdict?.kind, 'not-measured');
  assert.match(verdict?.detail ?? '', /figures of the fleet could not be read/);
  assert.equal(rig.control().document().overlay, undefined);
});

test('a hypothesis that fails already refuses the drill before its first stage', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  rig.weather().failing = 0.05;
  const journal = await rig.end((await rig.start(planOf())).id);
  assert.equal(journal.verdict?.kind, 'refused');
  assert.match(journal.verdict?.detail ?? '', /errorRate is 0\.05, above 0\.02/);
  assert.equal(journal.verdict?.resumable, undefined);
  assert.equal(
    journal.marks.some(({ kind }) => kind === 'stage' || kind === 'restored'),
    false,
  );
  assert.equal(journal.learned[0]?.stages.length, 0);
});

test('a drill without traffic teaches nothing and is refused', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  rig.weather().searchesPerSecond = 0;
  const { verdict } = await rig.end((await rig.start(planOf())).id);
  assert.equal(verdict?.kind, 'refused');
  assert.match(verdict?.detail ?? '', /Only 0 searches in the baseline; the plan wants 100/);
});

test('a hypothesis that does not hold once the cache is back fails the drill', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  rig.onTick = ({ state }) => {
    if (state.kind === 'ending') rig.weather().failing = 0.08;
  };
  const { verdict } = await rig.end((await rig.start(planOf())).id);
  assert.equal(verdict?.kind, 'failed');
  assert.match(verdict?.detail ?? '', /does not hold afterwards: errorRate/);
});

test('a cache that does not refill fails the drill when its time is up, and is given back', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  rig.weather().refillMs = 600_000;
  const plan = planOf({ stages: [{ fraction: 0.5, holdMs: 2000 }], recovery: { withinPoints: 5, timeoutMs: 8000 } });
  const { verdict, learned } = await rig.end((await rig.start(plan)).id);
  assert.equal(verdict?.kind, 'failed');
  assert.match(verdict?.detail ?? '', /not back within 5 points of its past after 8 s/);
  assert.equal(learned[0]?.stages[0]?.refillMs, undefined);
  assert.equal(rig.control().document().overlay, undefined);
});

test('what the control cohort lost meanwhile is not held against the flush', async (t) => {
  const rig = createRig();
  t.after(rig.close);
  turnWeather(rig, 3000, ({ weather }) => {
    weather().hitRatio = 0.6;
  });
  const stages = [
    { fraction: 0.25, holdMs: 2000 },
    { fraction: 0.5, holdMs: 6000 },
  ];
  const { verdict } = await rig.end((await rig.start(planOf({ stages, guards: [], holdout: 0.2 }))).id);
  assert.equal(verdict?.kind, 'passed', verdict?.detail);
});
