import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { leaseNames } from '../../src/cache/lease.ts';
import { type LeaseNames, type LeaseTake, readOnce, type Store } from '../../src/cache/store.ts';
import { until } from '../until.ts';

export interface LeasesUnderTest {
  readonly store: Store;
  /** Stops all nodes that own names until the returned function is called. */
  readonly stall: () => Promise<() => void>;
}

/** Generous, for slow machines: the contract tests results and not speed. */
const DEADLINE_MS = 60_000;
const TTL_MS = 60_000;
const HELD = { kind: 'held' };
const PASS = { kind: 'pass' };
const FREE = { kind: 'free', value: undefined };
const TAKEN = { kind: 'taken', value: undefined };
const FENCED = { kind: 'dropped', fault: 'fenced' };
const STORED = { kind: 'stored' };

const names = (id: string): LeaseNames => leaseNames(`sc1:contract:{lease-${id}}`);

/** The promises of every store's leases (src/cache/store.ts). Registers its tests in the calling suite. */
export function leaseContract(store: () => Store): void {
  const take = (on: LeaseNames, token: string, ttlMs = TTL_MS): Promise<LeaseTake> =>
    store().leases.take(on, token, ttlMs, DEADLINE_MS);
  const look = (on: LeaseNames) => store().leases.look(on, DEADLINE_MS);
  const write = (on: LeaseNames, token: string, value: Buffer | string, ttlMs = TTL_MS) =>
    store().leases.writeAndRelease(on, token, Buffer.from(value), ttlMs);

  describe('leases', () => {
    test('when many take a lease at once, one gets it and the others see that it is held', async () => {
      const on = names('crowd');
      const all = await Promise.all(Array.from({ length: 40 }, (_, index) => take(on, `token-${index}`)));
      assert.equal(all.filter(({ kind }) => kind === 'taken').length, 1);
      assert.equal(all.filter(({ kind }) => kind === 'held').length, 39);
      assert.deepEqual(await look(on), HELD);
    });

    test('a take returns the entry of that moment', async () => {
      const on = names('value');
      assert.deepEqual(await take(on, 'a'), TAKEN);
      await store().leases.release(on, 'a');
      const value = randomBytes(3000);
      assert.deepEqual(await store().write(on.entry, value, TTL_MS), STORED);
      assert.deepEqual(await take(on, 'a'), { kind: 'taken', value });
      assert.deepEqual(await take(on, 'b'), HELD);
    });

    test('a write releases the lease, and every reader gets its value: binary, empty, 1 MiB', async () => {
      const binary = Buffer.from(Uint8Array.from({ length: 512 }, (_, index) => index % 256));
      const values = {
        binary,
        crlf: Buffer.from('$5\r\nhello\r\n\0'),
        empty: Buffer.alloc(0),
        large: randomBytes(1 << 20),
      };
      for (const [id, value] of Object.entries(values)) {
        const on = names(id);
        assert.deepEqual(await take(on, 'a'), TAKEN);
        assert.deepEqual(await write(on, 'a', value), STORED, id);
        const found = await look(on);
        assert.ok(found.kind === 'free' && found.value?.equals(value), `${id} came back changed`);
        const read = await readOnce(store(), on.entry, DEADLINE_MS);
        assert.ok(read.kind === 'value' && read.value.equals(value), id);
        assert.equal((await take(on, 'b')).kind, 'taken', id);
      }
    });

    test('the entry has the lifetime of the write, also with a fraction of a millisecond', async () => {
      const on = names('lifetime');
      await take(on, 'a');
      assert.deepEqual(await write(on, 'a', 'x', 80.5), STORED);
      await until('the entry to expire', async () => assert.deepEqual(await look(on), FREE));
    });

    test('while the lease is held a look returns only that, although there is an entry', async () => {
      const on = names('look');
      assert.deepEqual(await look(on), FREE);
      await store().write(on.entry, Buffer.from('old'), TTL_MS);
      assert.deepEqual(await look(on), { kind: 'free', value: Buffer.from('old') });
      await take(on, 'a');
      assert.deepEqual(await look(on), HELD);
      await store().leases.release(on, 'a');
      assert.deepEqual(await look(on), { kind: 'free', value: Buffer.from('old') });
    });

    test('a process that does not hold the lease can neither release it nor write', async () => {
      const on = names('stranger');
      await store().write(on.entry, Buffer.from('old'), TTL_MS);
      assert.deepEqual(await write(on, 'b', 'not mine'), FENCED, 'no lease is held');
      await take(on, 'a');
      for (const token of ['b', '', 'A', 'a ', 'ta', 'p', '\0']) {
        assert.deepEqual(await write(on, token, 'not mine'), FENCED);
        await store().leases.release(on, token);
        await store().leases.release(on, token, 1000);
        assert.deepEqual(await look(on), HELD, JSON.stringify(token));
      }
      await store().leases.release(on, 'a');
      assert.deepEqual(await look(on), { kind: 'free', value: Buffer.from('old') });
    });

    test('a holder whose lease expired changes nothing: the next holder writes', async () => {
      const on = names('slow');
      await take(on, 'slow', 50.5);
      await until('the lease to expire', async () => assert.deepEqual(await look(on), FREE));
      assert.deepEqual(await take(on, 'next'), TAKEN);
      assert.deepEqual(await write(on, 'slow', 'late'), FENCED);
      await store().leases.release(on, 'slow');
      assert.deepEqual(await look(on), HELD);
      assert.deepEqual(await write(on, 'next', 'in time'), STORED);
      assert.deepEqual(await write(on, 'slow', 'later'), FENCED);
      assert.deepEqual(await look(on), { kind: 'free', value: Buffer.from('in time') });
    });

    test('every process sees a pass mark until it expires, with any token', async () => {
      const on = names('pass');
      await take(on, 'a');
      await store().leases.release(on, 'a', TTL_MS + 0.5);
      for (const token of ['a', 'b', '', 'p', 'pass', 't']) {
        const [release, written, taken] = [store().leases.release(on, token), write(on, token, 'x'), take(on, token)];
        const seen = { looked: await look(on), written: await written, taken: await taken };
        await release;
        assert.deepEqual(seen, { looked: PASS, written: FENCED, taken: PASS }, token);
      }
      const brief = names('brief-pass');
      await take(brief, 'a');
      await store().leases.release(brief, 'a', 50.5);
      await until('the mark to expire', async () => (await look(brief)).kind === 'free');
      assert.deepEqual(await take(brief, 'b'), TAKEN);
    });

    test('a released lease may be taken again with the same token', async () => {
      const on = names('again');
      for (let round = 0; round < 3; round += 1) {
        assert.deepEqual(await take(on, 'a'), TAKEN);
        await store().leases.release(on, 'a');
        await store().leases.release(on, 'a');
      }
      assert.deepEqual(await look(on), FREE);
    });

    test('leases of many keys, on all nodes, are independent', async () => {
      const many = Array.from({ length: 120 }, (_, index) => names(`many-${index}`));
      assert.ok((await Promise.all(many.map((on) => take(on, 'a')))).every(({ kind }) => kind === 'taken'));
      const written = await Promise.all(many.map((on) => write(on, 'a', on.entry)));
      assert.ok(written.every(({ kind }) => kind === 'stored'));
      const looks = await Promise.all(many.map(look));
      assert.deepEqual(
        looks,
        many.map((on) => ({ kind: 'free', value: Buffer.from(on.entry) })),
      );
    });
  });
}

/** Separate, because it stalls nodes, and their breakers would affect the next tests. */
export function lateLeaseContract(under: () => LeasesUnderTest): void {
  test('a take that missed its deadline leaves no lease in the end', async () => {
    const { store, stall } = under();
    const many = Array.from({ length: 60 }, (_, index) => names(`late-${index}`));
    const goOn = await stall();
    const takes = await Promise.all(many.map((on) => store.leases.take(on, 'a', TTL_MS, 1))).finally(goOn);
    for (const [index, on] of many.entries()) {
      assert.equal(takes[index]?.kind, 'fault', on.lease);
      await until(`${on.lease} to be free`, async () => (await store.leases.look(on, DEADLINE_MS)).kind === 'free');
    }
  });
}
