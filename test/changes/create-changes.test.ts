import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '../../src/cache/entry.ts';
import type { EntryRules } from '../../src/cache/invalidation.ts';
import { OperationError } from '../../src/control/operation-error.ts';
import { entryOf } from '../fakes/entry.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { ENTERING, fromStore, harness, SEARCH, searchFor } from './harness.ts';

for (const [onChange, whenChanged] of [
  ['stale', 'outdated'],
  ['miss', 'changed'],
] as const) {
  test(`with onChange: ${onChange} a page with a change is ${whenChanged}, with a deleted document never served`, async (t) => {
    const { time, start } = harness(t);
    const { page, judge, publish, pageChanges } = start({ onChange });
    await time.pass(500);
    const [changed, entered, deleted, other] = [page('1', '2'), page('3'), page('4'), page('5')];
    const sofas = searchFor(['q', 'диван']);
    await publish({ id: '2' });
    assert.deepEqual([judge(changed), judge(entered), judge(other, sofas)], [whenChanged, 'whole', 'whole']);
    await publish(ENTERING, { id: '4', op: 'delete' });
    assert.deepEqual([judge(entered), judge(deleted)], [whenChanged, 'deleted']);
    assert.equal(judge(other, sofas), 'whole');
    assert.deepEqual(pageChanges(), ['changed', 'entered', 'deleted']);
    assert.equal(judge(page('2', '3')), 'whole', 'a page that was computed after the changes');
  });
}

test('an empty page is judged by the words of its search', async (t) => {
  const { time, start } = harness(t);
  const { page, judge, publish } = start();
  await time.pass(500);
  const empty = page();
  await publish({ id: '1', text: 'кастрюля' });
  assert.equal(judge(empty), 'whole');
  await publish(ENTERING);
  assert.equal(judge(empty), 'outdated');
});

test('a stale page of which a document is deleted later is denied', async (t) => {
  const { time, start } = harness(t);
  const { page, judge, publish, pageChanges } = start();
  await time.pass(500);
  const entry = page('1', '2');
  await publish({ id: '1' });
  assert.equal(judge(entry), 'outdated');
  await publish({ id: '2' }, ENTERING);
  assert.equal(judge(entry), 'outdated');
  await publish({ id: '2', op: 'delete' });
  assert.equal(judge(entry), 'deleted');
  await publish({ id: '2' });
  assert.equal(judge(entry), 'deleted', 'the page is older than the deletion');
  assert.deepEqual(pageChanges(), ['changed', 'deleted']);
});

test('a hot page is judged once for each change, however often it is asked for', async (t) => {
  const { time, start } = harness(t);
  const { page, rules, publish } = start();
  await time.pass(500);
  let read = 0;
  const { fingerprints, ...entry } = page('1', '2');
  const counted: Entry = {
    ...entry,
    get fingerprints() {
      read += 1;
      return fingerprints;
    },
  };
  const ask = (): number => {
    read = 0;
    for (let at = 0; at < 1000; at += 1) rules.judge(counted, SEARCH);
    return read;
  };
  assert.equal(ask(), 0, 'nothing has changed');
  await publish({ id: '9' });
  assert.equal(ask(), 1);
  await publish({ id: '9' }, { id: '10' });
  assert.equal(ask(), 1);
  await publish({ id: '1', op: 'delete' });
  assert.equal(ask(), 1);
  await publish({ id: '9' });
  assert.equal(ask(), 0, 'a denied page stays denied');
});

test('where only the key of a page is known, its documents are judged, and its words when they are known', async (t) => {
  const { time, start } = harness(t);
  const { page, rules, publish } = start();
  await time.pass(500);
  const name = { storeName: 'x', bucket: 1 };
  const [entered, deleted] = [page('1'), page('2')];
  await publish(ENTERING, { id: '2', op: 'delete' });
  assert.deepEqual([rules.judge(entered, name), rules.judge(deleted, name)], ['whole', 'deleted']);
  assert.equal(rules.judge(entered, SEARCH), 'outdated');
  assert.equal(rules.judge(entered, name), 'outdated');
});

