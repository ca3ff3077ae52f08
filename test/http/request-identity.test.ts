import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceIdOf } from '../../src/http/search-api/exchange.ts';
import { createRequestIds } from '../../src/http/transport/app.ts';
import { seededRandom } from '../fakes/clock.ts';

test('a sane request id is kept and anything else is replaced by a new one', () => {
  const idOf = createRequestIds(seededRandom(1));
  assert.equal(idOf('a1B2.c-3_'), 'a1B2.c-3_');
  assert.equal(idOf('x'.repeat(64)), 'x'.repeat(64));
  const made = [undefined, '', 'x'.repeat(65), 'a b', 'a\r\nb', 'ё', ['a', 'b']].map(idOf);
  assert.equal(new Set(made).size, made.length);
  for (const id of made) assert.match(id, /^[a-z0-9]+-[a-z0-9]+$/);
});

test('two processes name their requests differently', () => {
  assert.notEqual(createRequestIds(seededRandom(1))(undefined), createRequestIds(seededRandom(2))(undefined));
});

test('a traceparent is used only when it is valid', () => {
  const [trace, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  assert.equal(traceIdOf(`00-${trace}-${parent}-01`), trace);
  assert.equal(traceIdOf(`01-${trace}-${parent}-01-more`), trace);
  const invalid = [
    `00-${trace}-${parent}-01-more`,
    `ff-${trace}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${trace}-${parent}`,
    'garbage',
    undefined,
  ];
  for (const each of invalid) assert.equal(traceIdOf(each), undefined, String(each));
});
