import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createPacketFramer, createReplyReader, errorPacket } from '../../loadtest/proxy/mysql-framing.ts';

const packet = (sequence: number, payload: Buffer): Buffer => {
  const header = Buffer.alloc(4);
  header.writeUIntLE(payload.length, 0, 3);
  header[3] = sequence;
  return Buffer.concat([header, payload]);
};

/** Payloads as searchd 2.2.11 sends them. */
const COLUMNS = Buffer.from([1]);
const DEFINITION = Buffer.from('\x03def');
const ROW = Buffer.from('\x02ok');
/** A row whose first value has more than 16 MB begins with 0xfe as well, and is longer than an EOF. */
const ROW_LIKE_EOF = Buffer.from([0xfe, 1, 2, 3, 4, 5, 6, 7, 8]);
const eof = (status: number): Buffer => Buffer.from([0xfe, 0, 0, status, 0]);
const ok = (status: number): Buffer => Buffer.from([0x00, 0xfc, 0x00, 0x01, 0x00, status, 0, 0, 0]);
const SET = [COLUMNS, DEFINITION, eof(0), ROW, ROW_LIKE_EOF];

/** At which payload the reader says that the reply is whole. */
function lastOf(payloads: readonly Buffer[]): number {
  const isLast = createReplyReader();
  return payloads.findIndex((payload) => isLast(payload));
}

describe('the MySQL protocol, as far as the engine proxy reads it', () => {
  it('packets come out whole and in order, however their bytes were split', () => {
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

  it('a reply without rows ends with its OK, unless more follows', () => {
    assert.equal(lastOf([ok(0)]), 0);
    assert.equal(lastOf([ok(8), ...SET, eof(0)]), 6);
  });

  it('an error ends a reply wherever it comes', () => {
    const error = errorPacket(1, 1064, 'no', '42000').subarray(4);
    assert.equal(lastOf([error]), 0);
    assert.equal(lastOf([...SET, eof(8), error]), 6);
    assert.equal(lastOf([...SET, error]), 5);
  });

  it('a packet continued in the next is refused', () => {
    assert.throws(() => createPacketFramer()(Buffer.from([0xff, 0xff, 0xff, 0, 1])));
  });
});