test('rules of operators are asked first, and their refusal stands', async (t) => {
  const { time, start } = harness(t);
  const { changes, page, publish } = start();
  await time.pass(500);
  const entry = page('1');
  const own: { -readonly [Name in keyof EntryRules]: EntryRules[Name] } = { ...unflushed, generation: () => 5 };
  const rules = changes.rules(own);
  assert.equal(rules.generation(), 5);
  own.judge = () => 'flushed';
  await publish({ id: '1', op: 'delete' });
  assert.equal(rules.judge(entry, SEARCH), 'flushed');
  own.judge = () => 'outdated';
  assert.equal(rules.judge(page('3'), SEARCH), 'outdated');
  assert.equal(rules.judge(entry, SEARCH), 'deleted');
  assert.equal(rules.hides(), undefined);
  const hides = (id: string): boolean => id === '7';
  own.hides = () => hides;
  assert.equal(rules.hides(), hides);
});

test('a page without a place is stale, one with a planted place too', async (t) => {
  const { time, start } = harness(t);
  const { judge, publish } = start();
  await time.pass(500);
  await publish({ id: '9' });
  assert.equal(judge(entryOf(time)), 'outdated');
  const tomorrow = (time.wallMs() + 86_400_000) * 1024;
  for (const position of [Number.NaN, Number.NEGATIVE_INFINITY, -1, 0, tomorrow, Number.POSITIVE_INFINITY]) {
    const feed = { position, judged: Number.NaN, change: undefined, interest: undefined };
    assert.equal(judge(entryOf(time, { feed })), 'outdated', String(position));
  }
});

test('a page from the store is judged by its place, in a process that has another count of changes', async (t) => {
  const { time, start } = harness(t);
  const one = start();
  await time.pass(500);
  await one.publish({ id: '8' }, { id: '9' });
  await time.pass(50);
  const entry = one.page('8', '9');
  await time.pass(50);
  const other = start();
  await time.pass(500);
  assert.equal(other.judge(fromStore(entry)), 'whole');
  await one.publish({ id: '9' });
  await time.pass(500);
  assert.equal(other.judge(fromStore(entry)), 'outdated');
  await one.publish({ id: '8', op: 'delete' });
  await time.pass(500);
  assert.equal(other.judge(fromStore(entry)), 'deleted');
});

test('while the stream is away, pages older than five seconds are stale, and deleted ones stay denied', async (t) => {
  const { time, stream, start } = harness(t);
  const { page, judge, publish } = start();
  await time.pass(500);
  const [old, deleted] = [page('1'), page('2')];
  await publish({ id: '2', op: 'delete' });
  stream.fail('store-slow');
  await time.pass(3000);
  assert.equal(judge(old), 'whole');
  await time.pass(4000);
  assert.deepEqual([judge(old), judge(page('3')), judge(deleted)], ['outdated', 'whole', 'deleted']);
  stream.fail();
  await time.pass(500);
  assert.equal(judge(old), 'whole');
});

test('a process that was stopped computes older pages again until it has read the stream', async (t) => {
  const { time, start } = harness(t);
  const { page, judge, changes } = start();
  await time.pass(500);
  const old = page('1');
  time.advance(10_000);
  assert.deepEqual([judge(old), judge(page('2'))], ['changed', 'whole']);
  await time.pass(500);
  assert.equal(judge(old), 'whole');
  assert.equal(changes.status().following, true);
});

test('a process that was stopped for some seconds computes again each page from before', async (t) => {
  const { time, start } = harness(t);
  const { page, judge } = start();
  await time.pass(500);
  const old = page('1');
  await time.pass(100);
  time.advance(2400);
  assert.deepEqual([judge(old), judge(page('2'))], ['changed', 'whole']);
  await time.pass(500);
  assert.equal(judge(old), 'whole');
});

