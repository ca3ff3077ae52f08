import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allEffects, faultEffect, grew } from './fault-effects.ts';
import { harmOf, invalidReason, judge } from './judge.ts';
import { type ArrivalResult, createRecovery } from './recovery.ts';
import { PHASES, type Phase, phaseReports, type Report, type Sample } from './report.ts';
import { BOUNDS, type Bounds, type Harness } from './row.ts';

const HIT: Sample['verdict'] = { kind: 'page', outcome: 'hit-l1', hash: 'x', degraded: false };
const ENGINE: Sample['verdict'] = { kind: 'page', outcome: 'engine', hash: 'x', degraded: false };

/** One hundred samples per phase. `change` modifies those of the phase `fault`. */
function samplesWith(change: (n: number) => Partial<Sample> = () => ({})): Sample[] {
  return PHASES.flatMap((phase) =>
    Array.from({ length: 100 }, (_, n): Sample => {
      const sample = {
        stalledMs: 0,
        arrival: n,
        phase,
        sentMs: n,
        durationMs: 3,
        text: `${n}`,
        known: n % 20 !== 0,
        verdict: HIT,
      };
      return phase === 'fault' ? { ...sample, ...change(n) } : sample;
    }),
  );
}

/** The report of a row in which every promise was kept. */
function reportWith(over: Partial<Report> = {}, samples = samplesWith()): Report {
  return {
    row: 'test',
    trace: { found: true, evidence: 'process: runs → gone' },
    subject: phaseReports(samples),
    control: phaseReports(samplesWith()),
    wrong: [],
    hung: 0,
    brokenConnections: [],
    dishonest: [],
    controlFaults: [],
    recoveredAfterMs: 1500,
    engine: {
      searches: 10,
      distinct: 10,
      probes: 0,
      refused: 0,
      unasked: 0,
      atEngine: 0,
      mostAtEngine: 1,
      waiting: 0,
      mostWaiting: 0,
    },
    rssBeforeBytes: 2 ** 27,
    peakRssBytes: 2 ** 27,
    connectionsOpened: 0,
    generatorLagP99Ms: 3,
    samples,
    ...over,
  };
}

/** A report whose samples of the phase `fault` are changed. */
const during = (change: (n: number) => Partial<Sample>): Report => reportWith({}, samplesWith(change));
const withoutPhase = (left: Phase): Report =>
  reportWith(
    {},
    samplesWith().filter(({ phase }) => phase !== left),
  );
const shed = (code: string): Sample['verdict'] => ({ kind: 'shed', code });
const { engine } = reportWith();

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
  [/unanswered during/, during((n) => (n === 20 ? { verdict: { kind: 'hung' } } : {}))],
  [/asked before/, during((n) => (n === 21 ? { verdict: shed('overloaded') } : {})), { unansweredDuring: 1 }],
  [
    /refused with engine-rejected/,
    during((n) => (n === 20 ? { verdict: shed('engine-rejected') } : {})),
    { unansweredDuring: 1 },
  ],
  [/hit ratio during/, during((n) => (n < 60 ? { verdict: ENGINE } : {})), { hitRatioDuring: 0.5 }],
  [/slowest answer/, during((n) => (n === 1 ? { durationMs: 2800 } : {}))],
  [
    /p95 of the refusals: 90 ms, at most 80 ms/,
    during((n) => (n === 20 ? { verdict: shed('engine-open'), durationMs: 90 } : {})),
    { unansweredDuring: 1, refusedWithinMs: 80 },
  ],
  [/not recovered/, reportWith({ recoveredAfterMs: undefined })],
  [/recovery: 16.0 s/, reportWith({ recoveredAfterMs: 16_000 })],
  [/searches per text/, reportWith({ engine: { ...engine, searches: 30 } })],
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
    const samples = samplesWith((n) => (n === 20 ? { verdict: shed('engine-open'), durationMs } : { durationMs: ms }));
    return reportWith({ control: phaseReports(samplesWith(() => ({ durationMs: ms }))) }, samples);
  };
  const bounds = { ...BOUNDS, unansweredDuring: 1, refusedWithinMs: 80 };
  assert.deepEqual(judge(refusedAfterMs(90, 50), bounds).broken, []);
  assert.equal(judge(refusedAfterMs(110, 50), bounds).broken.length, 1);
  assert.deepEqual(judge(reportWith(), bounds).unmeasured, ['p95 of the refusals']);
});

