import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RedisStack, startStandalone } from '../../../loadtest/stack/redis.ts';
import { MAX_BATCH_BYTES } from '../../../src/changes/feed.ts';
import type { RedisStore } from '../../../src/stores/redis/store.ts';
import { batchOf, orderOf, readBatches } from '../../contract/change-stream.ts';
import { connected, LONG_MS, openStore, standaloneOf } from './harness.ts';

let stack: RedisStack | undefined;
let store: RedisStore;
before(async () => {
  stack = await startStandalone({ flavour: 'redis' });
  store = openStore(standaloneOf(stack)).store;
  await connected(store, 1);
});
after(async () => {
  await store?.close();
  await stack?.stop();
});

const command = (...words: (string | number | Buffer)[]) =>
  stack?.nodes[0]?.command(...(words as [string, ...string[]]));
const nameOf = (domain: string): string => `sc1:${domain}:{control:${domain}}:changes`;
const append = (domain: string, ...batch: Parameters<typeof batchOf>) =>
  store.changes.append(domain, batchOf(...batch), LONG_MS);

test('the oldest batches are dropped beyond the maximum of bytes, never the newest', async () => {
  const appendFull = async (count: number): Promise<void> => {
    for (let at = 1; at <= count; at += 1) await append('cap', Buffer.alloc(MAX_BATCH_BYTES, at));
  };
  await appendFull(8);
  // The ninth entry stands for those of a long time: the total is 50 bytes less than the maximum without a batch.
  const total = 32 * 2 ** 20 - MAX_BATCH_BYTES - 50;
  await command('XADD', nameOf('cap'), '*', 'n', 9, 't', total, 's', '', 'c', '');
  await appendFull(6);
  const numbers: number[] = [];
  for (let place: string | undefined; ; ) {
    const { batches } = await readBatches(store.changes, 'cap', place);
    if (batches.length === 0) break;
    numbers.push(...batches.map(({ number }) => number));
    place = batches.at(-1)?.id;
  }
  // An entry counts for 100 bytes more than its batch: the fifth is dropped by these alone.
  assert.deepEqual(numbers, [6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
});

test('a batch above the maximum size is refused, and changes nothing', async () => {
  const refused = await append('large', Buffer.alloc(MAX_BATCH_BYTES + 1));
  assert.deepEqual(refused, { kind: 'fault', fault: 'refused' });
  assert.equal((await readBatches(store.changes, 'large')).last, undefined);
});

test('a key of another type counts as an absent stream, and the next batch begins it', async () => {
  await command('SET', nameOf('typed'), 'text');
  assert.equal((await readBatches(store.changes, 'typed')).last, undefined);
  assert.deepEqual(await append('typed', 'a'), { kind: 'appended' });
  assert.equal((await readBatches(store.changes, 'typed')).last?.number, 1);
});

for (const [what, fields] of [
  ['without a number', ['x', 'y']],
  ['with a text as its number', ['n', 'seven', 't', '1']],
  ['with an infinite number', ['n', 'inf', 't', '1']],
  ['with a number that is none', ['n', 'nan', 't', '1']],
  ['with a fraction as its number', ['n', '7.5', 't', '1']],
  ['with a number beyond the safe ones', ['n', '9007199254740992', 't', '1']],
] as const) {
  test(`a planted entry ${what} ends no feed: the stream counts as absent, and is begun anew`, async () => {
    const domain = `planted ${what.replaceAll(' ', '-')}`;
    await append(domain, 'a');
    await command('XADD', nameOf(domain), '*', ...fields);
    const { last, batches } = await readBatches(store.changes, domain);
    assert.deepEqual([last, batches], [undefined, []]);
    assert.deepEqual(await append(domain, 'b'), { kind: 'appended' });
    const again = await readBatches(store.changes, domain);
    assert.deepEqual(
      again.batches.map(({ number, bytes }) => [number, `${bytes}`]),
      [[1, 'b']],
    );
  });
}

test('a planted total and a planted id of the far future keep no later batch out', async () => {
  await command('XADD', nameOf('total'), '*', 'n', '4', 't', 'inf', 's', '', 'c', '');
  for (const bytes of ['a', 'b']) assert.deepEqual(await append('total', bytes), { kind: 'appended' });
  assert.equal((await readBatches(store.changes, 'total')).last?.number, 2);
  await command('XADD', nameOf('future'), '18446744073709551615-18446744073709551615', 'n', '4', 't', '1');
  for (const bytes of ['a', 'b']) assert.deepEqual(await append('future', bytes), { kind: 'appended' });
  const { last, nowMs } = await readBatches(store.changes, 'future');
  assert.ok(last !== undefined && last.number === 2 && orderOf(last.id) <= nowMs * 1024 + 1023);
});

test('on a server whose clock is behind, ids go on after the time that processes have read', async () => {
  const { nowMs } = await readBatches(store.changes, 'behind');
  const afterMs = nowMs + 5000;
  await append('behind', 'a', undefined, afterMs);
  await append('behind', 'b', undefined, afterMs + 80);
  // A process that has read the last batch has read its time.
  for (let count = 0; count < 5; count += 1) await append('behind', 'c', undefined, afterMs + 1000);
  const order = (await readBatches(store.changes, 'behind')).batches.map(({ id }) => orderOf(id));
  // Other processes may have read a time a little later than the one that appends.
  assert.ok((order[0] ?? 0) >= (afterMs + 1000) * 1024 && (order[1] ?? 0) > (order[0] ?? 0));
  assert.ok((order.at(-1) ?? 0) < (afterMs + 1001) * 1024, 'the time of the stream runs ahead with each batch');
});

test('a server that is away is a fault within the deadline', async (t) => {
  const away = openStore(standaloneOf({ nodes: [{ host: '127.0.0.1', port: 1 }] })).store;
  t.after(away.close);
  assert.equal((await away.changes.append('goods', batchOf('a'), 50)).kind, 'fault');
  assert.equal((await away.changes.read('goods', undefined, 50)).kind, 'fault');
  assert.equal((await away.sourceOf('feed').read('', 50)).kind, 'fault');
});

async function readSource(key: string, place: string) {
  const found = await store.sourceOf(key).read(place, LONG_MS);
  assert.ok(found.kind === 'entries', JSON.stringify(found));
  const { last, trimmed, entries } = found;
  return { last, trimmed, entries: entries.map(({ id, fields }) => [id, Object.fromEntries(fields)]) };
}

test('a source is read from now on, then after the last entry, with its fields', async () => {
  assert.deepEqual(await readSource('feed', ''), { last: '0-0', trimmed: false, entries: [] });
  assert.deepEqual(await readSource('feed', '0-0'), { last: '0-0', trimmed: false, entries: [] });
  await command('XADD', 'feed', '5-1', 'id', '1', 'op', 'delete');
  await command('XADD', 'feed', '5-2', 'change', '{"id":"2"}');
  assert.deepEqual(await readSource('feed', ''), { last: '5-2', trimmed: false, entries: [] });
  const first = ['5-1', { id: '1', op: 'delete' }];
  const second = ['5-2', { change: '{"id":"2"}' }];
  assert.deepEqual(await readSource('feed', '0-0'), { last: '5-2', trimmed: false, entries: [first, second] });
  assert.deepEqual(await readSource('feed', '5-1'), { last: '5-2', trimmed: false, entries: [second] });
  assert.deepEqual(await readSource('feed', '5-2'), { last: '5-2', trimmed: false, entries: [] });
});

test('a long source comes in parts', async () => {
  await command('EVAL', `for i = 1, 1200 do redis.call('XADD', KEYS[1], i .. '-1', 'id', i) end`, 1, 'long');
  const sizes: number[] = [];
  let place = '0-0';
  for (;;) {
    const { entries, last } = await readSource('long', place);
    if (entries.length === 0) break;
    sizes.push(entries.length);
    place = last;
  }
  assert.deepEqual([sizes, place], [[500, 500, 200], '1200-1']);
});

test('large entries of a source come a few at a time, all of them and in order; a huge one is refused by its reader', async () => {
  const textOf = (at: number) => 'x'.repeat(at === 121 ? 3_000_000 : 1_000_000);
  for (let at = 1; at <= 121; at += 1) await command('XADD', 'heavy', `${at}-1`, 'id', at, 'text', textOf(at));
  await command('XADD', 'heavy', '122-1', 'id', '122');
  const read: (readonly [string, string])[] = [];
  for (let place = '0-0'; place !== '122-1'; ) {
    const found = await store.sourceOf('heavy').read(place, LONG_MS);
    assert.ok(found.kind === 'entries' && found.entries.length > 0 && found.entries.length <= 3, found.kind);
    read.push(
      ...found.entries.map(({ id, fields }) => [id, fields.get('id') ?? String(fields.get('change'))] as const),
    );
    place = found.last;
  }
  const ids = Array.from({ length: 122 }, (_, at) => `${at + 1}`);
  const expected = ids.map((id) => [`${id}-1`, id === '121' ? 'longer than 2097152 bytes' : id]);
  assert.deepEqual(read, expected);
  await command('DEL', 'heavy');
});

test('a source that was trimmed, deleted or filled anew says so, and goes on', async () => {
  for (let at = 1; at <= 5; at += 1) await command('XADD', 'capped', 'MAXLEN', 3, `${at}-1`, 'id', at);
  const { trimmed, entries } = await readSource('capped', '1-1');
  assert.deepEqual([trimmed, entries.length], [true, 3]);
  assert.equal((await readSource('capped', '3-1')).trimmed, false);
  await command('DEL', 'capped');
  const gone = await readSource('capped', '5-1');
  assert.deepEqual(gone, { last: '0-0', trimmed: true, entries: [] });
  assert.equal((await readSource('capped', gone.last)).trimmed, false);
  await command('XADD', 'capped', '2-1', 'id', '9');
  assert.deepEqual(await readSource('capped', '5-1'), { last: '2-1', trimmed: true, entries: [] });
  assert.equal((await readSource('capped', gone.last)).entries.length, 1);
});

test('a source of another type is refused with the words of the server', async () => {
  await command('SET', 'text', 'x');
  for (const place of ['', '5-1']) {
    const found = await store.sourceOf('text').read(place, LONG_MS);
    assert.ok(found.kind === 'fault' && found.fault === 'refused');
    assert.match(found.detail ?? '', /WRONGTYPE/);
  }
});
