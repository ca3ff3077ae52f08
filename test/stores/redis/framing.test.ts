import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFraming } from '../../../src/stores/redis/guard.ts';

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
        const chunk = stream.subarray(at, at + cut);
        assert.equal(feed(chunk, replies.length), undefined, JSON.stringify(stream.toString('latin1')));
        at += cut;
      }
    }),
  );
});

test('a reply that no command waits for is found at its first byte, and the replies before it are whole', () => {
  fc.assert(
    fc.property(fc.array(reply, { minLength: 1, maxLength: 8 }), (replies) => {
      const stream = Buffer.concat(replies);
      const at = stream.length - (replies.at(-1)?.length ?? 0);
      const violation = createFraming().feed(stream, replies.length - 1);
      assert.deepEqual(violation, { why: 'a reply that no command waits for', at, whole: at });
    }),
  );
});

test('a reply that began in an earlier chunk needs the command that waited for it then', () => {
  const { feed } = createFraming();
  assert.equal(feed(Buffer.from('*2\r\n$-1\r\n'), 1), undefined);
  assert.equal(feed(Buffer.from(':1\r\n'), 1), undefined);
  assert.equal(feed(Buffer.from(':1\r\n'), 0)?.at, 0);
});

const NOT_RESP = 'a reply that is no RESP';
const TOO_LARGE = 'a reply that is too large';
const NIL = '$-1\r\n';

/** The index of the byte at which the stream must end. */
const INVALID: readonly (readonly [bytes: string, at: number, why: string])[] = [
  ['HTTP/1.1 400', 0, NOT_RESP],
  ['+OK\r\n\0', 5, NOT_RESP],
  ['+OK\rx', 4, NOT_RESP],
  ['$%\r\n+OK\r\n', 1, NOT_RESP],
  ['$-2\r\n', 2, NOT_RESP],
  ['$-10\r\n', 3, NOT_RESP],
  ['$\r\n', 1, NOT_RESP],
  ['$1x\r\n', 2, NOT_RESP],
  ['*1\rx', 3, NOT_RESP],
  [':123456789012345678901\r\n', 21, NOT_RESP],
  // The length is too small, or too large.
  ['$3\r\nhello\r\n', 7, NOT_RESP],
  ['$6\r\nhello\r\n$-1\r\n', 10, NOT_RESP],
  ['%1\r\n', 0, NOT_RESP],
  // A decoder allocates when the digits end: a chunk may end there.
  ['$1000000000\r', 11, TOO_LARGE],
  ['*9007199254740992\r', 17, TOO_LARGE],
  ['*1000001\r', 8, TOO_LARGE],
  // All lists of a reply count together.
  ['*1000000\r\n*1\r\n', 12, TOO_LARGE],
  ['*2\r\n*999998\r\n'.concat(NIL.repeat(999_998), '*1\r\n'), 13 + 5 * 999_998 + 2, TOO_LARGE],
  ['*1\r\n'.repeat(9), 4 * 8 + 2, TOO_LARGE],
  // And all bodies of a reply.
  ['*2\r\n$40000000\r\n'.concat('x'.repeat(40_000_000), '\r\n$40000000\r'), 4 + 11 + 40_000_002 + 9, TOO_LARGE],
  // A line has no announced length.
  [`+${'x'.repeat(70_000)}`, 1 + 64 * 1024, TOO_LARGE],
];

test('an invalid reply is found at its first invalid byte, in the chunk that contains it', () => {
  for (const [bytes, at, why] of INVALID) {
    const stream = Buffer.from(bytes, 'latin1');
    const shown = JSON.stringify(bytes.slice(0, 40));
    const whole = bytes.startsWith('+OK\r\n') ? 5 : 0;
    assert.deepEqual(createFraming().feed(stream, 9), { why, at, whole }, shown);
    if (stream.length > 1e6) continue;
    const { feed } = createFraming();
    const seen = stream.findIndex((byte) => feed(Buffer.of(byte), 9) !== undefined);
    assert.equal(seen, at, `${shown} byte by byte`);
  }
});

test('an entry of the largest size that can be configured passes', () => {
  const size = 64 * 1024 * 1024;
  assert.equal(createFraming().feed(Buffer.from(`$${size}\r\n`), 1), undefined);
});

test('a reply without an end is cut when its bytes pass the bound, however small its parts are', () => {
  const { feed } = createFraming();
  assert.equal(feed(Buffer.from('*1000000\r\n'), 1), undefined);
  const part = Buffer.from(`$60000\r\n${'x'.repeat(60_000)}\r\n`.repeat(16));
  let fed = 0;
  while (feed(part, 1) === undefined) fed += part.length;
  assert.ok(fed > 60e6 && fed < 70e6, `${fed} bytes`);
});
