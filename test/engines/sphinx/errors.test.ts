import assert from 'node:assert/strict';
import { it } from 'node:test';
import { classify, isAgentFault } from '../../../src/engines/sphinx/errors.ts';
import { partialWarning } from '../../../src/engines/sphinx/reply.ts';
import { type EngineReason, SearchError } from '../../../src/resilience/search-error.ts';

interface Case {
  readonly message: string;
  readonly errno?: number;
  readonly code?: string;
  readonly means: EngineReason;
}

/** Messages of searchd 2.2.11, Manticore and mysql2. */
const CASES: readonly Case[] = [
  {
    message: "sphinxql: syntax error, unexpected $end near 'x'\0",
    errno: 1064,
    code: 'ER_PARSE_ERROR',
    means: 'engine-rejected',
  },
  {
    message: "P01: syntax error, unexpected identifier near 'x'",
    errno: 1064,
    code: 'ER_PARSE_ERROR',
    means: 'engine-rejected',
  },
  { message: "unknown local index 'nope' in search request\0", errno: 1064, means: 'engine-rejected' },
  { message: "unknown local table 'nope' in search request", errno: 1064, means: 'engine-rejected' },
  { message: "index a: no such filter attribute 'nope'\0", errno: 1064, means: 'engine-rejected' },
  {
    message: 'query too complex, not enough stack (thread_stack=3151K or higher required)',
    errno: 1064,
    means: 'engine-rejected',
  },
  { message: 'unknown command (code=22)', errno: 1047, code: 'ER_UNKNOWN_COM_ERROR', means: 'engine-rejected' },
  { message: 'index d: agent 127.0.0.1:17313: connect() timed out\0', errno: 1064, means: 'engine-unavailable' },
  { message: 'table d: agent search-2:9312: connection refused', errno: 1064, means: 'engine-unavailable' },
  { message: 'no enabled local indexes to search\0', errno: 1064, means: 'engine-unavailable' },
  { message: 'Too many connections', errno: 1040, code: 'ER_CON_COUNT_ERROR', means: 'engine-overloaded' },
  { message: 'maxed out, dismissing client', errno: 1047, code: 'ER_UNKNOWN_COM_ERROR', means: 'engine-overloaded' },
  { message: 'Server shutdown in progress', errno: 1053, code: 'ER_SERVER_SHUTDOWN', means: 'engine-unavailable' },
  { message: 'Access denied for user', errno: 1045, code: 'ER_ACCESS_DENIED_ERROR', means: 'engine-unavailable' },
  {
    message: 'Connection lost: The server closed the connection.',
    code: 'PROTOCOL_CONNECTION_LOST',
    means: 'engine-unavailable',
  },
  { message: "Can't add new command when connection is in closed state", means: 'engine-unavailable' },
  { message: 'connect ECONNREFUSED 127.0.0.1:1', errno: -111, code: 'ECONNREFUSED', means: 'engine-unavailable' },
  { message: 'read ECONNRESET', errno: -104, code: 'ECONNRESET', means: 'engine-unavailable' },
  { message: 'write EPIPE', errno: -32, code: 'EPIPE', means: 'engine-unavailable' },
  { message: 'getaddrinfo ENOTFOUND searchd', errno: -3008, code: 'ENOTFOUND', means: 'engine-unavailable' },
  { message: '', code: 'ECONNREFUSED', means: 'engine-unavailable' },
  { message: 'Query inactivity timeout', code: 'PROTOCOL_SEQUENCE_TIMEOUT', means: 'engine-timeout' },
];

for (const { means, message, ...rest } of CASES) {
  it(`${JSON.stringify(message || rest.code)} is ${means}`, () => {
    const error = classify(Object.assign(new Error(message), rest));
    assert.ok(error instanceof SearchError);
    assert.equal(error.reason, means);
    assert.ok(error.message !== '' && !error.message.includes('\0'));
  });
}

it('an SearchError is returned unchanged', () => {
  const error = new SearchError('engine-timeout', 'late');
  assert.equal(classify(error), error);
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
