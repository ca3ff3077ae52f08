import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { EntryRules } from '../../src/cache/invalidation.ts';
import { SearchError } from '../../src/resilience/search-error.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { idle } from '../fakes/idle.ts';
import { code, down, EMPTY_PAGE, harness, holding, pageOf, transcript } from './harness.ts';

test('the same search three times: engine, then L1; after a restart L2, then L1', async (t) => {
  const { search, sibling, engine, prepare } = harness(t);
  const diwan = prepare('диван');
  const first = await search.search(diwan);
  assert.equal(transcript(first), 'engine · l2 uri-miss stored (unseen) · l1 uri-miss stored');
  assert.equal(transcript(await search.search(diwan)), 'hit-l1 · l1 hit');
  assert.ok(search.fromMemory(diwan) !== undefined);
  const restarted = sibling();
  assert.equal(restarted.fromMemory(diwan), undefined);
  const second = await restarted.search(diwan);
  assert.equal(transcript(second), 'hit-l2 · l2 hit · l1 uri-miss');
  assert.equal(transcript(await restarted.search(diwan)), 'hit-l1 · l1 hit');
  assert.deepEqual(engine.asked, ['диван']);
  assert.deepEqual([second.entry.body, second.entry.etag], [first.entry.body, first.entry.etag]);
});

test('without a store the answer has no L2 status', async (t) => {
  const { search, prepare } = harness(t, { store: false });
  assert.equal(transcript(await search.search(prepare('диван'))), 'engine · l1 uri-miss stored (unseen)');
  assert.equal(transcript(await search.search(prepare('диван'))), 'hit-l1 · l1 hit');
});

test('a thousand concurrent searches are one engine query, and the followers are collapsed', async (t) => {
  const { search, engine, prepare } = harness(t);
  const answers = await Promise.all(Array.from({ length: 1000 }, () => search.search(prepare('диван'))));
  assert.equal(engine.asked.length, 1);
  const outcomes = Object.groupBy(answers, ({ outcome }) => outcome);
  assert.deepEqual([outcomes.engine?.length, outcomes.collapsed?.length], [1, 999]);
  const follower = outcomes.collapsed?.[0];
  assert.ok(follower);
  assert.equal(transcript(follower), 'collapsed · l2 uri-miss collapsed (unseen) · l1 uri-miss collapsed');
});

test('a thousand concurrent searches are one store read', async (t) => {
  const { sibling, store, prepare } = await holding(t, 0);
  store.reads.length = 0;
  const restarted = sibling();
  const answers = await Promise.all(Array.from({ length: 1000 }, () => restarted.search(prepare('диван'))));
  assert.equal(store.reads.length, 1);
  assert.ok(answers.every(({ outcome }) => outcome === 'hit-l2'));
});

test('a stale entry is served at once while one refresh runs, and the next is fresh', async (t) => {
  const { engine, events, ask } = await holding(t, 110_000);
  const stale = await Promise.all(Array.from({ length: 50 }, () => ask()));
  assert.ok(stale.every((answer) => transcript(answer) === 'stale · l1 hit' && answer.remainingMs === -10_000));
  await idle();
  assert.equal(engine.asked.length, 2);
  assert.equal(transcript(await ask()), 'hit-l1 · l1 hit');
  assert.deepEqual(
    events.filter(({ kind }) => kind === 'refresh'),
    [{ kind: 'refresh', domain: 'goods', result: 'from-engine' }],
  );
});

test('a refresh takes a page that another process has stored', async (t) => {
  const { search, sibling, engine, clock, prepare } = harness(t);
  const other = sibling();
  await search.search(prepare('диван'));
  await other.search(prepare('диван'));
  clock.advance(110_000);
  await search.search(prepare('диван'));
  await idle();
  assert.equal(transcript(await other.search(prepare('диван'))), 'stale · l1 hit');
  await idle();
  assert.equal(transcript(await other.search(prepare('диван'))), 'hit-l1 · l1 hit');
  assert.equal(engine.asked.length, 2);
});

