import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenPromises, invalidity } from './judge.ts';
import { phaseReports, type Report } from './report.ts';
import { BOUNDS, type Bounds } from './row.ts';
import { PHASES, type Sample } from './samples.ts';

const hit: Sample['verdict'] = { kind: 'page', outcome: 'hit-l1', hash: 'x', degraded: false };
const engine: Sample['verdict'] = { kind: 'page', outcome: 'engine', hash: 'x', degraded: false };

/** A hundred samples a phase; those of `fault` may be changed. */
function samplesWith(change: (n: number) => Partial<Sample> = () => ({})): Sample[] {
  return PHASES.flatMap((phase) =>
    Array.from({ length: 100 }, (_, n): Sample => {
      const sample = { arrival: n, phase, sentMs: n, durationMs: 3, text: `${n}`, known: n % 20 !== 0, verdict: hit };
      return phase === 'fault' ? { ...sample, ...change(n) } : sample;
    }),
  );
}

function reportWith(over: Partial<Report> = {}, samples = samplesWith()): Report {
  return {
    row: 'test',
    subject: phaseReports(samples),
    control: phaseReports(samplesWith()),
    wrong: [],
    hung: 0,
    broken: [],
    dishonest: [],
    controlFaults: [],
    recoveredAfterMs: 1500,
    engine: {
      searches: 10,
      distinct: 10,
      mostOfOne: 1,
      uncounted: 0,
      probes: 0,
      refused: 0,
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

test('a fault nobody noticed breaks no promise', () => {
  assert.deepEqual(brokenPromises(reportWith(), BOUNDS), []);
  assert.equal(invalidity(reportWith()), undefined);
});

const cases: readonly (readonly [promise: RegExp, report: Report, bounds?: Partial<Bounds>])[] = [
  [/wrong answers/, reportWith({ wrong: ['стул (hit-l2)'] })],
  [/hung/, reportWith({ hung: 1 })],
  [/nobody can act on/, reportWith({ dishonest: ['500'] })],
  [/broken connections/, reportWith({ broken: ['ECONNRESET'] })],
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
      samplesWith((n) => (n < 60 ? { verdict: engine } : {})),
    ),
    { hitRatioDuring: 0.5 },
  ],
  [
    /slowest answer/,
    reportWith(
      {},
      samplesWith((n) => (n === 1 ? { durationMs: 2000 } : {})),
    ),
  ],
  [/not recovered/, reportWith({ recoveredAfterMs: undefined })],
  [/recovery: 16.0 s/, reportWith({ recoveredAfterMs: 16_000 })],
  [/searches per text/, reportWith({ engine: { ...reportWith().engine, searches: 30 } })],
  [/peak memory/, reportWith({ peakRssBytes: 2 ** 30 })],
  [/connections opened/, reportWith({ connectionsOpened: 11 }), { connectionsOpened: 10 }],
];
for (const [promise, report, bounds] of cases) {
  test(`a broken promise is named, and no other: ${promise.source}`, () => {
    const broken = brokenPromises(report, { ...BOUNDS, ...bounds });
    assert.equal(broken.length, 1, broken.join('; '));
    assert.match(broken[0] ?? '', promise);
  });
}

test('a row says nothing when its generator lagged or its control was disturbed', () => {
  assert.match(invalidity(reportWith({ generatorLagP99Ms: 500 })) ?? '', /lagged/);
  assert.match(invalidity(reportWith({ controlFaults: ['стул: shed'] })) ?? '', /control/);
  const disturbed = phaseReports(samplesWith((n) => (n % 10 === 1 ? { verdict: engine } : {})));
  assert.match(invalidity(reportWith({ control: disturbed })) ?? '', /missed, too/);
});
