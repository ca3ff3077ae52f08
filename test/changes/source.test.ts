import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangeSource, SourceRead } from '../../src/changes/feed.ts';
import { fromStore, harness, onlyKinds, searchFor } from './harness.ts';

/** A source of these entries, read from the start. */
function sourceOf(given: [id: string, fields: Record<string, string>][]) {
  const entries = given;
  let trimmedAt: string | undefined;
  let fault: SourceRead | undefined;
  const source: ChangeSource = {
    key: 'goods-changes',
    read: async (after) => {
      if (fault !== undefined) return fault;
      const from = after === '' ? 0 : entries.findIndex(([id]) => id === after) + 1;
      const found = entries
        .slice(from, from + 500)
        .map(([id, fields]) => ({ id, fields: new Map(Object.entries(fields)) }));
      const trimmed = trimmedAt !== undefined && trimmedAt === after;
      return { kind: 'entries', last: found.at(-1)?.id ?? after, trimmed, entries: found };
    },
  };
  return {
    source,
    add: (id: string, fields: Record<string, string>) => entries.push([id, fields]),
    trimAt: (place: string): void => {
      trimmedAt = place;
    },
    fail: (next?: SourceRead): void => {
      fault = next;
    },
  };
}

test('entries of a source are applied in every process, whichever copies them, each once', async (t) => {
  const { time, stream, start } = harness(t);
  const { source, add } = sourceOf([]);
  const [one, other] = [start({}, { source }), start({}, { source })];
  await time.pass(500);
  for (let at = 1; at <= 1200; at += 1) add(`${at}-1`, { id: `${at}`, text: 'Кроссовки Nike' });
  const entry = one.page('1100');
  await time.pass(3000);
  for (const { changes, judge } of [one, other]) {
    assert.equal(changes.status().changes, 1200);
    assert.equal(judge(fromStore(entry)), 'outdated');
  }
  assert.equal(stream.held().at(-1)?.source, '1200-1');
  const third = start({}, { source });
  await time.pass(1000);
  assert.equal(third.changes.status().changes, 1200);
});

test('an entry of a source is a change in JSON, or fields of the names of a change', async (t) => {
  const { time, start } = harness(t);
  const { source, add } = sourceOf([]);
  const { page, judge } = start({}, { source });
  await time.pass(500);
  const pages = ['1', '2', '3', '4'].map((id) => page(id));
  const filtered = searchFor(['q', 'кроссовки nike'], ['filter', 'price:..500']);
  const empty = page();
  add('1-1', { change: '{"id":"1","op":"delete"}' });
  add('1-2', { anything: '{"id":2}' });
  add('1-3', { id: '3', op: 'delete' });
  const attributes = '{"price":900}';
  add('1-4', { id: '4', text: 'Кроссовки Nike', attributes, was: '{"attributes":{"price":400}}' });
  await time.pass(1000);
  assert.deepEqual(
    pages.map((entry) => judge(entry, searchFor(['q', 'другое']))),
    ['deleted', 'outdated', 'deleted', 'outdated'],
  );
  assert.equal(judge(empty, filtered), 'outdated', 'the document has left the range');
});

test('refused entries of a source are counted and named, and the others are taken', async (t) => {
  const { time, start } = harness(t);
  const { source, add } = sourceOf([]);
  const { changes, events } = start({}, { source });
  await time.pass(500);
  add('1-1', { change: 'no JSON' });
  add('1-2', { id: '2', op: 'replace' });
  add('1-3', { id: '3' });
  add('1-4', { id: '4', was: 'x' });
  await time.pass(500);
  const refused = events.filter((event) => event.kind === 'changes-refused');
  assert.equal(
    refused.reduce((sum, { count }) => sum + count, 0),
    3,
  );
  assert.match(refused[0]?.detail ?? '', /JSON/);
  assert.equal(changes.status().changes, 1);
  add('1-5', { change: '[]' });
  await time.pass(2000);
  const all = events.filter((event) => event.kind === 'changes-refused');
  assert.equal(
    all.reduce((sum, { count }) => sum + count, 0),
    4,
    'each is counted once',
  );
});

