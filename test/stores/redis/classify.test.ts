import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyError } from '../../../src/stores/redis/errors.ts';

const reply = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' });

test('a redirect names the next node, and whether for this one command only', () => {
  const moved = { kind: 'redirect', to: '10.0.0.7:6379', ask: false };
  assert.deepEqual(classifyError(reply('MOVED 3999 10.0.0.7:6379')), moved);
  assert.deepEqual(classifyError(reply('ASK 3999 [::1]:6379')), { kind: 'redirect', to: '[::1]:6379', ask: true });
});

test('a node that refuses one command is not down', () => {
  for (const message of [
    "OOM command not allowed when used memory > 'maxmemory'.",
    'MISCONF Errors writing to the RDB file',
    "NOPERM User app has no permissions to run the 'get' command",
    'WRONGTYPE Operation against a key holding the wrong kind of value',
    'NOREPLICAS Not enough good replicas to write.',
    "ERR unknown command 'FOO'",
  ]) {
    assert.deepEqual(classifyError(reply(message)), { kind: 'refused', refreshSlots: false }, message);
  }
});

test('a refusal caused by an outdated slot map asks for a new map', () => {
  assert.deepEqual(classifyError(reply('CLUSTERDOWN Hash slot not served')), { kind: 'refused', refreshSlots: true });
  const readOnly = "READONLY You can't write against a read only replica.";
  assert.deepEqual(classifyError(reply(readOnly)), { kind: 'refused', refreshSlots: true });
});

test('a node that serves no client is down, and so is a broken connection', () => {
  for (const message of [
    'LOADING Redis is loading the dataset in memory',
    'BUSY Redis is busy running a script',
    'CLUSTERDOWN The cluster is down',
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    'NOAUTH Authentication required.',
  ]) {
    assert.deepEqual(classifyError(reply(message)), { kind: 'down' }, message);
  }
  assert.deepEqual(classifyError(new Error('Connection is closed.')), { kind: 'down' });
});
