import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { createPacketFramer, createReplyReader, errorPacket } from '../../../loadtest/fault-proxy/mysql-framing.ts';
import { commandOf, createRespFramer } from '../../../loadtest/fault-proxy/resp-proxy.ts';

const packet = (sequence: number, payload: Buffer): Buffer => {
  const header = Buffer.alloc(4);
  header.writeUIntLE(payload.length, 0, 3);
  header[3] = sequence;
  return Buffer.concat([header, payload]);
};

/** Payloads in the format of searchd 2.2.11. */
const COLUMNS = Buffer.from([1]);
const DEFINITION = Buffer.from('\x03def');
const ROW = Buffer.from('\x02ok');
/** A row whose first value exceeds 16 MB also begins with 0xfe, but is longer than an EOF packet. */
const ROW_LIKE_EOF = Buffer.from([0xfe, 1, 2, 3, 4, 5, 6, 7, 8]);
const eof = (status: number): Buffer => Buffer.from([0xfe, 0, 0, status, 0]);
const SET = [COLUMNS, DEFINITION, eof(0), ROW, ROW_LIKE_EOF];

/** Index of the payload at which the reader reports a complete reply. */
function lastOf(payloads: readonly Buffer[]): number {
  const isLast = createReplyReader();
  return payloads.findIndex((payload) => isLast(payload));
}

describe('the part of the MySQL protocol that the engine proxy reads', () => {
  it('packets are complete and in order for any split of their bytes', () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(payloads, fc.integer({ min: 1, max: 50 }), (sent, size) => {
        const packets = sent.map((payload, index) => packet(index, Buffer.from(payload)));
        const bytes = Buffer.concat(packets);
        const framer = createPacketFramer();
        const got = [];
        for (let at = 0; at < bytes.length; at += size) got.push(...framer(bytes.subarray(at, at + size)));
        assert.deepEqual(
          got.map((one) => [one.sequence, one.payload.toString('hex'), one.bytes.toString('hex')]),
          packets.map((one, index) => [index, one.subarray(4).toString('hex'), one.toString('hex')]),
        );
      }),
    );
  });

  it('a reply ends with the last of its result sets', () => {
    assert.equal(lastOf([...SET, eof(0)]), 5);
    assert.equal(lastOf([...SET, eof(8), ...SET, eof(8), COLUMNS, DEFINITION, eof(0), eof(0)]), 15);
  });

  it('an error ends a reply at any position', () => {
    const error = errorPacket(1, 1064, 'no', '42000').subarray(4);
    assert.equal(lastOf([error]), 0);
    assert.equal(lastOf([...SET, eof(8), error]), 6);
    assert.equal(lastOf([...SET, error]), 5);
  });
});

const VALUES = [
  '+OK\r\n',
  '-ERR no\r\n',
  ':-17\r\n',
  '$-1\r\n',
  '$0\r\n\r\n',
  '$9\r\n$5\r\n*2\r\n+\r\n',
  '*0\r\n',
  '*-1\r\n',
  '*3\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n+x\r\n',
  '%2\r\n+a\r\n:1\r\n$1\r\nb\r\n*0\r\n',
  '|1\r\n+ttl\r\n:3\r\n$1\r\nv\r\n',
  '>2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n',
  '_\r\n',
  '#t\r\n',
  ',1.5\r\n',
  '=7\r\ntxt:abc\r\n',
];

test('RESP values are complete and in order for any split of their bytes', () => {
  const values = fc.array(fc.constantFrom(...VALUES), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(values, fc.array(fc.nat({ max: 20 }), { minLength: 1 }), (sent, sizes) => {
      const framer = createRespFramer();
      const bytes = Buffer.from(sent.join(''));
      const got: string[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = 1 + (sizes[turn % sizes.length] ?? 0);
        got.push(...framer.push(bytes.subarray(at, at + size)).map(String));
        at += size;
      }
      assert.deepEqual(got, sent);
      assert.equal(framer.keptBytes(), 0);
    }),
  );
});

test('a RESP command gives its words, empty ones and words with line ends included', () => {
  const words = ['SET', '', 'a\r\n$3\r\nb', 'ж'];
  const bytes = Buffer.from(`*4\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`);
  assert.deepEqual(commandOf(bytes).map(String), words);
});

test('input that is not RESP is refused', () => {
  for (const text of ['HTTP/1.1 200 OK\r\n', '$x\r\n', '*1.5\r\n', '$99999999999\r\n', `+${'x'.repeat(100_000)}`]) {
    assert.throws(() => createRespFramer().push(Buffer.from(text)), Error, text.slice(0, 20));
  }
  assert.throws(() => commandOf(Buffer.from('+PING\r\n')));
});
