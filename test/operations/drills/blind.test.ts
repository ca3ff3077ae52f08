import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControlStore } from '../../../src/control/control-store.ts';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { plain } from '../../plain.ts';
import { createDrillHarness, planOf } from './harness.ts';

const stagesOf = ({ marks }: Journal): number => marks.filter(({ kind }) => kind === 'stage').length;

const guarded = (action: string) =>
  planOf({
    // biome-ignore lint/suspicious/noThenProperty: a key of the plan; the object is never awaited.
    guards: [{ figure: 'errorRate', max: 0.01, forMs: 500, then: action }],
  });

test('a drill on hold stays on hold while its figures are unreadable', async (t) => {
  const harness = createDrillHarness(t);
  let heldTicks = 0;
  harness.onTick = ({ state }) => {
    const load = harness.load();
    load.failing = 0.05;
    if (state.kind === 'running' && state.phase === 'baseline') load.failing = 0;
    if (state.kind === 'running' && state.phase === 'hold') heldTicks += 1;
    load.away = heldTicks >= 15 && heldTicks % 15 < 3;
  };
  const journal = await harness.run(guarded('hold'));
  assert.equal(stagesOf(journal), 1);
  assert.match(journal.verdict?.detail ?? '', /did not hold again within 5 minutes/);
});

test('no stage begins while no process is heard', async (t) => {
  const harness = createDrillHarness(t);
  harness.onTick = (journal) => {
    if (stagesOf(journal) === 1) harness.load().away = (journal.samples.at(-1)?.atMs ?? 0) > 8500;
  };
  const journal = await harness.run(guarded('rollback'));
  assert.equal(stagesOf(journal), 1);
  assert.match(journal.verdict?.detail ?? '', /figures of the fleet could not be read/);
});

for (const [when, fromMs] of Object.entries({ 'with a stage': 0, 'within a stage': 3000 })) {
  test(`when the searches stop ${when}, the drill does not continue`, async (t) => {
    const harness = createDrillHarness(t);
    harness.onTick = ({ marks, samples }) => {
      const stage = marks.find(({ kind }) => kind === 'stage');
      if (stage !== undefined && (samples.at(-1)?.atMs ?? 0) - stage.atMs >= fromMs)
        harness.load().searchesPerSecond = 0;
    };
    const stages = [0.01, 0.25, 1].map((fraction) => ({ fraction, holdMs: 8000 }));
    const journal = await harness.run(planOf({ stages }));
    assert.equal(stagesOf(journal), 1);
    assert.deepEqual(journal.verdict, {
      kind: 'not-measured',
      detail: 'For 5 minutes there were too few searches to go on.',
      resumable: { domain: 'goods', stage: 0 },
    });
    assert.equal(harness.control().document().overlay, undefined);
  });
}

test('with little traffic a stage lasts until its guards have twenty searches', async (t) => {
  const harness = createDrillHarness(t);
  harness.onTick = (journal) => {
    if (stagesOf(journal) === 1) harness.load().searchesPerSecond = 4;
    if (stagesOf(journal) === 2) harness.load().searchesPerSecond = 1000;
  };
  const stages = [0.25, 1].map((fraction) => ({ fraction, holdMs: 1000 }));
  const { marks } = await harness.run(planOf({ stages }));
  const [first, second] = marks.flatMap(({ kind, atMs }) => (kind === 'stage' ? [atMs] : []));
  assert.ok((second ?? 0) - (first ?? 0) >= 5000, `it lasted ${(second ?? 0) - (first ?? 0)} ms`);
});

test('when searches come back, the drill continues', async (t) => {
  const harness = createDrillHarness(t);
  harness.onTick = ({ marks, samples }) => {
    const sinceMs = (samples.at(-1)?.atMs ?? 0) - (marks.find(({ kind }) => kind === 'stage')?.atMs ?? 1e9);
    harness.load().searchesPerSecond = sinceMs >= 0 && sinceMs < 60_000 ? 0 : 1000;
  };
  const journal = await harness.run(planOf());
  assert.equal(journal.verdict?.kind, 'passed', journal.verdict?.detail ?? 'no verdict');
  const phases = journal.marks.flatMap((mark) => (mark.kind === 'phase' ? [mark.phase] : []));
  assert.deepEqual(phases, ['baseline', 'stage', 'hold', 'stage', 'recovery', 'after']);
});

