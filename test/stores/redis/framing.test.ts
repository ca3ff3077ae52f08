import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFraming } from '../../../src/stores/redis/connection.ts';

const line = fc.string({ unit: fc.constantFrom(...' abcXYZ019:$*+-\n') });
const reply: fc.Arbitrary<Buffer> = fc.letrec<{ reply: Buffer }>((tie) => ({
  reply: fc.oneof(
    { maxDepth: 3 },
    line.map((text) => Buffer.from(`+${text}\r\n`)),
    line.map((text) => Buffer.from(`-ERR ${text}\r\n`)),
    fc.maxSafeInteger().map((value) => Buffer.from(`:${value}\r\n`)),
    fc.constantFrom('$-1\r\n', '*-1\r\n', '*0\r\n', '$0\r\n\r\n').map((text) => Buffer.from(text)),
    fc
      .uint8Array({ maxLength: 60 })
      .map((body) => Buffer.concat([Buffer.from(`$${body.length}\r\n`), body, Buffer.from('\r\n')])),
    fc
      .array(tie('reply'), { maxLength: 4 })
      .map((items) => Buffer.concat([Buffer.from(`*${items.length}\r\n`), ...items])),
  ),
})).reply;

test('every reply passes, wherever it is cut into chunks', () => {
  fc.assert(
    fc.property(fc.array(reply, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 30 })), (replies, cuts) => {
      const { feed } = createFraming();
      const stream = Buffer.concat(replies);
      let at = 0;
      for (const cut of [...cuts, stream.length]) {
        assert.equal(feed(stream.subarray(at, at + cut)), -1, JSON.stringify(stream.toString('latin1')));
        at += cut;
      }
    }),
  );
});

test('an invalid frame is found at its first invalid byte, in the chunk that contains it', () => {
  const cases: readonly (readonly [bytes: string, at: number])[] = [
    ['HTTP/1.1 400', 0],
    ['+OK\r\n\0', 5],
    ['+OK\rx', 4],
    ['$%\r\n+OK\r\n', 1],
    ['$-2\r\n', 2],
    ['$-10\r\n', 3],
    ['$\r\n', 1],
    ['$1x\r\n', 2],
    ['*1\rx', 3],
    ['$1000000000\r\n', 12],
    ['*1000000000\r\n', 12],
    [':123456789012345678901\r\n', 21],
    // The length is too small, or too large.
    ['$3\r\nhello\r\n', 7],
    ['$6\r\nhello\r\n$-1\r\n', 10],
    ['%1\r\n', 0],
  ];
  for (const [bytes, at] of cases) {
    assert.equal(createFraming().feed(Buffer.from(bytes, 'latin1')), at, JSON.stringify(bytes));
    const { feed } = createFraming();
    const seen = [...Buffer.from(bytes, 'latin1')].findIndex((byte) => feed(Buffer.of(byte)) === 0);
    assert.equal(seen, at, `${JSON.stringify(bytes)} byte by byte`);
  }
});
