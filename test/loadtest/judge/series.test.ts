import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fullAtRps } from '../../../loadtest/judge/resources.ts';
import { growthOf, perSecond } from '../../../loadtest/judge/series.ts';

test('counter restarts, however many, lose no value that was read', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000), { minLength: 2, maxLength: 30 }), (readings) => {
      const series = readings.map((value, at) => ({ atMs: at * 1000, value }));
      // The sum of the last reading before each restart and the last reading of all, minus the first reading.
      const ends = readings.filter((value, at) => value > (readings[at + 1] ?? -1));
      const all = ends.reduce((sum, value) => sum + value, 0);
      assert.equal(growthOf(series), all - (readings[0] ?? 0));
    }),
  );
});

test('a rate is computed from the times of the readings, not from their number', () => {
  const series = [
    { atMs: 0, value: 100 },
    { atMs: 1500, value: 130 },
    { atMs: 4000, value: 180 },
  ];
  assert.equal(perSecond(series), 20);
  assert.equal(perSecond(series.slice(0, 1)), undefined);
  assert.equal(perSecond([]), undefined);
});

test('linear growth is extrapolated to the rate at which the resource is full', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 2000, max: 15_000, noNaN: true }),
      fc.double({ min: 0, max: 0.2, noNaN: true }),
      (full, idle) => {
        const held = [250, 500, 1000, 1500].map((searchesPerSecond) => ({
          searchesPerSecond,
          share: idle + ((1 - idle) * searchesPerSecond) / full,
        }));
        const found = fullAtRps(held);
        assert.ok(found !== undefined && Math.abs(found - full) < 1, `${found}, not ${full}`);
      },
    ),
  );
});

test('no prediction is below a rate that held, and a resource that does not grow has none', () => {
  const shares = fc.array(fc.double({ min: 0, max: 0.89, noNaN: true }), { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(shares, (given) => {
      const held = given.map((share, at) => ({ searchesPerSecond: 100 * (at + 1), share }));
      const found = fullAtRps(held);
      if (found !== undefined) assert.ok(found >= 100 * held.length && found <= 20 * 100 * held.length);
    }),
  );
  const flat = [1000, 2000, 3000].map((searchesPerSecond) => ({ searchesPerSecond, share: 0.5 }));
  assert.equal(fullAtRps(flat), undefined);
  assert.equal(fullAtRps(flat.slice(0, 1)), undefined);
});
