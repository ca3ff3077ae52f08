import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OverlayRange } from '../../../src/control/document.ts';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import { createDrillHarness, planOf } from './harness.ts';

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
  assert.deepEqual(
    stageMarks(resumed).map(({ stage }) => stage),
    [1],
  );
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
  assert.deepEqual(
    stageMarks(resumed).map(({ stage }) => stage),
    [0, 1],
  );
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
