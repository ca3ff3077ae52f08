import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditFigures, figuresBetween, type MeterReading } from '../../../src/operations/meter/figures.ts';
import { createMeter, type Meter } from '../../../src/operations/meter/meter.ts';
import { createFakeClock, type FakeClock } from '../../fakes/clock.ts';
import { plain } from '../../plain.ts';

const LEVELS = { inFlight: 1, queued: 2, maxConcurrent: 4, ceiling: 8, breaker: 'closed' as const };

function setup(): { readonly meter: Meter; readonly clock: FakeClock } {
  const clock = createFakeClock();
  return { clock, meter: createMeter({ buckets: 100, engine: () => LEVELS, clock }) };
}

const one = (reading: MeterReading): ReadonlyMap<string, MeterReading> => new Map([['a', reading]]);

test('figures cover the time between two readings only', () => {
  const { meter, clock } = setup();
  meter.noteRequest({ outcome: 'failed', durationMs: 900, bucket: 1 });
  const before = meter.read();
  for (let n = 0; n < 8; n += 1) meter.noteRequest({ outcome: 'hit-l1', durationMs: 0.04, bucket: n });
  meter.noteRequest({ outcome: 'shed', durationMs: 3 });
  meter.noteRequest({ outcome: 'engine', durationMs: 140, bucket: 3 });
  meter.noteEngine({ failed: false, durationMs: 100 });
  meter.noteEngine({ failed: true, durationMs: 300 });
  clock.advance(2000);
  const figures = figuresBetween(one(before), one(meter.read()));
  assert.deepEqual([figures.seconds, figures.searches, figures.searchesPerSecond, figures.processes], [2, 10, 5, 1]);
  assert.deepEqual([figures.hitRatio, figures.errorRate, figures.shedRate], [0.8, 0, 0.1]);
  assert.deepEqual([figures.p50Ms, figures.p99Ms], [0.05, 150]);
  assert.deepEqual([figures.engineCallsPerSecond, figures.engineCallMs, figures.engineFailures], [1, 200, 1]);
  assert.deepEqual([figures.engineInFlight, figures.engineMax, figures.engineCeiling], [1, 4, 8]);
});

test('a ratio without searches or calls is absent, not zero', () => {
  const { meter, clock } = setup();
  const before = meter.read([[{ from: 0, to: 50 }]]);
  clock.advance(1000);
  const figures = figuresBetween(one(before), one(meter.read([[{ from: 0, to: 50 }]])));
  const { hitRatio, errorRate, p99Ms, engineCallMs } = figures;
  assert.deepEqual([hitRatio, errorRate, p99Ms, engineCallMs], [undefined, undefined, undefined, undefined]);
  assert.deepEqual(plain(figures.cohorts), [{ searches: 0 }]);
});

test('a cohort counts the searches of its buckets and no others', () => {
  const { meter, clock } = setup();
  const cohorts = [
    [
      { from: 90, to: 100 },
      { from: 0, to: 10 },
    ],
    [{ from: 10, to: 90 }],
  ];
  const before = meter.read(cohorts);
  meter.noteRequest({ outcome: 'hit-l2', durationMs: 1, bucket: 95 });
  meter.noteRequest({ outcome: 'stale', durationMs: 1, bucket: 9 });
  meter.noteRequest({ outcome: 'hit-l1', durationMs: 1, bucket: 10 });
  meter.noteRequest({ outcome: 'rejected', durationMs: 1 });
  clock.advance(100);
  assert.deepEqual(figuresBetween(one(before), one(meter.read(cohorts))).cohorts, [
    { searches: 2, hitRatio: 0.5 },
    { searches: 1, hitRatio: 1 },
  ]);
});

test('figures sum all processes, except those that reported once or stood still', () => {
  const [first, second, late] = [setup(), setup(), setup()];
  const before = new Map([
    ['first', first.meter.read([])],
    ['second', second.meter.read([])],
    ['gone', second.meter.read([])],
  ]);
  for (const { meter, clock } of [first, second, late]) {
    meter.noteRequest({ outcome: 'hit-l1', durationMs: 1, bucket: 0 });
    clock.advance(1000);
  }
  const after = new Map([
    ['first', first.meter.read([])],
    ['second', second.meter.read([])],
    ['gone', before.get('gone') ?? first.meter.read()],
    ['late', late.meter.read([])],
  ]);
  const figures = figuresBetween(before, after);
  assert.deepEqual(
    [figures.processes, figures.searches, figures.searchesPerSecond, figures.engineCeiling],
    [2, 2, 2, 16],
  );
});

test('a process that did not know the drill yet is left out of the cohorts only', () => {
  const { meter, clock } = setup();
  const before = meter.read();
  meter.noteRequest({ outcome: 'hit-l1', durationMs: 1, bucket: 0 });
  clock.advance(500);
  const figures = figuresBetween(one(before), one(meter.read([[{ from: 0, to: 100 }]])));
  assert.equal(figures.searches, 1);
  assert.deepEqual(plain(figures.cohorts), [{ searches: 0 }]);
});

test('stale answers per million have the interval of Wilson: wide for few audits, and above 0 for none stale', () => {
  assert.deepEqual(auditFigures({}), { audited: 0, stale: 0 });
  assert.deepEqual(auditFigures({ equal: 1000 }).perMillion, { found: 0, from: 0, to: 3827 });
  const { perMillion, ...counts } = auditFigures({ equal: 990, changed: 6, left: 4 });
  assert.deepEqual(counts, { audited: 1000, stale: 10 });
  assert.deepEqual(perMillion, { found: 10_000, from: 5441, to: 18_310 });
});
