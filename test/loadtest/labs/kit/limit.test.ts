import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coresOf } from '../../../../loadtest/labs/kit/lab.ts';
import { limitOf } from '../../../../loadtest/labs/kit/meters.ts';

test('the limit is the part that is full', () => {
  assert.equal(limitOf({ storeCores: 0.97, generatorCores: 0.4 }), 'store');
  assert.equal(limitOf({ storeCores: 0.4, generatorCores: 0.97 }), 'generator');
  assert.equal(limitOf({ storeCores: 0.97, generatorCores: 0.97 }), 'both');
  assert.equal(limitOf({ storeCores: 0.5, generatorCores: 0.5 }), 'neither');
});

test('a core is still full when other processes take some of it, and 80 % is not full', () => {
  assert.equal(limitOf({ storeCores: 0.86, generatorCores: 0.8 }), 'store');
  assert.equal(limitOf({ storeCores: 0.8, generatorCores: 0.86 }), 'generator');
  assert.equal(limitOf({ storeCores: 0.8, generatorCores: 0.8 }), 'neither');
});

test('a generator with two threads is not full when it uses one core', () => {
  const room = { storeCores: 1, generatorCores: 2 };
  assert.equal(limitOf({ storeCores: 0.5, generatorCores: 1 }, room), 'neither');
  assert.equal(limitOf({ storeCores: 0.5, generatorCores: 1.9 }, room), 'generator');
});

test('stores and generators get half of the processors each, and share a single one', () => {
  assert.deepEqual(coresOf('0-1'), { store: '0', generator: '1', storeCount: 1, generatorCount: 1 });
  assert.deepEqual(coresOf('0-3,6'), { store: '0,1', generator: '2,3,6', storeCount: 2, generatorCount: 3 });
  assert.deepEqual(coresOf('4'), { store: '4', generator: '4', storeCount: 1, generatorCount: 1 });
});
