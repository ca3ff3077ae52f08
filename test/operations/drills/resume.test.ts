import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OverlayRange } from '../../../src/control/document.ts';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import { createDrillHarness, planOf } from './harness.ts';

const CALLER = { by: 'anna', reason: 'again' };

const stageMarks = ({ marks }: Journal) => marks.flatMap((mark) => (mark.kind === 'stage' ? [mark] : []));
const flushedBy = (ranges: readonly OverlayRange[] = []): string => JSON.stringify(ranges);

test('a resumed drill goes on from its unfinished stage, over the same keys, and leaves alone what was refilled', async (t) => {
  const rig = createDrillHarness();
  t.after(rig.close);
  const { id } = await rig.start(planOf());
  rig.onTick = ({ state }) => {
    if (state.kind !== 'running' || state.stage !== 1) return;
    rig.onTick = undefined;
    void rig.drills.abort(id, CALLER);
  };
  const stopped = await rig.end(id);
  const next = await rig.drills.resume(id, CALLER);
  assert.equal(next.resumes, id);
  assert.equal(next.offset, stopped.offset);
  const resumed = await rig.end(next.id);
  assert.equal(resumed.verdict?.kind, 'passed', resumed.verdict?.detail);
  assert.deepEqual(
    stageMarks(resumed).map(({ stage }) => stage),
    [1],
  );
  assert.equal(flushedBy(stageMarks(resumed)[0]?.ranges), flushedBy(stageMarks(stopped)[1]?.ranges), 'floors included');
  assert.equal(resumed.marks[0]?.kind === 'phase' && resumed.marks[0].phase, 'baseline');
  assert.equal(resumed.learned[0]?.stages.length, 1);
});

test('a drill that was stopped in its baseline is resumed from its first stage', async (t) => {
  const rig = createDrillHarness();
  t.after(rig.close);
  const { id } = await rig.start(planOf());
  await rig.drills.abort(id, CALLER);
  await rig.end(id);
  const resumed = await rig.end((await rig.drills.resume(id, CALLER)).id);
  assert.deepEqual(
    stageMarks(resumed).map(({ stage }) => stage),
    [0, 1],
  );
});

test('a resumed stage that had not begun is flushed with a floor of its own', async (t) => {
  const rig = createDrillHarness();
  t.after(rig.close);
  const { id } = await rig.start(planOf({ stages: [1, 2, 3].map((n) => ({ fraction: n / 3, holdMs: 3000 })) }));
  rig.onTick = ({ state }) => {
    if (state.kind !== 'running' || state.stage !== 1) return;
    rig.onTick = undefined;
    void rig.drills.abort(id, CALLER);
  };
  const stopped = await rig.end(id);
  const resumed = await rig.end((await rig.drills.resume(id, CALLER)).id);
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

test('of a drill over domains the rest is resumed, from the domain that was not finished', async (t) => {
  const rig = createDrillHarness({ domains: ['goods', 'auto', 'jobs'] });
  t.after(rig.close);
  const { id } = await rig.start('domain-by-domain');
  rig.onTick = ({ state }) => {
    if (state.kind !== 'running' || state.domain !== 'auto' || state.phase !== 'stage') return;
    rig.onTick = undefined;
    void rig.drills.abort(id, CALLER);
  };
  await rig.end(id);
  const resumed = await rig.end((await rig.drills.resume(id, CALLER)).id);
  assert.deepEqual(resumed.domains, ['auto', 'jobs']);
  assert.equal(resumed.verdict?.kind, 'passed', resumed.verdict?.detail);
});

test('what runs, what passed and what was refused cannot be resumed', async (t) => {
  const rig = createDrillHarness();
  t.after(rig.close);
  const { id } = await rig.start(planOf());
  await assert.rejects(rig.drills.resume(id, CALLER), { code: 'drill-running' });
  await rig.end(id);
  await assert.rejects(rig.drills.resume(id, CALLER), { code: 'drill-over' });
  rig.weather().failing = 0.05;
  const refused = await rig.end((await rig.start(planOf())).id);
  await assert.rejects(rig.drills.resume(refused.id, CALLER), { code: 'drill-over' });
  await assert.rejects(rig.drills.resume('nobody', CALLER), { code: 'unknown-drill' });
  await assert.rejects(rig.drills.resume(id, { ...CALLER, reason: '' }), { code: 'drill-over' });
});
