import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTurn } from '../../../loadtest/k6/kit/step.ts';
import { plannedRun } from '../../../loadtest/report/answer-plots.ts';
import { timelineOf } from '../../../loadtest/report/timeline.ts';
import type { Sample } from '../../../loadtest/sample/sample.ts';
import { toHtml } from '../../../src/report/html.ts';
import { createFrame } from '../../../src/report/plot/frame.ts';
import { line } from '../../../src/report/plot/shapes.ts';
import { runOf } from '../../fakes/load-run.ts';
import { rowsOf } from '../../pluck.ts';

const record = runOf();
const startedAtMs = record.summary.startedAtMs;
const empty = { replicas: [], stores: [], processes: [] };

/** The planned rate up to the end of a run, on an axis up to 100. */
function plannedLine(toMs: number, steps: Parameters<typeof plannedRun>[1]): string {
  const frame = createFrame({ fromMs: 0, toMs, max: 100, heightPx: 100 });
  return toHtml(line(frame, [plannedRun(toMs, steps)], 'planned'));
}

test('a second stands for the time before it, from the start of the run to its end', () => {
  const { seconds, toMs } = timelineOf(record);
  assert.equal(seconds.length, 1);
  assert.deepEqual([seconds[0]?.[0]?.fromMs, seconds[0]?.[0]?.toMs], [0, 1000]);
  assert.equal(toMs, record.summary.durationMs);
});

test('missing seconds and missing samples leave a gap', () => {
  const isHeard = ({ atMs }: { readonly atMs: number }): boolean =>
    atMs < startedAtMs + 40_500 || atMs > startedAtMs + 60_500;
  const { seconds, samples } = timelineOf({
    ...record,
    seconds: record.seconds.filter(isHeard),
    samples: record.samples.filter(isHeard),
  });
  assert.deepEqual(
    seconds.map((run) => [run[0]?.fromMs, run.at(-1)?.toMs]),
    [
      [0, 40_000],
      [60_000, 144_000],
    ],
  );
  assert.equal(samples.length, 2);
  assert.ok(samples.every((run) => run.every(({ fromMs, toMs }) => toMs - fromMs < 2000)));
});

test('samples from before the run or after its end are not drawn', () => {
  const at = (seconds: number): Sample => ({ ...empty, atMs: startedAtMs + seconds * 1000 });
  const samples = [at(-3), at(-2), at(-0.5), at(0.5), at(143.6), at(144.4), at(150)];
  const drawn = timelineOf({ ...record, samples }).samples.flat();
  assert.deepEqual(rowsOf(drawn, 'fromMs', 'toMs'), [
    [500, 143_600],
    [143_600, 144_000],
  ]);
});

test('the planned rate climbs from step to step and ends with the run', () => {
  const steps = inTurn([
    { name: 'x1', title: '', rampSeconds: 10, holdSeconds: 20, ratePerSecond: 50 },
    {
      name: 'x2',
      title: '',
      goesOn: true,
      rampSeconds: 20,
      holdSeconds: 50,
      ratePerSecond: 10,
      searchesPerRequest: 10,
    },
  ]);
  assert.match(plannedLine(100_000, steps), /d="M0 100l100-50h200h0l200-50h500"/);
  assert.match(plannedLine(40_000, steps), /d="M0 100l250-50h500h0l250-25"/);
});

test('the planned rate is absent in a break between two steps', () => {
  const steps = inTurn([
    { name: 'a', title: '', rampSeconds: 0, holdSeconds: 10, ratePerSecond: 100 },
    { name: 'b', title: '', rampSeconds: 0, holdSeconds: 8.5, ratePerSecond: 100 },
  ]);
  assert.match(plannedLine(20_000, steps), /v100h75v-100/);
});
