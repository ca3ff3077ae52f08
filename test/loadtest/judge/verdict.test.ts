import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { stepFigures } from '../../../loadtest/judge/step-figures.ts';
import { finalVerdict, generatorReasons, overLimit, withinLimit } from '../../../loadtest/judge/verdict.ts';
import type { Sample } from '../../../loadtest/sample/sample.ts';
import { runOf } from '../../fakes/load-run.ts';

test('a generator with spare processor time does not change the verdict', () => {
  const record = runOf();
  assert.deepEqual(finalVerdict(record.verdict, record), record.verdict);
});

test('a generator that used up its processors makes a passed run invalid, and the figure is given', () => {
  const record = usingFrom(runOf(), 'x5', 0.92);
  assert.equal(record.verdict.kind, 'passed');
  const verdict = finalVerdict(record.verdict, record);
  assert.equal(verdict.kind, 'invalid');
  assert.match(generatorReasons(record)[0] ?? '', /^k6 used 0\.92 of its 1 core \(92\s%\) in x5/);
  assert.deepEqual(generatorReasons(usingFrom(runOf(), 'x5', 0.88)), []);
});

test('three full seconds invalidate a step whose mean is harmless; two do not', () => {
  assert.match(
    generatorReasons(usingFrom(runOf(), 'x4', 1, 3))[0] ?? '',
    /no processor time left for 3 s on end in x4/,
  );
  assert.deepEqual(generatorReasons(usingFrom(runOf(), 'x4', 1, 2)), []);
});

test('full seconds that are not consecutive do not count', () => {
  const record = usingFrom(runOf(), 'x4', 1, 2);
  const samples = record.samples.map((sample, at) => ({
    ...sample,
    processes: sample.processes.map((one) => (one.name === 'k6' ? { ...one, cpuSeconds: Math.floor(at / 2) } : one)),
  }));
  assert.deepEqual(generatorReasons({ ...record, samples }), []);
});

test('the use is relative to the processors the generator is pinned to', () => {
  const record = usingFrom(runOf(), 'x5', 1.5);
  const kept = (generatorCpus: string): RunRecord => ({ ...record, machine: { ...record.machine, generatorCpus } });
  assert.equal(generatorReasons(kept('2-3')).length, 0);
  assert.equal(generatorReasons(kept('3')).length, 1);
  const { generatorCpus: _, ...machine } = record.machine;
  assert.equal(generatorReasons({ ...record, machine }).length, 0);
});

test('above the first broken rung, and in steps without limits, the generator may be full', () => {
  assert.deepEqual(generatorReasons(usingFrom(runOf({ breaksAt: 4 }), 'x5', 1)), []);
  assert.deepEqual(generatorReasons(usingFrom(runOf(), 'warm-up', 1, 15)), []);
  assert.equal(generatorReasons(usingFrom(runOf({ breaksAt: 5 }), 'x5', 1)).length, 1);
});

/** k6 uses the given cores from when that step's rate holds, for the given time; otherwise it is idle. */
function usingFrom(record: RunRecord, step: string, cores: number, seconds = 1000): RunRecord {
  const fromMs = stepFigures(record).find(({ summary }) => summary.step.name === step)?.fromMs ?? 0;
  const first = record.samples.findIndex(({ atMs }) => atMs >= fromMs);
  const samples = record.samples.map((sample, at) => {
    const spent = Math.min(Math.max(0, sample.atMs - (record.samples[first]?.atMs ?? 0)) / 1000, seconds);
    const processes = sample.processes.map((one) =>
      one.name === 'k6' ? { ...one, cpuSeconds: at < first ? 0 : spent * cores } : one,
    );
    return { ...sample, processes };
  });
  return { ...record, samples };
}

const RUN = runOf();

/** The number of busy slots at each sample, of four. */
function holding(...held: readonly number[]): readonly Sample[] {
  return held.map((engineInFlight, at) => {
    const sample = RUN.samples[at] ?? assert.fail();
    const replicas = sample.replicas.map((replica) => ({
      ...replica,
      domains: Object.fromEntries(
        Object.entries(replica.domains).map(([name, own]) => [name, { ...own, engineInFlight, engineCeiling: 4 }]),
      ),
    }));
    return { ...sample, replicas };
  });
}

test('the engine may be used up to its limit, and above it in a single sample', () => {
  assert.deepEqual(overLimit(holding(4, 4, 5, 4, 6, 0)), []);
  assert.deepEqual(withinLimit(RUN.verdict, holding(4, 5, 4)), RUN.verdict);
});

test('an engine that gets more calls than its limit fails the run, even if every search was answered', () => {
  const verdict = withinLimit(RUN.verdict, holding(4, 5, 6, 4));
  assert.equal(verdict.kind, 'failed');
  assert.match(verdict.detail, /held 6 engine permits of goods, 4 are allowed/);
});