const disturbed = phaseReports(samplesWith((n) => (n % 10 === 1 ? { verdict: ENGINE } : {})));
const idle = phaseReports(samplesWith().filter(({ phase }) => phase !== 'steady'));
const refusedBefore = samplesWith().map((one) =>
  one.phase === 'before' ? { ...one, verdict: shed('overloaded') } : one,
);
const invalid: readonly (readonly [what: string, reason: RegExp, report: Report])[] = [
  ['whose generator lagged', /lagged/, reportWith({ generatorLagP99Ms: 500 })],
  ['whose generator sent nothing', /sent nothing/, reportWith({ generatorLagP99Ms: Number.NaN })],
  ['whose control was refused', /control/, reportWith({ controlFaults: ['стул: shed'] })],
  ['whose control missed', /missed, too/, reportWith({ control: disturbed })],
  ['whose control got no requests in a phase', /not asked in every phase/, reportWith({ control: idle })],
  ['that was aborted', /could not be run: no store/, reportWith({ failure: 'no store' })],
  [
    'whose fault left no trace',
    /no trace: process: runs → runs/,
    reportWith({ trace: { found: false, evidence: 'process: runs → runs' } }),
  ],
  ['in which a search was refused before the fault', /too busy: .* before the fault/, reportWith({}, refusedBefore)],
];
for (const [what, reason, report] of invalid) {
  test(`an attempt ${what} is invalid`, () => assert.match(invalidReason(report) ?? '', reason));
}

const DEGRADED: Sample['verdict'] = { kind: 'page', outcome: 'lifeboat', hash: 'x', degraded: true };

const without: readonly (readonly [promises: readonly string[], report: Report, bounds?: Partial<Bounds>])[] = [
  [['unanswered before the fault', 'p95 once recovered'], withoutPhase('before')],
  [
    ['unanswered during', 'unanswered during, of searches asked before', 'hit ratio during', 'slowest answer'],
    withoutPhase('fault'),
  ],
  [['unanswered during, of searches asked before'], during(() => ({ known: false }))],
  [['unanswered after', 'slowest answer'], withoutPhase('after')],
  [['unanswered once recovered', 'p95 once recovered'], withoutPhase('steady')],
  [['wrong answers'], reportWith({ samples: samplesWith().map((each) => ({ ...each, verdict: DEGRADED })) })],
  [['engine searches per text'], reportWith({ engine: { ...engine, searches: 0, distinct: 0 } })],
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

describe('the evidence of a fault', () => {
  const evidence = async (effect: ReturnType<typeof grew>) => (await effect.watch({} as Harness))();

  test('an empty reading, a failed reading and one of two that did not grow are no evidence', async () => {
    let count = 0;
    const twice = async () => [++count, 5];
    const failing = faultEffect('things', () => Promise.reject(new Error('no server')), Boolean);
    assert.equal((await evidence(grew('things', () => []))).found, false);
    assert.equal((await evidence(grew('things', twice))).found, false);
    assert.deepEqual(await evidence(failing), { found: false, evidence: 'things: could not be read: no server' });
    assert.deepEqual(await evidence(grew('things', () => [++count])), { found: true, evidence: 'things: [3] → [4]' });
  });

  test('two effects together are found when each is found', async () => {
    const [is, isNot] = [true, false].map((found) =>
      faultEffect(
        'it',
        () => 1,
        () => found,
      ),
    );
    assert.ok(is !== undefined && isNot !== undefined);
    assert.equal((await evidence(allEffects(is, is))).found, true);
    assert.equal((await evidence(allEffects(is, isNot))).found, false);
  });
});

describe('a subject has recovered', () => {
  const HIT: ArrivalResult = { hit: true, answered: true };
  const MISS: ArrivalResult = { hit: false, answered: true };
  const REFUSED: ArrivalResult = { hit: false, answered: false };
  /** The arrivals from `from` on, at the subject and at the control, after a fault that ended at arrival `begin`. */
  function recoveryOf(
    begin: number,
    from: number,
    subject: readonly ArrivalResult[],
    control = subject.map(() => HIT),
  ) {
    const recovery = createRecovery({ window: 50, points: 0.02 });
    recovery.begin(begin);
    for (const [at, result] of subject.entries()) {
      // The answers of the two come in any order.
      const both = [['subject', result] as const, ['control', control[at] ?? HIT] as const];
      for (const [side, each] of at % 2 === 0 ? both : both.toReversed()) recovery.add(side, from + at, each);
    }
    return recovery;
  }
  const arrivals = (count: number, every: number, then: ArrivalResult): ArrivalResult[] =>
    Array.from({ length: count }, (_, n) => (n % every === 0 ? then : HIT));

  test('at the first arrival whose window is good enough', () => {
    const results = [...arrivals(20, 1, MISS), ...arrivals(80, 100, HIT)];
    // One of the last fifty arrivals may miss, so the window begins at the last miss.
    assert.equal(recoveryOf(100, 100, results).recoveredAt(), 100 + 19 + 49);
  });

  test('not while it misses entries of the control, and not before a full window after the fault', () => {
    assert.equal(recoveryOf(0, 0, arrivals(500, 10, MISS)).recoveredAt(), undefined);
    assert.equal(recoveryOf(10, 0, arrivals(59, 100, HIT)).recoveredAt(), undefined);
    assert.equal(recoveryOf(10, 0, arrivals(60, 100, HIT)).recoveredAt(), 59);
  });

  test('although both miss a search, and not while it refuses one that the control misses', () => {
    const misses = arrivals(100, 15, MISS);
    assert.equal(recoveryOf(0, 0, misses, misses).recoveredAt(), 49);
    assert.equal(recoveryOf(0, 0, arrivals(100, 15, REFUSED), misses).recoveredAt(), undefined);
  });
});
