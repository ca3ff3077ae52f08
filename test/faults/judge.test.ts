import assert from 'node:assert/strict';
import { test } from 'node:test';
import { harmOf, invalidReason, judge } from './judge.ts';
import { phaseReports, type Report, type Sample } from './report.ts';
import { ENGINE, reportWith, samplesWith } from './report-fixture.ts';
import { BOUNDS, type Bounds } from './row.ts';

test('a fault without consequences breaks no promise', () => {
  assert.deepEqual(judge(reportWith(), BOUNDS), { broken: [], unmeasured: [] });
  assert.deepEqual(harmOf(reportWith()), []);
  assert.equal(invalidReason(reportWith()), undefined);
});

const cases: readonly (readonly [promise: RegExp, report: Report, bounds?: Partial<Bounds>])[] = [
  [/wrong answers/, reportWith({ wrong: ['стул (hit-l2)'] })],
  [/hung/, reportWith({ hung: 1 })],
  [/a client cannot act on/, reportWith({ dishonest: ['500'] })],
  [/broken connections/, reportWith({ brokenConnections: ['ECONNRESET'] })],
  [
    /unanswered during/,
    reportWith(
      {},
      samplesWith((n) => (n === 20 ? { verdict: { kind: 'hung' } } : {})),
    ),
  ],
  [
    /asked before/,
    reportWith(
      {},
      samplesWith((n) => (n === 21 ? { verdict: { kind: 'shed', code: 'overloaded' } } : {})),
    ),
    { unansweredDuring: 1 },
  ],
  [
    /refused with engine-rejected/,
    reportWith(
      {},
      samplesWith((n) => (n === 20 ? { verdict: { kind: 'shed', code: 'engine-rejected' } } : {})),
    ),
    { unansweredDuring: 1 },
  ],
  [
    /hit ratio during/,
    reportWith(
      {},
      samplesWith((n) => (n < 60 ? { verdict: ENGINE } : {})),
    ),
    { hitRatioDuring: 0.5 },
  ],
  [
    /slowest answer/,
    reportWith(
      {},
      samplesWith((n) => (n === 1 ? { durationMs: 2800 } : {})),
    ),
  ],
  [
    /p95 of the refusals: 90 ms, at most 80 ms/,
    reportWith(
      {},
      samplesWith((n) => (n === 20 ? { verdict: { kind: 'shed', code: 'engine-open' }, durationMs: 90 } : {})),
    ),
    { unansweredDuring: 1, refusedWithinMs: 80 },
  ],
  [/not recovered/, reportWith({ recoveredAfterMs: undefined })],
  [/recovery: 16.0 s/, reportWith({ recoveredAfterMs: 16_000 })],
  [/searches per text/, reportWith({ engine: { ...reportWith().engine, searches: 30 } })],
  [/peak memory/, reportWith({ peakRssBytes: 2 ** 30 })],
  [/connections opened/, reportWith({ connectionsOpened: 11 }), { connectionsOpened: 10 }],
];
for (const [promise, report, bounds] of cases) {
  test(`exactly the broken promise is named: ${promise.source}`, () => {
    const judgement = judge(report, { ...BOUNDS, ...bounds });
    const broken = [...harmOf(report), ...judgement.broken];
    assert.deepEqual(judgement.unmeasured, []);
    assert.equal(broken.length, 1, broken.join('; '));
    assert.match(broken[0] ?? '', promise);
  });
}

test('on a machine that slows the control as well, refusals may be slower', () => {
  const refusedAfterMs = (durationMs: number, ms: number): Report => {
    const samples = samplesWith((n) =>
      n === 20 ? { verdict: { kind: 'shed', code: 'engine-open' }, durationMs } : { durationMs: ms },
    );
    return reportWith({ control: phaseReports(samplesWith(() => ({ durationMs: ms }))) }, samples);
  };
  const bounds = { ...BOUNDS, unansweredDuring: 1, refusedWithinMs: 80 };
  assert.deepEqual(judge(refusedAfterMs(90, 50), bounds).broken, []);
  assert.equal(judge(refusedAfterMs(110, 50), bounds).broken.length, 1);
  assert.deepEqual(judge(reportWith(), bounds).unmeasured, ['p95 of the refusals']);
});

