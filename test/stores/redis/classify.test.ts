import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CommandFailure, classifyError } from '../../../src/stores/redis/errors.ts';

const REFUSED: CommandFailure = { kind: 'refused', refreshSlots: false };
/** A refusal caused by an outdated slot map. */
const OUTDATED: CommandFailure = { kind: 'refused', refreshSlots: true };
const DOWN: CommandFailure = { kind: 'down' };

const REPLIES: readonly (readonly [message: string, means: CommandFailure])[] = [
  ['MOVED 3999 10.0.0.7:6379', { kind: 'redirect', to: '10.0.0.7:6379', ask: false }],
  ['ASK 3999 [::1]:6379', { kind: 'redirect', to: '[::1]:6379', ask: true }],
  ["OOM command not allowed when used memory > 'maxmemory'.", REFUSED],
  ['MISCONF Errors writing to the RDB file', REFUSED],
  ["NOPERM User app has no permissions to run the 'get' command", REFUSED],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', REFUSED],
  ['NOREPLICAS Not enough good replicas to write.', REFUSED],
  ["ERR unknown command 'FOO'", REFUSED],
  ['CLUSTERDOWN Hash slot not served', OUTDATED],
  ["READONLY You can't write against a read only replica.", OUTDATED],
  ['LOADING Redis is loading the dataset in memory', DOWN],
  ['BUSY Redis is busy running a script', DOWN],
  ['CLUSTERDOWN The cluster is down', DOWN],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", DOWN],
  ['NOAUTH Authentication required.', DOWN],
];

test('a redirect, a refusal of one command and a node that serves no client are told apart', () => {
  for (const [message, means] of REPLIES) {
    assert.deepEqual(classifyError(Object.assign(new Error(message), { name: 'ReplyError' })), means, message);
  }
  assert.deepEqual(classifyError(new Error('Connection is closed.')), DOWN);
});
