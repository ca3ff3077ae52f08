import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DomainRow, domains } from '../../../../loadtest/labs/experiments/domains.ts';
import { figuresOf, limitOfStores } from '../../../../loadtest/labs/experiments/three-clients.ts';
import { claimOf } from './harness.ts';

const TWO = { store: '0', generator: '1', storeCount: 1, generatorCount: 1 };
const EIGHT = { store: '0-3', generator: '4-7', storeCount: 4, generatorCount: 4 };

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

const each = (own: Partial<DomainRow>): DomainRow => row({ shape: 'one store each', ...own });

/** @param us time per operation with one store each: light, heavy, and light over a network. */
const findingOf = ([light, heavy, far]: readonly [number, number, number], more: readonly DomainRow[] = []) =>
  domains.findingOf({
    near: [row({}), each({ usPerOp: light }), row({ weight: 'heavy', usPerOp: 20 })].concat(
      each({ weight: 'heavy', usPerOp: heavy }),
      more,
    ),
    far: [row({ isFar: true, usPerOp: 667 }), each({ isFar: true, usPerOp: far })],
    cores: EIGHT,
  });

for (const [name, us, verdict, gain, farGain] of [
  ['INCR has the published gain, and almost none over a network', [5.54, 12, 660], 'yes', '0.337', '0.010'],
  ['a gain that a network does not reduce holds in part', [5.54, 12, 400], 'partly', '0.337', '0.400'],
  ['a loss over a network is no smaller gain', [5.54, 12, 780], 'partly', '0.337', '-0.169'],
  ['neither a gain nor a loss over a network', [5.54, 12, 670], 'yes', '0.337', '-0.004'],
] as const)
  test(name, () => {
    const found = findingOf(us);
    assert.equal(found.verdict, verdict);
    assert.equal(claimOf(found, /, INCR$/)[0]?.toFixed(3), gain);
    const [figure, isHeld] = claimOf(found, /INCR over a network/);
    assert.deepEqual([figure?.toFixed(3), isHeld], [farGain, verdict === 'yes']);
  });

test('a gain that exists only where stores and clients share all cores makes it hold in part', () => {
  const anywhere = [row({ isAnywhere: true }), each({ isAnywhere: true, usPerOp: 5.54 })];
  const found = findingOf([8.3, 22, 666], anywhere);
  assert.equal(found.verdict, 'partly');
  assert.equal(claimOf(found, /, INCR, stores and clients on any core/)[0]?.toFixed(3), '0.337');
});

test('three clients have finished when the slowest has, and the store use is measured over that time', () => {
  const clients = [
    { perSecond: 1000, p99Ms: 2, processorSeconds: 0.4 },
    { perSecond: 500, p99Ms: 5, processorSeconds: 0.6 },
    { perSecond: 2000, p99Ms: 2, processorSeconds: 0.2 },
  ];
  const { usPerOp, generatorCores, ...others } = figuresOf(clients, 1000, 1.5);
  assert.deepEqual(others, { perSecond: 1500, storeUsPerOp: 500, p99Ms: 5, storeCores: 0.75 });
  assert.deepEqual([usPerOp.toFixed(3), generatorCores.toFixed(3)], ['666.667', '0.600']);
});

test('stores that share a core fill it together; where stores and clients share all cores, both are limited', () => {
  const busy = { storeCores: 0.95, generatorCores: 0.5 };
  assert.equal(limitOfStores(TWO, 3, busy), 'store');
  assert.equal(limitOfStores(EIGHT, 3, busy), 'neither');
  assert.equal(limitOfStores(EIGHT, 1, busy), 'store');
  const all = { storeCores: 0.9, generatorCores: 0.95 };
  assert.equal(limitOfStores(TWO, 3, all, { isAnywhere: true }), 'both');
  assert.equal(limitOfStores(EIGHT, 3, all, { isAnywhere: true }), 'neither');
});