test('within the lag of the engine deleted documents are hidden, and a page is judged again after it', async (t) => {
  const { time, start } = harness(t);
  const { page, judge, publish, rules } = start({ engineLagMs: 2000 });
  await time.pass(500);
  await publish({ id: '1', op: 'delete' }, { id: '2' });
  const hidden = (): boolean[] => ['1', '2', '3'].map((id) => rules.hides()?.(id) === true);
  assert.deepEqual(hidden(), [true, false, false]);
  const within = page('2');
  assert.equal(judge(within), 'whole');
  await time.pass(2500);
  assert.equal(judge(within), 'outdated');
  await time.pass(2500);
  assert.deepEqual(hidden(), [false, false, false]);
  assert.equal(judge(page('2')), 'whole');
});

test('a deleted document is left out of the answers of a lifeboat, whose index is older', async (t) => {
  const { time, start } = harness(t);
  const { publish, rules } = start();
  await time.pass(500);
  await publish({ id: '1', op: 'delete' }, { id: '2', op: 'delete' }, { id: '2' });
  await time.pass(60_000);
  assert.deepEqual(
    ['1', '2', '3'].map((id) => rules.hides('lifeboat')?.(id)),
    [true, false, false],
  );
});

test('until a rotation deleted documents are hidden, and then every older page is stale', async (t) => {
  const { time, start } = harness(t);
  const { changes, page, judge, publish, rules, events } = start({ untilRotation: true, engineLagMs: 2000 });
  await time.pass(500);
  await publish({ id: '1', op: 'delete' });
  await time.pass(5000);
  await publish({ id: '2', op: 'delete' });
  await time.pass(1000);
  const entry = page('3');
  const hidden = (): boolean[] => ['1', '2', '3'].map((id) => rules.hides()?.(id) === true);
  assert.deepEqual(hidden(), [true, true, false]);
  changes.indexReplaced();
  assert.equal(judge(entry), 'outdated');
  assert.deepEqual(hidden(), [false, true, false], 'the index was being made when 2 was deleted');
  assert.equal(events.filter((event) => event.kind === 'changes-gap' && event.why === 'index').length, 1);
  await time.pass(10);
  assert.equal(judge(page('3')), 'whole');
});

test('many changes are published in several batches, between which other work runs', async (t) => {
  const { time, stream, start } = harness(t);
  const { changes, page, judge } = start();
  await time.pass(500);
  const entry = page('9999');
  const before = stream.appends();
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const given = Array.from(
    { length: 10_000 },
    (_, at) => ({ id: `${at}`, op: 'upsert', text: `товар ${at}` }) as const,
  );
  await changes.publish(given);
  isOver = true;
  assert.ok(stream.appends() - before > 2, 'more than one batch');
  assert.ok(stream.held().every(({ bytes }) => bytes.length <= 64 * 1024));
  assert.ok(turns >= 200, `${turns} turns`);
  assert.equal(judge(entry), 'outdated');
  assert.equal(changes.status().changes, 10_000);
});

test('calls are published in their order, and too many at once are refused', async (t) => {
  const { time, stream, start } = harness(t);
  const { changes } = start();
  await time.pass(500);
  const held = Promise.withResolvers<void>();
  stream.hold(() => held.promise);
  const call = (id: number) => changes.publish([{ id: `${id}`, op: 'upsert' }]);
  const calls = Array.from({ length: 16 }, (_, at) => call(at));
  const refused = assert.rejects(call(16), (error) => error instanceof OperationError && error.code === 'overloaded');
  stream.hold(async () => {});
  held.resolve();
  await time.settled(Promise.all([...calls, refused]));
  assert.equal(changes.status().changes, 16);
  await time.settled(call(17));
});

test('a publish that the stream does not take whole, or that is not in force, fails, and the next one succeeds', async (t) => {
  const { time, stream, start } = harness(t);
  const { publish } = start();
  await time.pass(500);
  stream.fail('store-down');
  const isAway = (error: unknown): boolean => error instanceof OperationError && error.code === 'control-unavailable';
  await assert.rejects(publish({ id: '1' }), isAway);
  stream.fail();
  await publish({ id: '1' });
  const held = stream.held().length;
  stream.hold(async () => stream.fail('store-slow'));
  await assert.rejects(publish({ id: '2' }), isAway);
  assert.equal(stream.held().length, held + 1, 'the stream has it');
  stream.hold(async () => {});
  stream.fail();
  await publish({ id: '2' });
});
