import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OverlayRange } from '../../../src/control/document.ts';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import { pluck } from '../../pluck.ts';
import { createDrillHarness, planOf } from './harness.ts';

test('a drill without harm runs its stages, recovers, restores the cache and passes', async (t) => {
  const harness = createDrillHarness(t);
  const begun = await harness.start('1-5-25-100');
  assert.equal(begun.state.kind, 'running');
  assert.match(begun.id, /^20261120-120000-goods-1-5-25-100-[a-z0-9]{4}$/);
  const journal = await harness.end(begun.id);
  assert.equal(journal.verdict?.kind, 'passed', journal.verdict?.detail ?? 'no verdict');
  assert.deepEqual(
    journal.marks.flatMap((mark) => (mark.kind === 'stage' ? [mark.title] : [])),
    ['1 % of the keys', '5 % of the keys', '25 % of the keys', 'all but the holdout'],
  );
  assert.equal(harness.control().document().overlay, undefined);
  assert.equal(harness.control().document().ranges.length, 0);
  const kinds = harness.events.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['drill-started', ...Array.from({ length: 4 }, () => 'drill-stage'), 'drill-ended']);
});

test('each stage is compared with its own past, and its result is in the journal', async (t) => {
  const harness = createDrillHarness(t);
  const { learned, samples } = await harness.run('1-5-25-100');
  const [goods] = learned;
  assert.equal(goods?.stages.length, 4);
  for (const stage of goods?.stages ?? []) {
    assert.equal(Math.round((stage.before ?? 0) * 100), 90);
    assert.ok((stage.lowest ?? 1) < 0.3, `lowest ${stage.lowest}`);
    assert.equal(Math.round((stage.end ?? 0) * 100), 90);
    assert.equal(Math.round((stage.control ?? 0) * 100), 90);
    assert.ok((stage.refillMs ?? 0) >= 2000 && (stage.refillMs ?? 0) <= 5000, `refilled after ${stage.refillMs} ms`);
  }
  // 74 % of the keys lost at once, with a hit ratio of 0.9: engine calls rise from 0.1 by up to 0.666. With all keys
  // lost they rise at most tenfold; the engine can serve sixteen times as many.
  const { headroom, headroomLeft, amplification, survivable } = goods?.survival ?? {};
  assert.ok((headroom?.low ?? 0) < 16 && (headroom?.high ?? 0) > 16, JSON.stringify(headroom));
  assert.ok((headroomLeft?.low ?? 0) > 2 && (headroomLeft?.high ?? 9) < 4, JSON.stringify(headroomLeft));
  assert.ok((amplification?.low ?? 0) > 4 && (amplification?.high ?? 99) <= 10, JSON.stringify(amplification));
  assert.deepEqual(survivable, { low: 1, high: 1 });
  assert.ok(Math.abs((goods?.after?.hitRatio ?? 0) - 0.9) < 0.02);
  assert.ok(samples.every(({ figures }) => figures.cohorts.length === 5));
});

test('a stage of 100 % does not flush the holdout, whatever the offset', async (t) => {
  const harness = createDrillHarness(t);
  const journal = await harness.run(planOf({ stages: [{ fraction: 1, holdMs: 2000 }], holdout: 0.2 }));
  const mark = journal.marks.find((one) => one.kind === 'stage');
  const flushed = mark?.kind === 'stage' ? mark.ranges.reduce((sum, { from, to }) => sum + to - from, 0) : 0;
  assert.equal(flushed, 8000);
  const control = journal.samples.at(-12)?.figures.cohorts[0];
  assert.ok(Math.abs((control?.hitRatio ?? 0) - 0.9) < 0.01);
});

test('domains are drilled one after another, and the first one that fails ends the drill', async (t) => {
  const harness = createDrillHarness(t, { domains: ['goods', 'auto', 'jobs'] });
  harness.load('auto').failing = 0.05;
  const journal = await harness.run('domain-by-domain');
  assert.deepEqual(journal.domains, ['goods', 'auto', 'jobs']);
  assert.equal(journal.verdict?.kind, 'refused');
  assert.match(journal.verdict?.detail ?? '', /^auto: The hypothesis fails before the first stage: errorRate is 0\.05/);
  assert.deepEqual([...new Set(journal.samples.map(({ domain }) => domain))], ['goods', 'auto']);
  for (const name of journal.domains) assert.equal(harness.control(name).document().overlay, undefined);
});

