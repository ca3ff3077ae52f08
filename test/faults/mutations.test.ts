import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MYSQL_MUTATIONS } from './mutations-mysql.ts';
import { RESP_MUTATIONS } from './mutations-resp.ts';

test('no damaged reply of a Redis server ends or hangs the process, or gives a wrong page', async () => {
  const { sent, findings } = await RESP_MUTATIONS.run(1, 96);
  assert.deepEqual(findings, []);
  assert.equal(sent, 96);
});

test('given replies are sent in the place of every kind of reply', async () => {
  // The first one ends a process in which ioredis reads it, the second one takes its memory.
  const given = ['$-1\r\n$-1\r\n$-1\r\n', '*1000000\r\n'.repeat(700)].map((text) => Buffer.from(text));
  const { sent, findings } = await RESP_MUTATIONS.replay(given);
  assert.deepEqual(findings, []);
  assert.equal(sent, 2 * 10);
});

test('no damaged reply of searchd ends or hangs the process, keeps a permit, or gives a wrong page', async () => {
  const { sent, findings } = await MYSQL_MUTATIONS.run(1, 80);
  assert.deepEqual(findings, []);
  assert.equal(sent, 80);
});

test('given bytes are sent in the place of every kind of reply of searchd', async () => {
  // mysql2 alone drops the statement at the first one, and may throw outside of every handler at the others.
  const given = [
    '01000001011a000002036465660000000269640269640c21001400000008000000000003000003026931',
    '03000000ff2804',
    '01000000ff',
  ].map((bytes) => Buffer.from(bytes, 'hex'));
  const { sent, findings } = await MYSQL_MUTATIONS.replay(given);
  assert.deepEqual(findings, []);
  assert.equal(sent, 3 * 4);
});
