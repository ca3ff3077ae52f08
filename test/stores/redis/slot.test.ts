import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotOf } from '../../../src/stores/redis/cluster.ts';

test('slots are CRC16 modulo 16384', () => {
  // 0x31C3 is the published check value of this CRC; the others are what CLUSTER KEYSLOT answers.
  assert.equal(slotOf('123456789'), 0x31c3);
  assert.equal(slotOf('foo'), 12_182);
  assert.equal(slotOf(''), 0);
});

test('only what stands in the first braces counts, unless they are empty or not closed', () => {
  assert.equal(slotOf('sc1:goods:{abc}'), slotOf('abc'));
  assert.equal(slotOf('sc1:goods:lease:{abc}'), slotOf('abc'));
  assert.equal(slotOf('{abc}{def}'), slotOf('abc'));
  assert.notEqual(slotOf('{}{abc}'), slotOf('abc'));
  assert.notEqual(slotOf('{abc'), slotOf('abc'));
  assert.equal(slotOf('}{abc}'), slotOf('abc'));
});