test('lost entries of a source are a gap in every process, once for each that saw it', async (t) => {
  const { time, start } = harness(t);
  const { source, add, trimAt } = sourceOf([['1-1', { id: '1' }]]);
  const one = start({}, { source });
  const other = start();
  await time.pass(500);
  const entry = one.page('5');
  trimAt('1-1');
  add('9-1', { id: '9' });
  await time.pass(1000);
  for (const { judge, events } of [one, other]) {
    assert.equal(judge(fromStore(entry)), 'outdated');
    assert.deepEqual(onlyKinds(events), ['changes-gap']);
  }
  assert.equal(one.judge(one.page('5')), 'whole');
});

test('a source that fails is told once and shown with its words, and goes on where it was', async (t) => {
  const { time, start } = harness(t);
  const { source, add, fail } = sourceOf([['1-1', { id: '1' }]]);
  const { changes, events } = start({}, { source });
  await time.pass(500);
  fail({ kind: 'fault', fault: 'refused', detail: 'WRONGTYPE Operation against a key' });
  add('2-1', { id: '2' });
  await time.pass(500);
  assert.match(changes.status().sourceFault ?? '', /WRONGTYPE/);
  fail();
  await time.pass(500);
  assert.deepEqual([changes.status().sourceFault, changes.status().changes], [undefined, 2]);
  const told = { domain: 'goods', key: 'goods-changes' };
  assert.deepEqual(
    events.filter(({ kind }) => kind.startsWith('source')),
    [
      { kind: 'source-away', ...told, fault: 'WRONGTYPE Operation against a key' },
      { kind: 'source-back', ...told },
    ],
  );
});

test('entries that the stream does not take now are copied when it does', async (t) => {
  const { time, stream, start } = harness(t);
  const { source, add } = sourceOf([]);
  const { changes } = start({}, { source });
  await time.pass(500);
  stream.fail('store-down');
  add('1-1', { id: '1' });
  await time.pass(2000);
  assert.equal(changes.status().changes, 0);
  stream.fail();
  await time.pass(1000);
  assert.equal(changes.status().changes, 1);
});

for (const [what, isTaken] of [
  ['that the stream does not take', false],
  ['that another process has copied', true],
] as const) {
  test(`a read of several batches stops at one ${what}: no entry is lost, and none is doubled`, async (t) => {
    const { time, stream, start } = harness(t);
    const { source, add } = sourceOf([]);
    let sent = 0;
    const append: typeof stream.append = async (domain, batch, deadlineMs) => {
      if (batch.source === undefined) return stream.append(domain, batch, deadlineMs);
      sent += 1;
      if (sent !== 2) return stream.append(domain, batch, deadlineMs);
      if (!isTaken) return { kind: 'fault', fault: 'store-down' };
      await stream.append(domain, batch, deadlineMs);
      return stream.append(domain, batch, deadlineMs);
    };
    const { changes } = start({}, { source, stream: { ...stream, append } });
    await time.pass(500);
    const words = Array.from({ length: 200 }, (_, at) => `слово${at}`).join(' ');
    for (let at = 1; at <= 300; at += 1) add(`${at}-1`, { id: `${at}`, text: `${words} номер${at}` });
    const places = () => stream.held().flatMap(({ source }) => (source === '' ? [] : [source]));
    await time.until('the first read', () => sent >= 2);
    assert.equal(places().includes('300-1'), false, 'more than one batch is left');
    await time.pass(3000);
    assert.deepEqual([changes.status().changes, places().at(-1)], [300, '300-1']);
    assert.equal(new Set(places()).size, places().length);
  });
}

test('after close nothing is read or copied', async (t) => {
  const { time, stream, start } = harness(t);
  const { source, add } = sourceOf([]);
  const { changes } = start({}, { source });
  await time.pass(500);
  changes.close();
  add('1-1', { id: '1' });
  const before = [stream.reads(), stream.appends()];
  await time.pass(5000);
  assert.deepEqual([stream.reads(), stream.appends()], before);
});
