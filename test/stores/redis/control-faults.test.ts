import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RedisStack } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import type { StoreEvent } from '../../../src/cache/store.ts';
import type { RedisStore } from '../../../src/stores/redis/store.ts';
import { until } from '../../until.ts';
import { connectedFor, LONG_MS, onOneServer, standaloneOf, whileFull, whilePaused, whileReplica } from './harness.ts';

const SHORT_MS = 200;
const TTL_MS = 60_000;
const REFUSED = { kind: 'fault', fault: 'refused' };
const DOCUMENT = 'sc1:goods:{control:goods}';
const REPORTS = `${DOCUMENT}:reports`;

const documentOf = (tag: string) => ({ tag, value: Buffer.from(`value of ${tag}`) });

describe('the control document on a faulty server', () => {
  let stack: RedisStack;
  let server: RedisNode;
  let store: RedisStore;
  let events: readonly StoreEvent[];
  onOneServer({}, async (given) => {
    ({ stack, server, store, events } = given);
    assert.deepEqual(await store.control.swap('goods', undefined, documentOf('1-abc'), LONG_MS), {
      kind: 'swapped',
    });
  });

  const read = (known?: string) => store.control.read('goods', known, LONG_MS);
  const breakers = (): readonly StoreEvent[] => events.filter(({ kind }) => kind === 'breaker');
  const ids = async (): Promise<readonly string[]> => {
    const found = await store.control.reports('goods', LONG_MS);
    assert.ok(found.kind === 'reports', found.kind);
    return found.reports.map(({ id }) => id).sort();
  };
  const everything = (deadlineMs: number) =>
    Promise.all([
      store.control.read('goods', undefined, deadlineMs),
      store.control.swap('goods', '1-abc', documentOf('2-def'), deadlineMs),
      store.control.renew('goods', deadlineMs),
      store.control.reports('goods', deadlineMs),
      store.control.report('goods', 'a', Buffer.from('x'), TTL_MS, deadlineMs),
    ]);
  const faultsInTime = async (): Promise<void> => {
    for (const each of await everything(SHORT_MS))
      assert.ok(each === false || (each !== true && each.kind === 'fault'), JSON.stringify(each));
  };
  const nothingIsWritten = async (): Promise<void> => {
    for (let round = 0; round < 10; round += 1) {
      const [found, swapped, renewed, , reported] = await everything(LONG_MS);
      assert.deepEqual(found, { kind: 'value', ...documentOf('1-abc'), renewals: 0 });
      assert.deepEqual([swapped, renewed, reported], [REFUSED, REFUSED, false]);
    }
    assert.deepEqual(await read('1-abc'), { kind: 'unchanged', renewals: 0 });
    assert.deepEqual(breakers(), []);
  };

  test('killed: every call is a fault within its deadline; after a restart without data the document is absent', async () => {
    await server.kill();
    await faultsInTime();
    await server.restart();
    await until('the document to be absent', async () => (await read()).kind === 'absent');
    assert.deepEqual(await store.control.swap('goods', '1-abc', documentOf('2-def'), LONG_MS), {
      kind: 'conflict',
    });
  });

  test('paused: every call is a fault within its deadline, and afterwards the document is the old one or the new one, whole', async () => {
    await whilePaused(server, async () => {
      await faultsInTime();
      await faultsInTime();
    });
    await until('an answer', async () => (await read()).kind === 'value');
    const found = await read();
    assert.ok(found.kind === 'value' && ['1-abc', '2-def'].includes(found.tag));
    assert.equal(found.value.toString(), `value of ${found.tag}`);
  });

  for (const [what, during] of [
    ['out of memory', whileFull],
    ['a replica', whileReplica],
  ] as const) {
    test(`${what}: writes are refused, the document is read, and no breaker opens`, () =>
      during(server, nothingIsWritten));
  }

  test('a planted value under our name is never absent, and is overwritten only by a swap that names its tag', async () => {
    const others: readonly (readonly [readonly string[], tag: string, value: string])[] = [
      [['LPUSH', DOCUMENT, 'x'], 'unreadable', ''],
      [['SET', DOCUMENT, 'x'], 'unreadable', ''],
      [['HSET', DOCUMENT, 'tag', 't'.repeat(300), 'value', 'x'], 'unreadable', ''],
      [['HSET', DOCUMENT, 'tag', '1-abc'], '1-abc', ''],
      ...['many', 'nan', 'inf', '-1', '007', '9223372036854775807'].map(
        (renewals) => [['HSET', DOCUMENT, 'tag', '1-abc', 'value', 'x', 'renewals', renewals], '1-abc', 'x'] as const,
      ),
      [['HSET', DOCUMENT, 'tag', '\u00ff\r\n', 'value', 'x'], Buffer.from('\u00ff\r\n').toString('latin1'), 'x'],
    ];
    for (const [other, tag, value] of others) {
      const words = other.join(' ').slice(0, 100);
      await server.command('DEL', DOCUMENT);
      await server.command(...other);
      assert.deepEqual(await read(), { kind: 'value', tag, value: Buffer.from(value), renewals: 0 }, words);
      const swapped = await store.control.swap('goods', undefined, documentOf('2-def'), LONG_MS);
      assert.notEqual(swapped.kind, 'swapped', words);
      assert.deepEqual(
        await store.control.swap('goods', tag, documentOf('2-def'), LONG_MS),
        { kind: 'swapped' },
        words,
      );
      const found = await read();
      assert.ok(found.kind === 'value' && found.tag === '2-def' && String(found.value) === 'value of 2-def', words);
      assert.deepEqual(await store.control.renew('goods', LONG_MS), { kind: 'renewed', renewals: 1 }, words);
    }
    assert.deepEqual(breakers(), []);
  });

  test('a value larger than any document is read as an empty one', async () => {
    await server.command('DEL', DOCUMENT);
    await server.command('HSET', DOCUMENT, 'tag', '1-abc', 'value', 'x');
    await server.command(
      'EVAL',
      "redis.call('HSET', KEYS[1], 'value', string.rep('x', 9000000)) return 1",
      '1',
      DOCUMENT,
    );
    assert.deepEqual(await read(), { kind: 'value', tag: '1-abc', value: Buffer.alloc(0), renewals: 0 });
  });

  test('planted reports: a large one is not read, too many are not read at all, and our next report starts anew', async () => {
    await store.control.report('goods', 'ours', Buffer.from('x'), TTL_MS, LONG_MS);
    await server.command('HSET', REPORTS, 'large', 'x'.repeat(64 * 1024 + 1), 'n'.repeat(300), 'x');
    assert.deepEqual(await ids(), ['ours']);
    const many = "for i = 1, 300 do redis.call('HSET', KEYS[1], 'junk' .. i, 'x') end return 1";
    await server.command('EVAL', many, '1', REPORTS);
    assert.deepEqual(await ids(), []);
    await store.control.report('goods', 'ours', Buffer.from('x'), TTL_MS, LONG_MS);
    assert.deepEqual(await ids(), ['ours']);
  });

  test('after any planted value in place of the reports, our reports start anew and are the newest', async () => {
    const order = `${REPORTS}:order`;
    const many =
      "for i = 1, 9000 do redis.call('HSET', KEYS[1], i, 'x') redis.call('ZADD', KEYS[2], i, i) end return 1";
    const full =
      "for i = 1, 256 do redis.call('HSET', KEYS[1], i, 'x') redis.call('ZADD', KEYS[2], 'inf', i) end return 1";
    for (const other of [
      ['SET', REPORTS, 'x'],
      ['SET', order, 'x'],
      ['EVAL', many, '2', REPORTS, order],
      ['EVAL', full, '2', REPORTS, order],
    ]) {
      const words = other.join(' ').slice(0, 100);
      await server.command('DEL', REPORTS, order);
      await server.command(...other);
      for (const id of ['0', 'ours']) {
        assert.ok(await store.control.report('goods', id, Buffer.from('x'), TTL_MS, LONG_MS), words);
      }
      assert.deepEqual(await ids(), ['0', 'ours'], words);
      assert.equal(await server.command('ZSCORE', order, 'ours'), '2', words);
    }
  });

  test('a server that evicts loses all of the document or nothing', async () => {
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random', 'maxmemory', '4mb');
    const seen = new Set<string>();
    try {
      for (let round = 0; round < 600 && seen.size < 2; round += 1) {
        await store.control.renew('goods', LONG_MS);
        await store.control.swap('goods', undefined, documentOf('1-abc'), LONG_MS);
        for (let writes = 0; writes < 20; writes += 1) {
          await store.write(`sc1:goods:{${round}-${writes}}`, Buffer.alloc(20_000), TTL_MS);
        }
        const found = await read();
        seen.add(found.kind);
        if (found.kind === 'value') assert.deepEqual([found.tag, String(found.value)], ['1-abc', 'value of 1-abc']);
        else assert.equal(found.kind, 'absent');
      }
    } finally {
      await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru', 'maxmemory', '0');
    }
    assert.deepEqual([...seen].sort(), ['absent', 'value']);
  });

  test('above the maximum number of reports the latest are kept', async () => {
    const all = Array.from({ length: 300 }, (_, index) => `process-${String(index).padStart(3, '0')}`);
    for (const id of all) assert.ok(await store.control.report('goods', id, Buffer.from(id), TTL_MS, LONG_MS));
    assert.deepEqual(await ids(), all.slice(44));
    // A process that reports again has the latest report.
    for (const id of ['process-044', 'new']) {
      await store.control.report('goods', id, Buffer.from('again'), TTL_MS, LONG_MS);
    }
    assert.deepEqual(await ids(), ['new', 'process-044', ...all.slice(46)]);
    const large = await store.control.report('goods', 'large', Buffer.alloc(64 * 1024 + 1), TTL_MS, LONG_MS);
    assert.equal(large, false);
    for (const key of [REPORTS, `${REPORTS}:order`]) assert.ok(Number(await server.command('PTTL', key)) > 0, key);
  });

  for (const lost of [REPORTS, `${REPORTS}:order`]) {
    test(`when a server evicts ${lost} alone, reports start anew and stay bounded`, async () => {
      for (const id of ['a', 'b', 'c']) await store.control.report('goods', id, Buffer.from(id), TTL_MS, LONG_MS);
      await server.command('DEL', lost);
      assert.ok(await store.control.report('goods', 'd', Buffer.from('d'), TTL_MS, LONG_MS));
      assert.deepEqual(await ids(), ['d']);
      assert.equal(await server.command('ZCARD', `${REPORTS}:order`), 1);
    });
  }

  test('when two processes change it 200 times at once, exactly one succeeds each time', async (t) => {
    const { store: second } = await connectedFor(t, standaloneOf(stack));
    let expected = '1-abc';
    const won = [0, 0];
    for (let round = 2; round <= 201; round += 1) {
      const swaps = [store, second].map(({ control }, index) =>
        control.swap('goods', expected, documentOf(`${round}-w${index}`), LONG_MS),
      );
      const kinds = (await Promise.all(swaps)).map(({ kind }) => kind);
      assert.deepEqual([...kinds].sort(), ['conflict', 'swapped'], `round ${round}`);
      const winner = kinds.indexOf('swapped');
      won[winner] = (won[winner] ?? 0) + 1;
      expected = `${round}-w${winner}`;
      const found = await (winner === 0 ? second : store).control.read('goods', undefined, LONG_MS);
      assert.ok(found.kind === 'value' && found.tag === expected && String(found.value) === `value of ${expected}`);
    }
  });
});
