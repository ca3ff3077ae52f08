import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { MAX_BATCH_BYTES } from '../../../src/changes/feed.ts';
import type { RedisStore } from '../../../src/stores/redis/store.ts';
import { LONG_MS, onOneServer, whileFull } from './harness.ts';

const STREAM = 'sc1:goods:{control:goods}:changes';
const APPENDED = { kind: 'appended' };
const BATCH = Buffer.from('a batch');

describe('the stream of changes on a server where others write', () => {
  let server: RedisNode;
  let store: RedisStore;
  onOneServer({}, async (given) => {
    ({ server, store } = given);
    await server.command('DEL', STREAM);
  });

  const append = (bytes = BATCH) => store.changes.append('goods', { bytes, afterMs: 0 }, LONG_MS);
  const read = async (after?: string) => {
    const found = await store.changes.read('goods', after, LONG_MS);
    assert.ok(found.kind === 'batches', JSON.stringify(found));
    return found;
  };

  for (const [what, ...command] of [
    ['a text', 'SET', STREAM, 'x'],
    ['a list', 'RPUSH', STREAM, 'x'],
    ['an entry without a number', 'XADD', STREAM, '*', 'x', 'y'],
    ['a number that is none', 'XADD', STREAM, '*', 'n', 'x', 't', '100', 'c', 'y'],
    ['a number beyond all', 'XADD', STREAM, '*', 'n', '1e300', 't', '100', 'c', 'y'],
    ['a sum that never ends', 'XADD', STREAM, '*', 'n', '7', 't', '-1e18', 'c', 'y'],
  ] as const) {
    test(`${what} in the place of the stream is no stream, and the next batch begins one`, async () => {
      if (command[0] !== 'XADD') await server.command('DEL', STREAM);
      else assert.deepEqual(await append(), APPENDED);
      await server.command(...command);
      const absent = await read();
      assert.deepEqual([absent.last, absent.batches], [undefined, []]);
      assert.deepEqual(await append(), APPENDED);
      const { last, batches } = await read();
      assert.equal(last?.number, 1);
      assert.deepEqual(batches, [{ id: last?.id, number: 1, source: '', bytes: BATCH }]);
    });
  }

  test('after an id of the future ids go on from it; after the last of all the stream begins anew', async () => {
    const source = { expected: '', next: '7-0' };
    assert.deepEqual(await store.changes.append('goods', { bytes: BATCH, afterMs: 0, source }, LONG_MS), APPENDED);
    const future = Date.now() + 3_600_000;
    await server.command('XADD', STREAM, `${future}-0`, 'n', '2', 't', '200', 's', '7-0', 'c', 'y');
    assert.deepEqual(await append(), APPENDED);
    const { last, batches } = await read();
    assert.deepEqual([last?.id, last?.number, last?.source, batches.length], [`${future}-1`, 3, '7-0', 3]);
    await server.command('XADD', STREAM, '18446744073709551615-18446744073709551615', 'n', '4', 't', '300', 'c', 'y');
    assert.deepEqual(await append(), APPENDED);
    assert.deepEqual([(await read()).last?.number, (await read()).batches.length], [1, 1]);
  });

  test('a batch that is too large is refused; one that another wrote is no batch', async () => {
    assert.deepEqual(await append(), APPENDED);
    const large = Buffer.alloc(MAX_BATCH_BYTES + 1, 'x');
    assert.equal((await append(large)).kind, 'fault');
    await server.command('XADD', STREAM, '*', 'n', '2', 't', '300000', 'c', large.toString());
    const { batches } = await read();
    assert.deepEqual(
      batches.map(({ number, bytes }) => [number, bytes.length < 12]),
      [
        [1, true],
        [2, true],
      ],
    );
  });

  test('large batches come in several reads, each once', async () => {
    const sizes = Array.from({ length: 12 }, (_, at) => MAX_BATCH_BYTES - at);
    for (const size of sizes) assert.deepEqual(await append(Buffer.alloc(size)), APPENDED);
    const found: number[] = [];
    let reads = 0;
    for (let after: string | undefined; ; reads += 1) {
      const { batches, last } = await read(after);
      found.push(...batches.map(({ bytes }) => bytes.length));
      after = batches.at(-1)?.id;
      if (after === last?.id) break;
    }
    assert.deepEqual(found, sizes);
    assert.ok(reads > 1, `${reads}`);
  });

  test('a full server takes no batch and loses none', async () => {
    assert.deepEqual(await append(), APPENDED);
    await whileFull(server, async () => {
      assert.equal((await append()).kind, 'fault');
      assert.equal((await read()).batches.length, 1);
    });
    assert.deepEqual(await append(), APPENDED);
    assert.equal((await read()).last?.number, 2);
  });
});