test('an attempt is invalid when its generator lagged or its control was disturbed', () => {
  assert.match(invalidReason(reportWith({ generatorLagP99Ms: 500 })) ?? '', /lagged/);
  assert.match(invalidReason(reportWith({ controlFaults: ['стул: shed'] })) ?? '', /control/);
  const disturbed = phaseReports(samplesWith((n) => (n % 10 === 1 ? { verdict: ENGINE } : {})));
  assert.match(invalidReason(reportWith({ control: disturbed })) ?? '', /missed, too/);
});

test('an attempt is invalid when it was aborted, and when its fault left no trace', () => {
  assert.match(invalidReason(reportWith({ failure: 'no store' })) ?? '', /could not be run: no store/);
  const trace = { found: false, evidence: 'process: runs → runs' };
  assert.match(invalidReason(reportWith({ trace })) ?? '', /no trace: process: runs → runs/);
});

test('an attempt in which a search was refused before the fault is invalid', () => {
  const refused: Sample['verdict'] = { kind: 'shed', code: 'overloaded' };
  const samples = samplesWith().map((one) => (one.phase === 'before' ? { ...one, verdict: refused } : one));
  assert.match(invalidReason(reportWith({}, samples)) ?? '', /too busy: .* before the fault/);
});

test('an attempt whose generator or control got no requests is invalid', () => {
  assert.match(invalidReason(reportWith({ generatorLagP99Ms: Number.NaN })) ?? '', /sent nothing/);
  const idle = phaseReports(samplesWith().filter(({ phase }) => phase !== 'steady'));
  assert.match(invalidReason(reportWith({ control: idle })) ?? '', /not asked in every phase/);
});

const DEGRADED: Sample['verdict'] = { kind: 'page', outcome: 'lifeboat', hash: 'x', degraded: true };

const without: readonly (readonly [promises: readonly string[], report: Report, bounds?: Partial<Bounds>])[] = [
  [
    ['unanswered before the fault', 'p95 once recovered'],
    reportWith(
      {},
      samplesWith().filter(({ phase }) => phase !== 'before'),
    ),
  ],
  [
    ['unanswered during', 'unanswered during, of searches asked before', 'hit ratio during', 'slowest answer'],
    reportWith(
      {},
      samplesWith().filter(({ phase }) => phase !== 'fault'),
    ),
  ],
  [
    ['unanswered during, of searches asked before'],
    reportWith(
      {},
      samplesWith(() => ({ known: false })),
    ),
  ],
  [
    ['unanswered after', 'slowest answer'],
    reportWith(
      {},
      samplesWith().filter(({ phase }) => phase !== 'after'),
    ),
  ],
  [
    ['unanswered once recovered', 'p95 once recovered'],
    reportWith(
      {},
      samplesWith().filter(({ phase }) => phase !== 'steady'),
    ),
  ],
  [['wrong answers'], reportWith({ samples: samplesWith().map((each) => ({ ...each, verdict: DEGRADED })) })],
  [['engine searches per text'], reportWith({ engine: { ...reportWith().engine, searches: 0, distinct: 0 } })],
  [['peak memory'], reportWith({ peakRssBytes: Number.NaN })],
  [['peak memory'], reportWith({ rssBeforeBytes: Number.NaN })],
  [['connections opened'], reportWith({ connectionsOpened: undefined }), { connectionsOpened: 10 }],
];
for (const [promises, report, bounds] of without) {
  test(`without samples a promise is neither kept nor broken: ${promises.join(', ')}`, () => {
    assert.deepEqual(judge(report, { ...BOUNDS, ...bounds }), { broken: [], unmeasured: promises });
  });
}

test('without any answer no promise about answers is kept', () => {
  const { unmeasured } = judge(reportWith({ control: phaseReports([]) }, []), BOUNDS);
  for (const promise of ['wrong answers', 'broken connections', 'unanswered during', 'p95 once recovered']) {
    assert.ok(unmeasured.includes(promise), promise);
  }
});
