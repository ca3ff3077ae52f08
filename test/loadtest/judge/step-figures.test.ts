import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { holdWindow } from '../../../loadtest/judge/series.ts';
import { type StepFigures, stepFigures } from '../../../loadtest/judge/step-figures.ts';
import type { ReplicaSample } from '../../../loadtest/sample/sample.ts';
import { runOf } from '../../fakes/load-run.ts';

const NAMES = ['warm-up', 'x1', 'x2', 'x3', 'x4', 'x5'];

test('figures cover only the time in which the rate held, without the ramps', () => {
  const record = runOf();
  const steps = stepFigures(record);
  assert.deepEqual(
    steps.map(({ summary }) => summary.step.name),
    NAMES,
  );
  const x2 = stepOf(record, 'x2');
  assert.equal(x2.toMs - x2.fromMs, 20_000);
  assert.equal(x2.searchesPerSecond, 1500);
  // The fake service needs 105 µs a search and 0.02 cores when idle. A ramp would have cost less.
  near(x2.serviceCores, 0.02 + 1500 * 105e-6);
  near(x2.generatorCores, 0.03 + 1500 * 160e-6);
});

test('a process restart in the middle of a step does not make figures negative or tiny', () => {
  const record = runOf();
  const { fromMs, toMs } = stepOf(record, 'x4');
  const whole = stepOf(record, 'x4').serviceCores;
  const died = record.samples.find(({ atMs }) => atMs > (fromMs + toMs) / 2);
  const lost = died?.replicas[0]?.cpuSeconds ?? 0;
  const anew = (replica: ReplicaSample): ReplicaSample => ({
    ...replica,
    cpuSeconds: (replica.cpuSeconds ?? 0) - lost,
  });
  const samples = record.samples.map((sample) =>
    sample.atMs >= (died?.atMs ?? 0) ? { ...sample, replicas: sample.replicas.map(anew) } : sample,
  );
  // Only the use between the last sample and the restart is lost: one of nineteen seconds.
  near(stepOf({ ...record, samples }, 'x4').serviceCores, (whole ?? 0) * (18 / 19));
});

test('all processes count, each with its own sample times', () => {
  const [one, three] = [stepOf(runOf({ replicas: 1 }), 'x5'), stepOf(runOf({ replicas: 3 }), 'x5')];
  near(three.serviceCores, one.serviceCores ?? 0);
  near(three.engineCallsPerSecond, one.engineCallsPerSecond ?? 0);
  assert.equal(three.serviceBytes, 3 * (one.serviceBytes ?? 0));
});

test('without a local stack the figures of the parts are unknown, and those of the service are known', () => {
  const x5 = stepOf(runOf({ stack: 'none' }), 'x5');
  for (const part of ['storeCores', 'engineCores', 'generatorCores', 'machineBusyShare', 'storeBytes'] as const) {
    assert.equal(x5[part], undefined, part);
  }
  assert.ok((x5.serviceCores ?? 0) > 0.3);
  assert.ok((x5.storeCommandsPerSecond ?? 0) > 1000);
});

test('a step in which the run ended has its real length, and a step that was never reached has none', () => {
  const { summary } = runOf({ breaksAt: 4, isAborted: true });
  const lengths = summary.steps.slice(-2).map((step) => {
    const { fromMs, toMs } = holdWindow(summary, step);
    return toMs - fromMs;
  });
  assert.deepEqual(lengths, [6000, 0]);
});

function stepOf(record: RunRecord, name: string): StepFigures {
  const found = stepFigures(record)[NAMES.indexOf(name)];
  assert.ok(found);
  return found;
}

function near(value: number | undefined, expected: number, within = 0.01): void {
  assert.ok(value !== undefined && Math.abs(value - expected) <= within * expected, `${value}, not about ${expected}`);
}
