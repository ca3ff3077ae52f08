import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DomainRow, domains, gainOf } from '../../../../loadtest/labs/experiments/domains.ts';
import { figuresOf, limitOfStores } from '../../../../loadtest/labs/experiments/three-clients.ts';
import { cellOf, claimOf, type Found } from './harness.ts';

const TWO = { store: '0', generator: '1', storeCount: 1, generatorCount: 1 };
const EIGHT = { store: '0-3', generator: '4-7', storeCount: 4, generatorCount: 4 };

const OVER_NETWORK = /INCR over a network/;

test('the saving of one store per domain is the share of the time that a single store took more', () => {
  const rows = [row({ usPerOp: 8.36 }), row({ shape: 'one store each', usPerOp: 5.54 })];
  assert.equal(gainOf(rows, row({ shape: 'one store each' }))?.toFixed(2), '0.34');
});

test('the lesson holds when INCR has the published gain and almost none over a network', () => {
  const found = findingOf(rowsOf({ light: 5.54, heavy: 12, far: 660 }));
  assert.equal(found.verdict, 'yes');
  assert.equal(claimOf(found, /, INCR$/)[0]?.toFixed(3), '0.337');
  assert.doesNotMatch(found.notes.join(' '), /cannot show/);
});

test('a gain that a network does not reduce makes the lesson hold in part', () => {
  assert.equal(findingOf(rowsOf({ light: 5.54, heavy: 12, far: 400 })).verdict, 'partly');
});

test('a gain that exists only where stores and clients share all cores makes it hold in part, with both figures', () => {
  const anywhere = [
    row({ isAnywhere: true }),
    row({ isAnywhere: true, shape: 'one store each', usPerOp: 5.54 }),
    row({ isAnywhere: true, weight: 'heavy', usPerOp: 20 }),
    row({ isAnywhere: true, weight: 'heavy', shape: 'one store each', usPerOp: 12 }),
  ];
  const found = findingOf([...rowsOf({ light: 8.3, heavy: 22, far: 666 }), ...anywhere]);
  assert.equal(found.verdict, 'partly');
  const names = [/, INCR$/, /, INCR, stores and clients on any core/];
  assert.deepEqual(
    names.map((name) => claimOf(found, name)[0]?.toFixed(3)),
    ['0.007', '0.337'],
  );
  const pages = [/^heavy, one store each$/, /^heavy, one store each, stores and clients on any core/];
  assert.deepEqual(
    pages.map((name) => Number(cellOf(found, /^On loopback/, name, /^against one store/)).toFixed(3)),
    ['0.100', '-0.400'],
  );
  const both = findingOf([...rowsOf({ light: 5.54, heavy: 12, far: 660 }), ...anywhere]);
  assert.equal(both.verdict, 'yes');
});

test('a loss over a network is not described as a smaller gain', () => {
  const found = findingOf(rowsOf({ light: 5.54, heavy: 12, far: 780 }));
  assert.equal(found.verdict, 'partly');
  const [lost, isHeld] = claimOf(found, OVER_NETWORK);
  assert.deepEqual([lost?.toFixed(3), isHeld], ['-0.169', false]);
  const nothing = findingOf(rowsOf({ light: 5.54, heavy: 12, far: 670 }));
  assert.equal(nothing.verdict, 'yes');
  const [left, isNothingHeld] = claimOf(nothing, OVER_NETWORK);
  assert.deepEqual([left?.toFixed(3), isNothingHeld], ['-0.004', true]);
});

test('three clients have finished when the slowest has, and the store use is measured over that time', () => {
  const latencyMs = { mean: 1, p50: 1, p95: 1, p99: 2, max: 9 };
  const clients = [
    { perSecond: 1000, latencyMs, processorSeconds: 0.4 },
    { perSecond: 500, latencyMs: { ...latencyMs, p99: 5 }, processorSeconds: 0.6 },
    { perSecond: 2000, latencyMs, processorSeconds: 0.2 },
  ];
  const { usPerOp, generatorCores, ...others } = figuresOf(clients, 1000, 1.5);
  assert.deepEqual(others, { perSecond: 1500, storeUsPerOp: 500, p99Ms: 5, storeCores: 0.75 });
  assert.ok(Math.abs(usPerOp - 2e6 / 3000) < 1e-6, `${usPerOp}`);
  assert.ok(Math.abs(generatorCores - 0.6) < 1e-9, `${generatorCores}`);
});

test('three stores on one core fill it together, even if none of them is busy alone', () => {
  assert.equal(limitOfStores(TWO, 3, { storeCores: 0.95, generatorCores: 0.5 }), 'store');
  assert.equal(limitOfStores(EIGHT, 3, { storeCores: 0.95, generatorCores: 0.5 }), 'neither');
  assert.equal(limitOfStores(EIGHT, 1, { storeCores: 0.95, generatorCores: 0.5 }), 'store');
});

test('where stores and clients share all cores, both are limited when no core is left', () => {
  const busy = { storeCores: 0.9, generatorCores: 0.95 };
  assert.equal(limitOfStores(TWO, 3, busy, { isAnywhere: true }), 'both');
  assert.equal(limitOfStores(EIGHT, 3, busy, { isAnywhere: true }), 'neither');
});

function rowsOf(us: {
  readonly light: number;
  readonly heavy: number;
  readonly far: number;
  readonly limit?: DomainRow['limit'];
}): readonly DomainRow[] {
  const each = { shape: 'one store each', ...(us.limit && { limit: us.limit }) } as const;
  return [
    row({ usPerOp: 8.36 }),
    row({ ...each, usPerOp: us.light }),
    row({ weight: 'heavy', usPerOp: 20 }),
    row({ ...each, weight: 'heavy', usPerOp: us.heavy }),
    row({ isFar: true, usPerOp: 667 }),
    row({ ...each, isFar: true, usPerOp: us.far }),
  ];
}

function findingOf(rows: readonly DomainRow[], cores = EIGHT): Found {
  return domains.findingOf({
    near: rows.filter(({ isFar }) => !isFar),
    far: rows.filter(({ isFar }) => isFar),
    cores,
  });
}

function row(own: Partial<DomainRow>): DomainRow {
  return {
    weight: 'light',
    shape: 'one store for all three',
    isFar: false,
    isAnywhere: false,
    usPerOp: 8.36,
    perSecond: 119_617,
    storeUsPerOp: 8,
    p99Ms: 0.1,
    storeCores: 0.95,
    generatorCores: 0.6,
    limit: 'store',
    ...own,
  };
}
