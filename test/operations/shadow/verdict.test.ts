import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Criterion, ShadowSample, ShadowVerdict } from '../../../src/operations/shadow/figures.ts';
import { judge } from '../../../src/operations/shadow/verdict.ts';
import { pluck } from '../../pluck.ts';
import { betweenOf, joined, type Modelled, samplesOf } from './report-fixture.ts';

const MINUTE_MS = 60_000;
const EVERYTHING = { changes: [{ atMs: 0, fraction: 1, reads: 1 }] } satisfies Modelled;

/** The verdict over ten minutes, given at the end of the samples. */
function verdictOn(
  samples: readonly ShadowSample[],
  { forMs = 10 * MINUTE_MS, nowMs = samples.at(-1)?.atMs ?? 0, wrongKeys = [] as readonly string[] } = {},
): ShadowVerdict {
  const total = joined(samples.map(({ figures }) => figures));
  return judge({ samples, total, wrongKeys, between: betweenOf(samples), forMs, nowMs });
}

function verdictOf(modelled: Modelled): ShadowVerdict {
  return verdictOn(samplesOf({ ...EVERYTHING, ...modelled }));
}

function met({ criteria }: ShadowVerdict, name: Criterion['name']): string {
  const criterion = criteria.find((one) => one.name === name);
  return `${criterion?.met}: ${criterion?.what}`.replaceAll('\u00a0', ' ');
}

/** The names of the criteria that are not met. */
function unmet({ criteria }: ShadowVerdict): readonly string[] {
  return criteria.filter((one) => one.met !== 'yes').map(({ name }) => name);
}

test('a candidate that was as good as the primary for the whole time is to be cut over to', () => {
  const verdict = verdictOf({});
  assert.equal(verdict.kind, 'cut-over');
  assert.deepEqual(unmet(verdict), []);
  assert.deepEqual(pluck(verdict.criteria, 'name'), ['duration', 'volume', 'hit-ratio', 'latency', 'errors', 'values']);
  assert.match(
    verdict.why,
    /^For 10.min.00.s: the hit ratio is never below .*; no value of [\d,]+ compared is wrong\.$/,
  );
});

test('before the time has passed the verdict is open, and says how much longer it takes', () => {
  const verdict = verdictOf({ lengthMs: 4 * MINUTE_MS });
  assert.equal(verdict.kind, 'undecided');
  assert.deepEqual(unmet(verdict), ['duration', 'hit-ratio']);
  assert.match(met(verdict, 'duration'), /4 min 00 s of 10 min 00 s are recorded, 6 min 00 s to go/);
  assert.match(met(verdict, 'hit-ratio'), /known in 4 of 10 parts of the time \(at least 8\)$/);
});

test('without samples everything is open, and nothing is missed', () => {
  const verdict = verdictOn([], { nowMs: 5000 });
  assert.equal(verdict.kind, 'undecided');
  assert.equal(unmet(verdict).length, 6);
});

test('the time does not count beyond a gap in the recording, and a late interval is no gap', () => {
  const without = (fromMs: number, toMs: number): readonly ShadowSample[] =>
    samplesOf(EVERYTHING).filter(({ atMs }) => atMs <= fromMs || atMs > toMs);
  assert.equal(verdictOn(without(400_000, 406_000)).kind, 'cut-over');
  const gap = verdictOn(without(400_000, 408_000));
  assert.equal(gap.kind, 'undecided');
  assert.match(met(gap, 'duration'), /5 min 12 s of 10 min 00 s are recorded, 4 min 48 s to go/);
});

test('when the recording has stopped, nothing is measured any more', () => {
  const samples = samplesOf(EVERYTHING);
  assert.equal(verdictOn(samples, { nowMs: 726_000 }).kind, 'cut-over');
  assert.match(met(verdictOn(samples, { nowMs: 727_000 }), 'duration'), /^not-measured: 0 ms of/);
});

test('intervals that the recorder has joined cover their whole length', () => {
  const pairs = samplesOf(EVERYTHING).flatMap((sample, at, all): ShadowSample[] => {
    const before = all[at - 1];
    if (at % 2 === 0 || before === undefined) return [];
    return [{ ...sample, figures: joined([before.figures, sample.figures]) }];
  });
  const coarse = pairs.flatMap((sample, at) => (at < 40 ? [sample] : [sample]));
  assert.equal(coarse.length, 180);
  assert.equal(verdictOn(coarse).kind, 'cut-over');
});

test('a short time is cut in fewer parts than ten, so that each has intervals', () => {
  const verdict = verdictOn(samplesOf({ ...EVERYTHING, lengthMs: MINUTE_MS }), { forMs: 10_000 });
  assert.equal(verdict.kind, 'cut-over', verdict.why);
});

test('a mean hides an empty minute, the parts of the time do not', () => {
  const verdict = verdictOf({ fullAt: (atMs) => (atMs > 300_000 && atMs <= 360_000 ? 0.9 : 1) });
  assert.equal(verdict.kind, 'do-not');
  assert.match(
    met(verdict, 'hit-ratio'),
    /^no: the hit ratio is up to 9 points below .* but not in the last 6 min 00 s$/,
  );
});