test('in a drill node by node, all keys of the nodes lost so far are flushed', async (t) => {
  const nodes = ['a:1', 'b:2', 'c:3'];
  const harness = createDrillHarness(t, { nodes });
  const seen = new Set<string>();
  harness.onTick = () => seen.add((harness.control().overlay()?.nodes ?? []).join(' '));
  const journal = await harness.run('node-by-node');
  assert.equal(journal.verdict?.kind, 'passed', journal.verdict?.detail ?? 'no verdict');
  assert.deepEqual([...seen], ['', 'a:1', 'a:1 b:2', 'a:1 b:2 c:3']);
});

test('a blackout flushes nothing and forces the breaker open until it ends', async (t) => {
  const harness = createDrillHarness(t);
  const seen = new Set<string>();
  harness.onTick = ({ state }) => {
    const phase = state.kind === 'running' ? state.phase : state.kind;
    const { blackout, ranges } = harness.control().overlay() ?? { ranges: [] };
    seen.add(`${phase} ${blackout} ${ranges.length}`);
  };
  const journal = await harness.run('engine-blackout');
  assert.equal(journal.verdict?.kind, 'passed', journal.verdict?.detail ?? 'no verdict');
  assert.deepEqual([...seen], ['baseline false 0', 'stage true 0', 'recovery false 0', 'ending false 0']);
});

test('a lower hit ratio that may be chance ends as not measured and not as failed', async (t) => {
  const harness = createDrillHarness(t);
  harness.load().searchesPerSecond = 40;
  harness.onTick = ({ state }) => {
    if (state.kind === 'running' && state.phase !== 'baseline') harness.load().hitRatio = 0.8;
  };
  const stages = [{ fraction: 0.05, holdMs: 5000 }];
  const { verdict } = await harness.run(planOf({ stages, guards: [], minSearches: 50 }));
  assert.equal(verdict?.kind, 'not-measured', verdict?.detail ?? 'no verdict');
  assert.match(verdict?.detail ?? '', /too few searches of the flushed keys to tell a lower hit ratio from chance/);
});

test('in mode erase each stage erases its own cohort, and does not end before the erasure', async (t) => {
  let finish = (): void => {};
  const harness = createDrillHarness(t, {
    nodes: ['a:1'],
    erasing: () => new Promise((resolve) => (finish = resolve)),
  });
  let lastedMs = 0;
  harness.onTick = (journal) => {
    const first = journal.marks.find(({ kind }) => kind === 'stage');
    lastedMs = (journal.samples.at(-1)?.atMs ?? 0) - (first?.atMs ?? Number.POSITIVE_INFINITY);
    if (lastedMs > 20_000) finish();
  };
  const journal = await harness.run(planOf({ mode: 'erase' }));
  assert.equal(journal.verdict?.kind, 'passed', journal.verdict?.detail ?? 'no verdict');
  const [first, second] = journal.marks.filter(({ kind }) => kind === 'stage');
  assert.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) > 20_000, 'five seconds were planned');
  const widths = harness.erased.map(({ ranges }) => ranges.reduce((sum, { from, to }) => sum + to - from, 0));
  assert.deepEqual(widths, [2500, 7400]);
});

test('a drill whose erasure fails has failed', async (t) => {
  const harness = createDrillHarness(t, { nodes: ['a:1'], erasing: () => Promise.reject(new Error('NOPERM')) });
  const { verdict } = await harness.run(planOf({ mode: 'erase' }));
  assert.equal(verdict?.kind, 'failed');
  assert.equal(verdict?.detail, 'Not everything could be erased: NOPERM.');
});

test('a journal has a bounded number of samples, spread over the whole drill', async (t) => {
  const harness = createDrillHarness(t);
  const journal = await harness.run(planOf({ stages: [{ fraction: 0.5, holdMs: 2_400_000 }] }));
  assert.ok(journal.samples.length <= 4000 && journal.samples.length > 2000, `${journal.samples.length} samples`);
  assert.ok((journal.samples[0]?.atMs ?? 0) < 5000);
});

const CALLER = { by: 'anna', reason: 'again' };

const stageMarks = ({ marks }: Journal) => marks.flatMap((mark) => (mark.kind === 'stage' ? [mark] : []));
const flushedBy = (ranges: readonly OverlayRange[] = []): string => JSON.stringify(ranges);