for (const [how, words] of [
  ['away', /could not be measured afterwards: the fleet was not heard/],
  ['silent', /could not be measured afterwards: there were only 0 searches/],
] as const) {
  test(`a drill does not pass on an end that is ${how}`, async (t) => {
    const harness = createDrillHarness(t);
    harness.onTick = ({ state }) => {
      if (state.kind !== 'ending') return;
      if (how === 'away') harness.load().away = true;
      else harness.load().searchesPerSecond = 0;
    };
    const { verdict } = await harness.run(planOf({ afterMs: 3000 }));
    assert.equal(verdict?.kind, 'not-measured');
    assert.match(verdict?.detail ?? '', words);
  });
}

test('the baseline waits for a cohort with few searches, and then the drill passes', async (t) => {
  const harness = createDrillHarness(t);
  // 0.6 searches a second of 1 % of the keys: twenty in half a minute.
  harness.load().searchesPerSecond = 60;
  const journal = await harness.run('canary');
  assert.equal(journal.verdict?.kind, 'passed', journal.verdict?.detail ?? 'no verdict');
  const stage = journal.marks.find(({ kind }) => kind === 'stage');
  assert.ok((stage?.atMs ?? 0) >= 33_000, `it began at ${stage?.atMs} ms`);
  assert.ok((journal.endedAtMs ?? 0) - journal.startedAtMs < 180_000);
});

test('a cohort without searches is not flushed, and the drill ends as not measured', async (t) => {
  const harness = createDrillHarness(t);
  harness.load().searchesPerSecond = 20;
  const journal = await harness.run('canary');
  assert.equal(journal.verdict?.kind, 'not-measured');
  assert.match(journal.verdict?.detail ?? '', /1[0-2] times in 60 s; 20 are needed\..* Nothing was flushed\.$/);
  assert.equal(journal.verdict?.resumable, undefined);
  assert.equal(stagesOf(journal), 0);
  assert.ok((journal.endedAtMs ?? 0) - journal.startedAtMs < 70_000);
});

test('when the searches of the flushed keys end, a recovery waits for a minute and not for its timeout', async (t) => {
  const harness = createDrillHarness(t);
  let recoveryMs = 0;
  harness.onTick = ({ state, marks, samples }) => {
    const isHolding = state.kind === 'running' && state.phase === 'recovery';
    if (marks.some(({ kind }) => kind === 'stage') && state.kind === 'running') harness.load().searchesPerSecond = 5;
    if (state.kind === 'ending') harness.load().searchesPerSecond = 1000;
    if (isHolding && recoveryMs === 0) recoveryMs = samples.at(-1)?.atMs ?? 0;
  };
  const journal = await harness.run('canary');
  assert.equal(journal.verdict?.kind, 'not-measured');
  assert.match(journal.verdict?.detail ?? '', /^For 60 s the flushed keys were searched for too seldom/);
  const restored = journal.marks.find(({ kind }) => kind === 'restored');
  assert.ok((restored?.atMs ?? 0) - recoveryMs < 65_000, `${(restored?.atMs ?? 0) - recoveryMs} ms`);
});

test('a process that is no longer heard fails the drill, unless it is back at the end', async (t) => {
  const verdictWith = async (atTheEnd: number) => {
    const harness = createDrillHarness(t);
    harness.load().others = 2;
    harness.onTick = (journal) => {
      if (stagesOf(journal) > 0) harness.load().others = 1;
      if (journal.state.kind === 'ending') harness.load().others = atTheEnd;
    };
    return (await harness.run(planOf())).verdict;
  };
  assert.deepEqual(plain(await verdictWith(1)), {
    kind: 'failed',
    detail: 'Only 2 of 3 processes were heard at the end.',
  });
  assert.equal((await verdictWith(2))?.kind, 'passed');
});

test('a stage that the control store never takes ends the drill', async (t) => {
  const clock = createFakeClock();
  const whole = createMemoryControlStore({ clock });
  let isDeaf = false;
  const store: ControlStore = {
    ...whole,
    swap: (domain, tag, next, ms) =>
      isDeaf ? Promise.resolve({ kind: 'fault', fault: 'store-down' }) : whole.swap(domain, tag, next, ms),
  };
  const harness = createDrillHarness(t, { store, clock });
  let ticks = 0;
  harness.onTick = () => {
    ticks += 1;
  };
  const { id } = await harness.start(planOf());
  isDeaf = true;
  const { verdict, samples } = await harness.end(id);
  assert.equal(verdict?.kind, 'lost');
  assert.match(verdict?.detail ?? '', /^The control store took no change\./);
  assert.equal(samples.at(-1)?.phase, 'baseline');
  assert.ok(ticks < 40, `${ticks} ticks`);
  isDeaf = false;
});