test('a stale entry from the store is served and refreshed', async (t) => {
  const { sibling, engine, ask } = await holding(t, 110_000);
  const restarted = sibling();
  assert.equal(transcript(await ask(restarted)), 'stale · l2 hit · l1 uri-miss');
  await idle();
  assert.equal(engine.asked.length, 2);
});

test('a refresh that failed is not tried again for a second', async (t) => {
  const { engine, clock, ask } = await holding(t, 110_000);
  engine.answer = down;
  for (let i = 0; i < 20; i += 1) {
    assert.equal((await ask()).outcome, 'stale');
    await idle();
  }
  assert.equal(engine.asked.length, 2);
  clock.advance(1001);
  await ask();
  await idle();
  assert.equal(engine.asked.length, 3);
});

test('an empty page has its own short lifetime', async (t) => {
  const { search, engine, clock, prepare } = harness(t);
  engine.answer = async () => EMPTY_PAGE;
  const answer = await search.search(prepare('ничего'));
  assert.deepEqual([answer.entry.empty, answer.remainingMs], [true, 10_000]);
  clock.advance(9_999);
  assert.equal((await search.search(prepare('ничего'))).outcome, 'hit-l1');
});

test('a partial page is served as degraded, stays in L1 briefly and never enters the store', async (t) => {
  const { search, engine, store, clock, prepare } = harness(t);
  engine.answer = async (text) => pageOf(text, 'agent dead');
  const answer = await search.search(prepare('диван'));
  assert.equal(transcript(answer), 'engine · l2 uri-miss (unseen) · l1 uri-miss stored');
  assert.equal(JSON.parse(answer.entry.body.toString()).degraded, true);
  await idle();
  assert.deepEqual(store.names(), []);
  assert.equal((await search.search(prepare('диван'))).outcome, 'hit-l1');
  clock.advance(5_000);
  engine.answer = async (text) => pageOf(text);
  assert.equal((await search.search(prepare('диван'))).outcome, 'engine');
});

test('a partial page never replaces a whole one that may still be served', async (t) => {
  const { engine, ask } = await holding(t, 110_000);
  engine.answer = async (text) => pageOf(text, 'agent dead');
  await ask();
  await idle();
  const answer = await ask();
  assert.deepEqual([answer.outcome, answer.entry.degraded], ['stale', false]);
});

test('a page that L1 is too small for is not called stored, and without a store the next miss is not-storable', async (t) => {
  const pages = [
    { page: pageOf('диван'), memory: { maxBytes: 1000, emptyMaxBytes: 1 << 16 } },
    { page: EMPTY_PAGE, memory: { maxBytes: 1 << 20, emptyMaxBytes: 1000 } },
  ];
  for (const { page, memory } of pages) {
    const alone = harness(t, { memory, store: false });
    alone.engine.answer = async () => page;
    assert.equal(transcript(await alone.search.search(alone.prepare('диван'))), 'engine · l1 uri-miss (unseen)');
    assert.equal((await alone.search.search(alone.prepare('диван'))).reason, 'not-storable');
    const stored = alone.events.flatMap((event) => (event.kind.includes('stored') ? [event] : []));
    const refused = { kind: 'not-stored', domain: 'goods', tier: 'l1', why: 'too-large' };
    assert.deepEqual(stored, [refused, refused]);

    const { search, engine, prepare } = harness(t, { memory });
    engine.answer = async () => page;
    assert.equal(
      transcript(await search.search(prepare('диван'))),
      'engine · l2 uri-miss stored (unseen) · l1 uri-miss',
    );
    await idle();
    assert.equal((await search.search(prepare('диван'))).outcome, 'hit-l2');
  }
});

test('a page too large to store is served and counted, and the next miss is not-storable', async (t) => {
  const { search, prepare, events } = harness(t, { maxEntryBytes: 100 });
  assert.equal(transcript(await search.search(prepare('диван'))), 'engine · l2 uri-miss (unseen) · l1 uri-miss');
  const again = await search.search(prepare('диван'));
  assert.deepEqual([again.outcome, again.reason], ['engine', 'not-storable']);
  assert.ok(events.some((event) => event.kind === 'not-stored' && event.why === 'too-large'));
});

