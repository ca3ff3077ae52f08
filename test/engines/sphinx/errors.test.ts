import assert from 'node:assert/strict';
import { it } from 'node:test';
import { engineErrorOf, isAgentFault } from '../../../src/engines/sphinx/errors.ts';
import { partialWarning } from '../../../src/engines/sphinx/rows.ts';
import { type EngineReason, SearchError } from '../../../src/resilience/search-error.ts';

/** Messages of searchd 2.2.11, Manticore and mysql2, by what they mean. */
const CASES: Readonly<Partial<Record<EngineReason, readonly (readonly [string, number?, string?])[]>>> = {
  'engine-rejected': [
    ["sphinxql: syntax error, unexpected $end near 'x'\0", 1064, 'ER_PARSE_ERROR'],
    ["P01: syntax error, unexpected identifier near 'x'", 1064, 'ER_PARSE_ERROR'],
    ["unknown local index 'nope' in search request\0", 1064],
    ["unknown local table 'nope' in search request", 1064],
    ["index a: no such filter attribute 'nope'\0", 1064],
    ['query too complex, not enough stack (thread_stack=3151K or higher required)', 1064],
    ['unknown command (code=22)', 1047, 'ER_UNKNOWN_COM_ERROR'],
  ],
  'engine-unavailable': [
    ['index d: agent 127.0.0.1:17313: connect() timed out\0', 1064],
    ['table d: agent search-2:9312: connection refused', 1064],
    ['no enabled local indexes to search\0', 1064],
    ['Server shutdown in progress', 1053, 'ER_SERVER_SHUTDOWN'],
    ['Access denied for user', 1045, 'ER_ACCESS_DENIED_ERROR'],
    ['Connection lost: The server closed the connection.', undefined, 'PROTOCOL_CONNECTION_LOST'],
    ["Can't add new command when connection is in closed state"],
    ['connect ECONNREFUSED 127.0.0.1:1', -111, 'ECONNREFUSED'],
    ['read ECONNRESET', -104, 'ECONNRESET'],
    ['write EPIPE', -32, 'EPIPE'],
    ['getaddrinfo ENOTFOUND searchd', -3008, 'ENOTFOUND'],
    ['', undefined, 'ECONNREFUSED'],
  ],
  'engine-overloaded': [
    ['Too many connections', 1040, 'ER_CON_COUNT_ERROR'],
    ['maxed out, dismissing client', 1047, 'ER_UNKNOWN_COM_ERROR'],
  ],
  'engine-timeout': [['Query inactivity timeout', undefined, 'PROTOCOL_SEQUENCE_TIMEOUT']],
};

for (const [means, cases] of Object.entries(CASES)) {
  for (const [message, errno, code] of cases) {
    it(`${JSON.stringify(message || code)} is ${means}`, () => {
      const error = engineErrorOf(Object.assign(new Error(message), { errno, code }));
      assert.ok(error instanceof SearchError);
      assert.equal(error.reason, means);
      assert.ok(error.message !== '' && !error.message.includes('\0'));
    });
  }
}

it('a SearchError is returned unchanged', () => {
  const error = new SearchError('engine-timeout', 'late');
  assert.equal(engineErrorOf(error), error);
});

it('only a failed agent is worth a second attempt', () => {
  assert.ok(isAgentFault('index dist: agent 127.0.0.1:17313: connect() failed: errno=111, Connection refused'));
  assert.ok(!isAgentFault("index d: agent a:1: remote query error: index odd: no such filter attribute 'x'"));
  assert.ok(isAgentFault('index d: agent a:1: remote query error: x;\nindex d: agent b:1: connect() timed out'));
  assert.ok(!isAgentFault('query time exceeded max_query_time'));
  assert.ok(!isAgentFault("unknown local index 'agent' in search request"));
});

it('every warning makes a page partial, except known harmless ones', () => {
  assert.equal(partialWarning(undefined), undefined);
  assert.equal(partialWarning('Fields specified in field_weights option not found: [title]'), undefined);
  for (const warning of ['query time exceeded max_query_time', 'index d: agent a:1: timed out', 'something new']) {
    assert.equal(partialWarning(warning), warning);
    const both = `Fields specified in field_weights option not found: [title]; ${warning}`;
    assert.equal(partialWarning(both), both);
  }
});
