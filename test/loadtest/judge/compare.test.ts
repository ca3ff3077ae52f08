import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareRuns, type FigureComparison } from '../../../loadtest/judge/compare.ts';
import { runOf } from '../../fakes/load-run.ts';

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

test('steps are matched by name, and steps of only one run are left out', () => {
  assert.deepEqual(
    compareRuns(runOf(), runOf({ script: 'flush-survival' })).steps.map(({ name }) => name),
    ['warm-up'],
  );
});

test('steps whose base rates differ by more than a twentieth are not compared', () => {
  const near = compareRuns(runOf({ baseRps: 750 }), runOf({ baseRps: 720 }));
  assert.deepEqual(near.notes, []);
  const far = compareRuns(runOf({ baseRps: 750 }), runOf({ baseRps: 700 }));
  assert.deepEqual(far.notes, ['Base rate: 750/s, earlier 700/s.']);
  assert.ok(far.steps.every(({ isComparable }) => !isComparable));
});

test('other differences between the runs are listed first', () => {
  const other = runOf({ stack: 'none', starvedAt: 5 });
  const { notes, words } = compareRuns(runOf(), {
    ...other,
    machine: { ...other.machine, cores: 16, k6: 'v1.9.0' },
    summary: { ...other.summary, queries: { ...other.summary.queries, exponent: 1.2, onceShare: 0.2, count: 500 } },
  });
  const about = notes.map((note) => note.split(/[:]| is /)[0]);
  assert.deepEqual(about, [
    'The earlier run',
    'Cores of the machine',
    'Processors of the generator',
    'Processors of the service',
    'k6',
    'Stack',
    'Queries',
    'Zipf–Mandelbrot exponent',
    'Searches that never repeat',
  ]);
  assert.match(words, /One run against one run/);
});

test('a figure that one run could not measure has no ratio, and neither has a figure that was 0', () => {
  const [, x1] = compareRuns(runOf({ isBlind: true }), runOf()).steps;
  assert.ok(x1);
  const calls = figureOf(x1.figures, 'engine calls');
  assert.equal(calls.now, undefined);
  assert.ok((calls.earlier ?? 0) > 0);
  assert.equal(calls.ratio, undefined);
  assert.equal(figureOf(x1.figures, 'error rate').ratio, undefined);
});

test('a step that one of the runs never reached is not compared', () => {
  const { steps } = compareRuns(runOf({ breaksAt: 4, isAborted: true }), runOf());
  const x5 = steps.at(-1);
  assert.equal(x5?.isComparable, false);
  assert.equal(figureOf(x5?.figures ?? [], 'searches').now, undefined);
});

function figureOf(figures: readonly FigureComparison[], name: string): FigureComparison {
  const found = figures.find((figure) => figure.name === name);
  assert.ok(found, name);
  return found;
}
