import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createReplyCounter } from '../../../../../loadtest/labs/kit/driver/connection.ts';

const simple = fc.constantFrom('+OK\r\n', ':12\r\n', '$-1\r\n', '*-1\r\n', '*0\r\n', '$0\r\n\r\n', '+\r\n');
const bulk = fc.string({ maxLength: 40 }).map((text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    simple,
    bulk,
    fc.array(tie('value'), { maxLength: 4 }).map((list) => `*${list.length}\r\n${list.join('')}`),
  ),
}));

test('only complete replies are counted, however the chunks are split', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 30 })), (replies, cuts) => {
      const bytes = Buffer.from(replies.join(''));
      const counter = createReplyCounter();
      let [counted, at] = [0, 0];
      for (const cut of [...cuts, bytes.length]) {
        counted += counter.push(bytes.subarray(at, at + cut)).replies;
        at += cut;
      }
      if (at < bytes.length) counted += counter.push(bytes.subarray(at)).replies;
      assert.equal(counted, replies.length);
    }),
  );
});

test('errors are counted separately, and errors inside a list are not counted', () => {
  const counter = createReplyCounter();
  assert.deepEqual(counter.push(Buffer.from('-OOM no\r\n+OK\r\n-ERR $3\r\n')), { replies: 3, errors: 2 });
  assert.deepEqual(counter.push(Buffer.from('*1\r\n-ERR inside\r\n')), { replies: 1, errors: 0 });
});

test('input that is not RESP2 is reported', () => {
  assert.throws(() => createReplyCounter().push(Buffer.from('HTTP/1.1 400\r\n')), /not RESP2: byte 72/);
});