test('an operator’s bypass asks the engine and overwrites both tiers', async (t) => {
  const { search, sibling, engine, prepare } = harness(t);
  await search.search(prepare('диван'));
  engine.answer = async () => pageOf('новый диван');
  const answer = await search.bypass(prepare('диван'));
  assert.equal(transcript(answer), 'engine · l2 bypass stored (bypass) · l1 bypass stored');
  await idle();
  for (const process of [search, sibling()]) {
    assert.match((await process.search(prepare('диван'))).entry.body.toString(), /новый диван/);
  }
});

test('a bypass asks the engine even while a load of that key is running', async (t) => {
  const { search, engine, prepare } = harness(t);
  const reply = Promise.withResolvers<void>();
  engine.answer = async () => reply.promise.then(() => pageOf('старый'));
  const before = search.search(prepare('диван'));
  await idle();
  engine.answer = async () => pageOf('новый');
  const bypassed = await search.bypass(prepare('диван'));
  assert.deepEqual([bypassed.outcome, JSON.parse(bypassed.entry.body.toString()).results[0].id], ['engine', 'новый']);
  reply.resolve();
  await before;
  assert.equal(engine.asked.length, 2);
});

test('a key is no longer not-storable once its page fits again', async (t) => {
  const { search, engine, clock, prepare } = harness(t, { maxEntryBytes: 600 });
  engine.answer = async () => pageOf(randomBytes(1000).toString('hex'));
  await search.search(prepare('диван'));
  engine.answer = async (text) => pageOf(text);
  assert.equal((await search.search(prepare('диван'))).reason, 'not-storable');
  clock.advance(800_000);
  assert.notEqual((await search.search(prepare('диван'))).reason, 'not-storable');
});

test('flushed and suppressed entries are misses with their reason', async (t) => {
  let refused: 'flushed' | 'suppressed' | undefined;
  const { search, prepare } = harness(t, {
    rules: { ...unflushed, generation: () => 7, judge: () => refused ?? 'whole' },
  });
  assert.equal((await search.search(prepare('диван'))).entry.generation, 7);
  for (const reason of ['flushed', 'suppressed'] as const) {
    refused = reason;
    const answer = await search.search(prepare('диван'));
    assert.deepEqual([answer.outcome, answer.reason], ['engine', reason]);
  }
});

test('a batch reads the store once per key, joins loads, and each item fails alone', async (t) => {
  const { search, sibling, engine, store, prepare } = harness(t);
  for (const q of ['a', 'b']) await search.search(prepare(q));
  await idle();
  const restarted = sibling();
  await restarted.search(prepare('a'));
  engine.answer = async (text) => (text === 'bad' ? down() : pageOf(text));
  store.reads.length = 0;
  const settledMany = await restarted.searchMany(['a', 'b', 'c', 'c', 'bad'].map((q) => prepare(q)));
  const seen = settledMany.map((each) => (each instanceof Error ? code(each) : each.outcome));
  assert.deepEqual(seen, ['hit-l1', 'hit-l2', 'engine', 'collapsed', 'engine-unavailable']);
  assert.equal(store.reads.length, 3);
});

test('a batch of fifty new searches does not overload an idle engine with room for two', async (t) => {
  const { search, engine, prepare } = harness(t, { maxConcurrent: 2, maxQueued: 2 });
  const batch = Array.from({ length: 50 }, (_, i) => prepare(`новое ${i}`));
  const outcomes = (await search.searchMany(batch)).map((each) => !(each instanceof Error) && each.outcome);
  assert.deepEqual(new Set(outcomes), new Set(['engine']));
  assert.equal(engine.asked.length, 50);
});

test('large pages are stored compressed and small ones are not; the entry names its coding', async (t) => {
  const { search, engine, prepare } = harness(t);
  engine.answer = async (text) => pageOf(text.repeat(2000));
  assert.equal((await search.search(prepare('длинно'))).entry.coding, 'gzip');
  engine.answer = async (text) => pageOf(text);
  assert.equal((await search.search(prepare('кратко'))).entry.coding, 'identity');
});

