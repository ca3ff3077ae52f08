import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { compareRuns, earlierRun, type FigureComparison } from '../../../loadtest/judge/compare.ts';
import { makeRunFolder } from '../../../loadtest/labs/kit/keep.ts';
import { runOf } from '../../fakes/load-run.ts';
import { temporaryFolder } from '../../folder.ts';

const LATER = { startedAtMs: Date.UTC(2026, 10, 22) };

test('a run compared with its own repetition has no differences', () => {
  const { notes, steps, now, earlier } = compareRuns(runOf(LATER), runOf());
  assert.notEqual(now, earlier);
  assert.deepEqual(notes, []);
  assert.equal(steps.length, 6);
  for (const { figures, isComparable } of steps) {
    assert.equal(isComparable, true);
    for (const { name, ratio = 1 } of figures) assert.ok(Math.abs(ratio - 1) < 1e-6, name);
  }
});

test('a figure that doubled is reported as twice the earlier one', () => {
  const earlier = runOf();
  const steps = earlier.summary.steps.map((one) => ({
    ...one,
    ...(one.latencyMs === undefined ? {} : { latencyMs: { ...one.latencyMs, p99: one.latencyMs.p99 / 2 } }),
  }));
  const { steps: compared } = compareRuns(runOf(), { ...earlier, summary: { ...earlier.summary, steps } });
  for (const { figures } of compared) assert.equal(figureOf(figures, 'p99').ratio, 2);
});

test('steps whose base rates differ by more than a twentieth are not compared', () => {
  const near = compareRuns(runOf({ baseRps: 750 }), runOf({ baseRps: 720 }));
  assert.deepEqual(near.notes, []);
  const far = compareRuns(runOf({ baseRps: 750 }), runOf({ baseRps: 700 }));
  assert.deepEqual(far.notes, ['Base rate: 750/s, earlier 700/s.']);
  assert.ok(far.steps.every(({ isComparable }) => !isComparable));
});

function figureOf(figures: readonly FigureComparison[], name: string): FigureComparison {
  const found = figures.find((figure) => figure.name === name);
  assert.ok(found, name);
  return found;
}

const folder = temporaryFolder({ after });

const AT_MS = Date.UTC(2026, 10, 21, 10, 20, 30);

function kept(out: string, id: string, kind: string, version = 1): string {
  const path = join(out, id);
  mkdirSync(path, { recursive: true });
  const run = runOf();
  const record = { ...run, version, id, verdict: { kind }, summary: { ...run.summary, script: id.slice(20) } };
  writeFileSync(join(path, 'run.json'), JSON.stringify(record));
  return path;
}

test('when two runs start in one second, the later one gets the next folder, and no run loses its own', async () => {
  const out = join(folder, 'two');
  const [first, second] = [await makeRunFolder(out, 'smoke', AT_MS), await makeRunFolder(out, 'smoke', AT_MS)];
  assert.equal(first.id, '2026-11-21T10-20-30-smoke');
  assert.equal(second.id, '2026-11-21T10-20-31-smoke');
  assert.equal(basename(second.path), second.id);
});

test('the latest run is the last valid run of the same script', async () => {
  const out = join(folder, 'latest');
  kept(out, '2026-11-19T10-00-00-x-load', 'passed');
  kept(out, '2026-11-20T10-00-00-x-load', 'failed');
  kept(out, '2026-11-21T10-00-00-x-load', 'invalid');
  kept(out, '2026-11-22T10-00-00-x-load', 'passed', 2);
  kept(out, '2026-11-18T10-00-00-load', 'passed');
  mkdirSync(join(out, '2026-11-24T10-00-00-x-load'));
  assert.equal((await earlierRun('latest', out, 'x-load'))?.id, '2026-11-20T10-00-00-x-load');
  assert.equal((await earlierRun('latest', out, 'load'))?.id, '2026-11-18T10-00-00-load');
});

test('a named folder must contain a run of the same script', async () => {
  const out = join(folder, 'named');
  const path = kept(out, '2026-11-20T10-00-00-soak', 'invalid');
  assert.equal((await earlierRun(path, out, 'soak'))?.id, '2026-11-20T10-00-00-soak');
  await assert.rejects(earlierRun(path, out, 'smoke'), /that was soak, this is smoke/);
  await assert.rejects(earlierRun(folder, out, 'smoke'), /no run\.json/);
  writeFileSync(join(path, 'run.json'), '{"version":1,"summary":{"script":"soak"},"verdict":{"kind":"passed"}}');
  await assert.rejects(earlierRun(path, out, 'soak'), /no run\.json of this version/);
});