test('a hit ratio two points below is good enough, a little more is not; a higher one is welcome', () => {
  assert.equal(verdictOf({ fullAt: () => 0.98 }).kind, 'cut-over');
  assert.deepEqual(unmet(verdictOf({ fullAt: () => 0.97 })), ['hit-ratio']);
  assert.equal(verdictOf({ fullAt: () => 1.05 }).kind, 'cut-over');
});

test('while the candidate fills, the verdict says since when it is full', () => {
  const verdict = verdictOf({ fullAt: (atMs) => (atMs <= 240_000 ? 0.5 : 1) });
  assert.equal(verdict.kind, 'do-not');
  assert.match(met(verdict, 'hit-ratio'), /up to 45 points below .*, but not in the last 8 min 00 s$/);
});

test('with too few reads the verdict is open, and says what it takes', () => {
  const slow = verdictOf({ readsPerSecond: 1 });
  assert.equal(slow.kind, 'undecided');
  assert.match(
    met(slow, 'volume'),
    /600 reads are compared \(at least 1,000\), it takes a larger fraction or a longer time/,
  );
  assert.equal(met(slow, 'latency'), 'not-measured: a p99 takes 1,000 reads');
  const early = verdictOf({ readsPerSecond: 10, lengthMs: MINUTE_MS });
  assert.match(met(early, 'volume'), /^not-measured: 600 reads are compared \(at least 1,000\), about 40 s to go$/);
  const quiet = verdictOf({ readsPerSecond: 0.5 });
  assert.match(met(quiet, 'hit-ratio'), /known in 0 of 10 .*: too few reads, it takes a larger fraction/);
});

test('two quiet parts of the time are no reason to begin again, three are', () => {
  const silentUntil = (atMs: number): Modelled => ({
    changes: [
      { atMs: 0, fraction: 0.001, reads: 1 },
      { atMs, fraction: 1, reads: 1 },
    ],
  });
  assert.equal(verdictOf(silentUntil(240_000)).kind, 'cut-over');
  assert.deepEqual(unmet(verdictOf(silentUntil(300_000))), ['hit-ratio']);
});

test('a p99 up to a quarter longer is good enough, and below four milliseconds one more', () => {
  const kind = (primary: number, candidate: number): string => verdictOf({ p99Ms: { primary, candidate } }).kind;
  assert.deepEqual(
    [kind(20, 25), kind(20, 25.1), kind(0.4, 1.4), kind(0.4, 1.5)],
    ['cut-over', 'do-not', 'cut-over', 'do-not'],
  );
  const slow = verdictOf({ p99Ms: { primary: 2, candidate: 9 } });
  assert.match(slow.why.replaceAll('\u00a0', ' '), /^The p99 is 9 ms, the primary's 2 ms \(at most 3 ms\)\.$/);
});

test('errors up to a tenth of a point more are good enough', () => {
  assert.equal(verdictOf({ errorsAt: (atMs) => (atMs % 20_000 === 0 ? 0.01 : 0) }).kind, 'cut-over');
  assert.deepEqual(unmet(verdictOf({ errorsAt: () => 0.005 })), ['errors']);
});

test('a candidate that is down is missed long before there are many reads; one error among few is not', () => {
  const down = verdictOf({ lengthMs: 8000, readsPerSecond: 30, errorsAt: () => 1 });
  assert.equal(down.kind, 'do-not');
  assert.match(
    met(down, 'errors'),
    /^no: 90\.9 % of reads and writes fail, of the primary's 0 % \(at most 0\.1 points more\)$/,
  );
  const once = verdictOf({ lengthMs: 8000, readsPerSecond: 30, errorsAt: (atMs) => (atMs === 4000 ? 0.02 : 0) });
  assert.match(met(once, 'errors'), /^not-measured/);
});

test('one wrong value is enough, also long before the time that the verdict covers', () => {
  const verdict = verdictOf({ lengthMs: 20 * MINUTE_MS, wrongAt: (atMs) => (atMs === 4000 ? 1 : 0) });
  assert.equal(verdict.kind, 'do-not');
  assert.match(verdict.why, /^1 of [\d,]+ compared values is wrong \(none may be\)\.$/);
});

test('a missed criterion outweighs one that is open, and every missed one is named', () => {
  const verdict = verdictOf({
    lengthMs: 2 * MINUTE_MS,
    p99Ms: { primary: 1, candidate: 50 },
    errorsAt: () => 0.1,
    wrongAt: () => 1,
  });
  assert.equal(verdict.kind, 'do-not');
  assert.match(
    verdict.why,
    /^The p99 is 50.*; [\d.]+.% of reads and writes fail, .*; 60 of [\d,]+ compared values are wrong/,
  );
  assert.doesNotMatch(verdict.why, /recorded/);
});

test('a wrong value that was found before this process began to record is not forgotten', () => {
  const verdict = verdictOn(samplesOf(EVERYTHING), { wrongKeys: ['sc1:goods:{x}'] });
  assert.equal(verdict.kind, 'do-not');
  assert.match(met(verdict, 'values'), /^no: 1 of /);
});