test('an outdated page is served at once, as stale without fresh life, and the next search gets the new one', async (t) => {
  let generation = 1;
  const rules: EntryRules = {
    ...unflushed,
    generation: () => generation,
    judge: (entry) => (entry.generation < generation ? 'outdated' : 'whole'),
  };
  const { search, prepare, engine } = harness(t, { rules });
  engine.answer = async (text) => pageOf(`${text} ${generation}`);
  await search.search(prepare('диван'));
  generation = 2;
  const stale = await search.search(prepare('диван'));
  assert.deepEqual([stale.outcome, stale.entry.generation, stale.remainingMs], ['stale', 1, -1]);
  await idle();
  const fresh = await search.search(prepare('диван'));
  assert.deepEqual([fresh.outcome, fresh.entry.generation], ['hit-l1', 2]);
});

test('an entry carries the generation that was current when its engine call began', async (t) => {
  let generation = 1;
  const { search, prepare, engine } = harness(t, { rules: { ...unflushed, generation: () => generation } });
  engine.answer = async (text) => {
    generation = 2;
    return pageOf(text);
  };
  assert.equal((await search.search(prepare('диван'))).entry.generation, 1);
});

test('a process without room answers from memory, stale pages too, and refuses other searches at once', async (t) => {
  const { search, engine, clock, noted, prepare } = harness(t);
  await search.search(prepare('диван'));
  assert.equal(search.fromMemory(prepare('диван'))?.outcome, 'hit-l1');
  clock.advance(110_000);
  assert.equal(search.fromMemory(prepare('диван'))?.outcome, 'stale');
  await idle();
  assert.equal(engine.asked.length, 2, 'and one refresh renews it');
  assert.equal(search.fromMemory(prepare('диван'))?.outcome, 'hit-l1');
  const counted = noted.length;
  await assert.rejects(search.search(prepare('стол'), { admit: () => false }), { code: 'busy' });
  const [near, refused] = await search.searchMany([prepare('диван'), prepare('стол')], { admit: () => false });
  assert.ok(near !== undefined && !(near instanceof Error) && near.outcome === 'hit-l1');
  assert.equal(refused instanceof SearchError && refused.code, 'busy');
  assert.equal(noted.length, counted + 1, 'a refused search is no sign of popularity');
  assert.equal(engine.asked.length, 2);
});

test('each admitted search is settled once with its result, and a hit of L1 needs no admission', async (t) => {
  const { search, engine, sibling, prepare } = harness(t);
  const seen: string[] = [];
  const client = {
    admit: () => seen.push('admit') > 0,
    settle: (_search: unknown, result: unknown) =>
      void seen.push(result instanceof Error ? code(result) : (result as { outcome: string }).outcome),
  };
  await search.search(prepare('диван'), client);
  await search.search(prepare('диван'), client);
  await sibling().search(prepare('диван'), client);
  engine.answer = down;
  await assert.rejects(search.search(prepare('стол'), client));
  await search.searchMany([prepare('диван'), prepare('шкаф')], client);
  assert.deepEqual(seen, [
    ...['admit', 'engine'],
    ...['admit', 'hit-l2'],
    ...['admit', 'engine-unavailable'],
    ...['admit', 'engine-unavailable'],
  ]);
});

test('a fault of ours after the admission gives the places back', async (t) => {
  const { search, store, prepare } = harness(t);
  const settled: unknown[] = [];
  const client = { admit: () => true, settle: (_: unknown, result: unknown) => void settled.push(result) };
  const fault = new Error('a bug');
  const broken = () => {
    throw fault;
  };
  t.mock.method(store, 'readMany', async () => broken());
  await assert.rejects(search.searchMany([prepare('диван'), prepare('шкаф')], client), fault);
  assert.deepEqual(settled, [undefined, undefined]);
  t.mock.method(store, 'read', broken);
  await assert.rejects(search.search(prepare('стол'), client), fault);
  assert.deepEqual(settled, [undefined, undefined, fault]);
});
