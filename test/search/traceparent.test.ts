import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTraceparent, parseTraceparent } from '../../src/search/traceparent.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test('a traceparent is read with its flag, in this version and in later ones', () => {
  for (const [field, sampled] of [
    [`00-${traceId}-${spanId}-01`, true],
    [`00-${traceId}-${spanId}-00`, false],
    [`00-${traceId}-${spanId}-03`, true],
    [`00-${traceId}-${spanId}-fe`, false],
    [`01-${traceId}-${spanId}-01-of a later version`, true],
    [`cc-${traceId}-${spanId}-01`, true],
  ] as const) {
    assert.deepEqual(parseTraceparent(field), { traceId, spanId, sampled }, field);
  }
});

test('a traceparent that is not valid counts as none', () => {
  for (const field of [
    undefined,
    '',
    [`00-${traceId}-${spanId}-01`],
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-`,
    `00-${traceId}-${spanId}-1`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    ` 00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `01-${traceId}-${spanId}-01-${'x'.repeat(500)}`,
  ]) {
    assert.equal(parseTraceparent(field), undefined, String(field));
  }
});

test('a traceparent that is sent along reads as the span that sends it', () => {
  assert.deepEqual(parseTraceparent(formatTraceparent({ traceId, spanId })), { traceId, spanId, sampled: true });
});
