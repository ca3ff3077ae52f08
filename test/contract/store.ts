import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { leaseNames } from '../../src/cache/lease.ts';
import { readOnce, type StoreRead } from '../../src/cache/store.ts';
import { until } from '../until.ts';
import { type FleetUnderTest, fleetContract } from './fleet.ts';
import { type LeasesUnderTest, lateLeaseContract, leaseContract } from './lease.ts';

export interface StoreUnderTest extends FleetUnderTest, LeasesUnderTest {
  /** The server's `CLUSTER KEYSLOT`, for stores with slots. */
  readonly keySlot?: (name: string) => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** Generous, for slow machines: the contract tests results and not speed. */
const DEADLINE_MS = 60_000;
const TTL_MS = 600_000;
/** Enough for more than one pipeline per node. */
const MANY = 1000;

const hung = (): Promise<'hung'> => sleep(DEADLINE_MS, 'hung', { ref: false });

/** The promises of every store (src/cache/store.ts). */
export function storeContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`store contract: ${name}`, () => {
    let under: StoreUnderTest;
    before(async () => {
      under = await open();
    });
    after(() => under?.stop());
    const read = (key: string): Promise<StoreRead> => readOnce(under.store, key, DEADLINE_MS);
    const stored = async (key: string, value: Buffer, ttlMs = TTL_MS): Promise<void> =>
      assert.deepEqual(await under.store.write(key, value, ttlMs), { kind: 'stored' });
    const key = (id: string): string => `sc1:contract:{${id}}`;
    /** A test that stalls nodes may have opened their breakers; reads close them again. */
    const atRest = (): Promise<void> => {
      const rest = { breaker: 'closed', connected: true, outstanding: 0, trouble: undefined };
      const names = Array.from({ length: 50 }, (_, index) => key(`rest-${index}`));
      return until('all owners to be at rest', async () => {
        await Promise.all(names.map(read));
        const nodes = under.store.nodes().filter(({ node }) => under.owners.includes(node));
        assert.deepEqual(nodes.map(({ node }) => node).sort(), [...under.owners].sort());
        assert.equal(under.store.trouble(), undefined);
        for (const { breaker, connected, outstanding, trouble } of nodes) {
          assert.deepEqual({ breaker, connected, outstanding, trouble }, rest);
        }
      });
    };

    test('a value is read as it was written: binary, empty, 1 MiB', async () => {
      const values = {
        binary: Buffer.from(Uint8Array.from({ length: 512 }, (_, index) => index % 256)),
        crlf: Buffer.from('$5\r\nhello\r\n\0'),
        empty: Buffer.alloc(0),
        large: randomBytes(1024 * 1024),
      };
      for (const [id, value] of Object.entries(values)) {
        await stored(key(id), value);
        const found = await read(key(id));
        assert.equal(found.kind, 'value', id);
        assert.ok(found.kind === 'value' && found.value.equals(value), `${id} came back changed`);
      }
    });

    test('a name that was never written is absent', async () => {
      assert.deepEqual(await read(key('never-written')), { kind: 'absent' });
    });

    test('a second write overwrites the first and its lifetime', async () => {
      await stored(key('twice'), Buffer.from('first'), 50);
      await stored(key('twice'), Buffer.from('second'));
      await sleep(100);
      assert.deepEqual(await read(key('twice')), { kind: 'value', value: Buffer.from('second') });
    });

    test('a value is absent after its lifetime', async () => {
      await stored(key('short'), Buffer.from('x'), 100);
      await until('the value to expire', async () => (await read(key('short'))).kind === 'absent');
    });

    test('a lifetime may have a fraction of a millisecond', async () => {
      await stored(key('fraction'), Buffer.from('x'), 1.5);
    });

    test('readMany answers in the order of the names, over all nodes and several batches', async () => {
      const names = Array.from({ length: MANY }, (_, index) => key(`many-${index}`));
      const isWritten = (index: number): boolean => index % 3 !== 0;
      const value = (index: number): Buffer => Buffer.from(`value ${index} `.repeat(index % 50));
      // One after another: a store drops writes above its bound, which is not tested here.
      for (const [index, each] of names.entries()) if (isWritten(index)) await stored(each, value(index));
      const owners = new Set(names.map((each) => under.store.locate(each).node));
      assert.deepEqual([...owners].sort(), [...under.owners].sort(), 'the names do not cover all nodes');

      const reads = await under.store.readMany(names, DEADLINE_MS);
      assert.equal(reads.length, MANY);
      for (const [index, found] of reads.entries()) {
        const expected = isWritten(index) ? { kind: 'value', value: value(index) } : { kind: 'absent' };
        assert.deepEqual(found, expected, `${names[index]}`);
      }
    });

    test('readMany of nothing, and of one name twice', async () => {
      assert.deepEqual(await under.store.readMany([], DEADLINE_MS), []);
      await stored(key('double'), Buffer.from('d'));
      const value = { kind: 'value', value: Buffer.from('d') };
      assert.deepEqual(await under.store.readMany([key('double'), key('double')], DEADLINE_MS), [value, value]);
    });

    leaseContract(() => under.store);
    fleetContract(() => under);
    lateLeaseContract(() => under);

    test('a reply at the moment of the deadline is the value or a fault, and is not lost', async () => {
      await atRest();
      const large = randomBytes(1024 * 1024);
      await stored(key('near'), large);
      const reads = await Promise.all([
        under.store.readMany(Array(20).fill(key('near')), 1),
        ...Array.from({ length: 20 }, () => readOnce(under.store, key('near'), 1)),
      ]);
      for (const found of reads.flat()) {
        // A fault without a late reply was not sent: the deadline or the breaker came first.
        const value = found.kind === 'fault' && found.late ? await found.late : found.kind === 'value' && found.value;
        if (value !== false) assert.ok(value?.equals(large), 'the reply is lost');
        else assert.ok(found.kind === 'fault' && ['store-slow', 'node-open'].includes(found.fault), found.kind);
      }
    });

    test('a read without a reply settles by its deadline, and each late reply has the value', async () => {
      await atRest();
      const large = randomBytes(1024 * 1024);
      await stored(key('slow'), large);
      const goOn = await under.stall();
      // Long enough to send all of them: a pipeline that is not sent before the deadline has no late reply.
      const deadlineMs = 200;
      const many = under.store.readMany(Array(10).fill(key('slow')), deadlineMs);
      const single = Array.from({ length: 10 }, () => readOnce(under.store, key('slow'), deadlineMs));
      const reads = await Promise.race([Promise.all([many, ...single]), hung()]).finally(goOn);
      assert.ok(reads !== 'hung', `reads with a deadline of ${deadlineMs} ms wait for the node`);
      for (const found of reads.flat()) {
        assert.ok(found.kind === 'fault' && found.fault === 'store-slow', found.kind);
        assert.ok((await found.late)?.equals(large), 'the late reply is lost');
      }
    });

    test('locate agrees with the server about slots, hash tags and text beyond ASCII', async () => {
      const tags = ['plain', '{tag}rest', 'a{tag}b{other}', 'open{tag', '}{x}', 'ё{кроссовки}', '😀'];
      for (const each of tags) {
        const { slot, node } = under.store.locate(each);
        assert.equal(slot, await under.keySlot?.(each), each);
        assert.ok(node !== undefined && under.owners.includes(node), `${each} lives at ${node}`);
      }
      const { entry, lease } = leaseNames(key('abc'));
      assert.deepEqual(
        under.store.locate(lease),
        under.store.locate(entry),
        'an entry and its lease are not in one place',
      );
    });

    test('nodes returns every owner; at rest each is connected, its breaker is closed, nothing is outstanding and no reason stands', () =>
      atRest());

    test('close may be called twice, and every later call is a fault', async () => {
      const inFlight = readOnce(under.store, key('slow'), DEADLINE_MS);
      await under.store.close();
      await under.store.close();
      assert.ok(['fault', 'value'].includes((await inFlight).kind));
      const down = { kind: 'fault', fault: 'store-down' };
      assert.deepEqual(await read(key('twice')), down);
      assert.deepEqual(await under.store.readMany([key('twice')], DEADLINE_MS), [down]);
      const dropped = { kind: 'dropped', fault: 'store-down' };
      assert.deepEqual(await under.store.write(key('twice'), Buffer.from('x'), TTL_MS), dropped);
      assert.deepEqual(await under.store.seedMany([{ name: 'x', value: Buffer.from('x'), ttlMs: 1 }]), [dropped]);
      assert.deepEqual(await under.store.epochs(DEADLINE_MS), []);
      assert.deepEqual(await under.store.beat('x', TTL_MS, DEADLINE_MS), down);
      await under.store.leave('x', DEADLINE_MS);
      const { leases } = under.store;
      const names = leaseNames(key('twice'));
      assert.deepEqual(await leases.take(names, 'x', TTL_MS, DEADLINE_MS), down);
      assert.deepEqual(await leases.look(names, DEADLINE_MS), down);
      assert.deepEqual(await leases.writeAndRelease(names, 'x', Buffer.from('x'), TTL_MS), dropped);
      await leases.release(names, 'x');
    });
  });
}
