import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShadowTally, type Reading } from '../../../src/operations/shadow/readings.ts';
import { createRecorder } from '../../../src/operations/shadow/recorder.ts';
import { systemClock } from '../../../src/runtime.ts';
import { until } from '../../until.ts';
import { createFakeOpenStore } from './harness.ts';

const HIT = { kind: 'value', value: Buffer.from('v') } as const;

function readingOf(reads: number, wrong = 0): Reading {
  const tally = createShadowTally('one');
  for (let n = 0; n < reads; n += 1) tally.read('primary', HIT, 1, true);
  for (let n = 0; n < wrong; n += 1) tally.agreed('wrong', `sc1:goods:{${n}}`);
  return tally.reading();
}

/** Records one interval for each entry: the readings that are known in it. The last entry stays. */
async function recorded(polls: readonly Readonly<Record<string, Reading>>[]) {
  let poll = 0;
  const store = createFakeOpenStore('old:1');
  const recorder = createRecorder({
    startedMs: systemClock.monotonicMs(),
    readings: async () => new Map(Object.entries(polls[Math.min(poll++, polls.length - 1)] ?? {})),
    primary: () => store,
    candidate: createFakeOpenStore('new:1'),
    clock: systemClock,
    intervalMs: 5,
  });
  await until('every poll', () => poll > polls.length);
  recorder.close();
  return recorder;
}

test('a process that is missing in one poll is not counted from its beginning again', async () => {
  const recorder = await recorded([
    { me: readingOf(0), other: readingOf(1000, 10) },
    { me: readingOf(1), other: readingOf(1100, 10) },
    { me: readingOf(2) },
    { me: readingOf(3), other: readingOf(1200, 11) },
  ]);
  const { primary, agreement } = recorder.total();
  assert.deepEqual([primary.reads, agreement.wrong], [203, 1]);
});

test('a process that joins is counted from its beginning, and one that was restarted again from zero', async () => {
  const recorder = await recorded([
    { me: readingOf(0) },
    { me: readingOf(1), other: readingOf(50) },
    { me: readingOf(1), again: readingOf(20) },
  ]);
  assert.equal(recorder.total().primary.reads, 71);
});

test('keys of wrong values are kept, also those from before this process began to record', async () => {
  const recorder = await recorded([{ me: readingOf(0), other: readingOf(10, 2) }]);
  assert.deepEqual(recorder.wrongKeys(), ['sc1:goods:{0}', 'sc1:goods:{1}']);
  assert.equal(recorder.total().agreement.wrong, 0);
});

test('the figures of a window are those of its intervals, with the percentiles of all their reads', async () => {
  const recorder = await recorded([{ me: readingOf(0) }, { me: readingOf(30) }, { me: readingOf(40) }]);
  const samples = recorder.samples();
  const [, second, third] = samples;
  assert.ok(second !== undefined && third !== undefined);
  assert.equal(recorder.between(0, second.atMs).primary.reads, 30);
  assert.equal(recorder.between(second.atMs, third.atMs).primary.reads, 10);
  assert.equal(recorder.samples()[1], second, 'a sample is made once');
});