test('a resumed drill begins at its unfinished stage, with the same keys, and keeps refilled entries', async (t) => {
  const harness = createDrillHarness(t);
  const { id } = await harness.start(planOf());
  harness.onTick = ({ state }) => {
    if (state.kind !== 'running' || state.stage !== 1) return;
    harness.onTick = undefined;
    void harness.drills.abort(id, CALLER);
  };
  const stopped = await harness.end(id);
  const next = await harness.drills.resume(id, CALLER);
  assert.equal(next.resumes, id);
  assert.equal(next.offset, stopped.offset);
  const resumed = await harness.end(next.id);
  assert.equal(resumed.verdict?.kind, 'passed', resumed.verdict?.detail ?? 'no verdict');
  assert.deepEqual(pluck(stageMarks(resumed), 'stage'), [1]);
  assert.equal(flushedBy(stageMarks(resumed)[0]?.ranges), flushedBy(stageMarks(stopped)[1]?.ranges), 'floors included');
  assert.equal(resumed.marks[0]?.kind === 'phase' && resumed.marks[0].phase, 'baseline');
  assert.equal(resumed.learned[0]?.stages.length, 1);
});

test('a drill that was stopped in its baseline is resumed at its first stage', async (t) => {
  const harness = createDrillHarness(t);
  const { id } = await harness.start(planOf());
  await harness.drills.abort(id, CALLER);
  await harness.end(id);
  const resumed = await harness.end((await harness.drills.resume(id, CALLER)).id);
  assert.deepEqual(pluck(stageMarks(resumed), 'stage'), [0, 1]);
});

test('a resumed stage that had not begun is flushed with a floor of its own', async (t) => {
  const harness = createDrillHarness(t);
  const { id } = await harness.start(planOf({ stages: [1, 2, 3].map((n) => ({ fraction: n / 3, holdMs: 3000 })) }));
  harness.onTick = ({ state }) => {
    if (state.kind !== 'running' || state.stage !== 1) return;
    harness.onTick = undefined;
    void harness.drills.abort(id, CALLER);
  };
  const stopped = await harness.end(id);
  const resumed = await harness.end((await harness.drills.resume(id, CALLER)).id);
  const last = stageMarks(resumed).at(-1);
  const floors = (journal: Journal) =>
    stageMarks(journal)
      .at(-1)
      ?.ranges.map(({ floor = 0 }) => floor) ?? [];
  assert.equal(last?.stage, 2);
  assert.ok(floors(stopped).length > 0);
  assert.ok(Math.max(...floors(resumed)) > Math.max(...floors(stopped)));
  assert.ok(floors(stopped).every((floor) => floors(resumed).includes(floor)));
});

test('a drill over domains is resumed at the unfinished domain', async (t) => {
  const harness = createDrillHarness(t, { domains: ['goods', 'auto', 'jobs'] });
  const { id } = await harness.start('domain-by-domain');
  harness.onTick = ({ state }) => {
    if (state.kind !== 'running' || state.domain !== 'auto' || state.phase !== 'stage') return;
    harness.onTick = undefined;
    void harness.drills.abort(id, CALLER);
  };
  await harness.end(id);
  const resumed = await harness.end((await harness.drills.resume(id, CALLER)).id);
  assert.deepEqual(resumed.domains, ['auto', 'jobs']);
  assert.equal(resumed.verdict?.kind, 'passed', resumed.verdict?.detail ?? 'no verdict');
});

test('a running, a passed and a refused drill cannot be resumed', async (t) => {
  const harness = createDrillHarness(t);
  const { id } = await harness.start(planOf());
  await assert.rejects(harness.drills.resume(id, CALLER), { code: 'drill-running' });
  await harness.end(id);
  await assert.rejects(harness.drills.resume(id, CALLER), { code: 'drill-over' });
  harness.load().failing = 0.05;
  const refused = await harness.run(planOf());
  await assert.rejects(harness.drills.resume(refused.id, CALLER), { code: 'drill-over' });
  await assert.rejects(harness.drills.resume('nobody', CALLER), { code: 'unknown-drill' });
  await assert.rejects(harness.drills.resume(id, { ...CALLER, reason: '' }), { code: 'drill-over' });
});
