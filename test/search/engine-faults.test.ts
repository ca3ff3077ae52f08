import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { REASONS, SearchError } from '../../src/resilience/search-error.ts';
import { idle } from '../fakes/idle.ts';
import {
  code,
  down,
  type Harness,
  type HarnessOptions,
  harness,
  held,
  holding,
  pageOf,
  scriptedEngine,
  transcript,
} from './harness.ts';

test('past its stale window an entry is served only when the engine fails, and the answer says why', async (t) => {
  const { engine, ask } = await holding(t, 200_000);
  engine.answer = down;
  const answer = await ask();
  assert.equal(transcript(answer), 'stale · l2 stale (expired) · l1 stale 503');
  engine.answer = async (text) => pageOf(text);
  assert.equal((await ask()).outcome, 'engine');
});

test('a refresh that brought a partial page is not tried again for a second', async (t) => {
  const { engine, ask } = await holding(t, 110_000);
  engine.answer = async (text) => pageOf(text, 'agent dead');
  for (let i = 0; i < 10; i += 1) {
    assert.equal((await ask()).outcome, 'stale');
    await idle();
  }
  assert.equal(engine.asked.length, 2);
});

test('a refresh that the open breaker refused is tried again as soon as the engine is back', async (t) => {
  const { search, engine, prepare, engineAnswers, ask } = await holding(t, 110_000);
  engine.answer = down;
  for (let i = 0; i < 6; i += 1) await search.search(prepare(`нет ${i}`)).catch(() => undefined);
  assert.equal((await ask()).outcome, 'stale');
  await idle();
  engine.answer = async (text) => pageOf(text);
  engineAnswers();
  assert.equal((await ask()).outcome, 'stale', 'the next refresh begins in the background');
  await idle();
  assert.equal((await ask()).outcome, 'hit-l1');
});

test('a refresh that began before the engine came back and failed after it causes no pause', async (t) => {
  const { search, engine, prepare, engineAnswers, ask } = await holding(t, 110_000);
  const reply = Promise.withResolvers<never>();
  engine.answer = async () => reply.promise;
  assert.equal((await ask()).outcome, 'stale');
  await idle();
  engine.answer = down;
  for (let i = 0; i < 8; i += 1) await search.search(prepare(`нет ${i}`)).catch(() => undefined);
  engine.answer = async (text) => pageOf(text);
  engineAnswers();
  reply.reject(new SearchError('engine-unavailable', 'the connection closed'));
  await idle();
  await ask();
  await idle();
  assert.equal((await ask()).outcome, 'hit-l1');
});

test('an entry that only the store holds is served when the engine fails', async (t) => {
  const { sibling, engine, ask } = await holding(t, 200_000);
  engine.answer = down;
  const answer = await ask(sibling());
  assert.equal(transcript(answer), 'stale · l2 stale 503 (expired) · l1 uri-miss');
});

test('without any page, the error has the kind of failure and a time to try again', async (t) => {
  const { search, engine, prepare } = harness(t);
  engine.answer = down;
  await assert.rejects(search.search(prepare('диван')), (error) => code(error) === 'engine-unavailable');
  engine.answer = async () => Promise.reject(new SearchError('engine-rejected', 'unknown local index goods'));
  await assert.rejects(
    search.search(prepare('стол')),
    (error) =>
      error instanceof SearchError &&
      error.code === 'engine-rejected' &&
      !REASONS[error.reason].detail.includes('index'),
  );
});

test('an open breaker sheds at once, and cached searches are still answered', async (t) => {
  const { search, engine, prepare } = harness(t);
  await search.search(prepare('диван'));
  engine.answer = down;
  for (let i = 0; i < 8; i += 1) await search.search(prepare(`нет ${i}`)).catch(() => undefined);
  const asked = engine.asked.length;
  await assert.rejects(
    search.search(prepare('стул')),
    (error) => error instanceof SearchError && error.code === 'engine-open' && error.retryAfterMs > 1000,
  );
  assert.equal(engine.asked.length, asked);
  assert.equal((await search.search(prepare('диван'))).outcome, 'hit-l1');
});

test('a slow engine answers the client with a deadline, and its late page is kept', async (t) => {
  const { search, engine, prepare, events } = harness(t, { deadlineMs: 60 });
  const release = held({ engine });
  await assert.rejects(search.search(prepare('диван')), (error) => code(error) === 'engine-deadline');
  const follower = search.search(prepare('диван'));
  release();
  assert.equal((await follower).outcome, 'collapsed');
  await idle();
  assert.equal((await search.search(prepare('диван'))).outcome, 'hit-l1');
  assert.equal(engine.asked.length, 1);
  assert.ok(events.some((event) => event.kind === 'engine'));
});

test('searches above the queue’s bound are shed, and the newest is served', async (t) => {
  const { search, engine, prepare } = harness(t, { maxConcurrent: 1, maxQueued: 1 });
  const release = held({ engine });
  const tried = ['a', 'b', 'c'].map((q) => search.search(prepare(q)).then(({ outcome }) => outcome, code));
  await idle();
  release();
  assert.deepEqual(await Promise.all(tried), ['engine', 'overloaded', 'engine']);
});

const bodyOf = (answer: { entry: { body: Buffer } }): Record<string, unknown> => JSON.parse(String(answer.entry.body));

function withLifeboat(t: TestContext, options: HarnessOptions = {}): Harness & { readonly boat: string[] } {
  const lifeboat = scriptedEngine();
  return { ...harness(t, { ...options, lifeboat }), boat: lifeboat.asked };
}

test('with the engine down and no stored page the lifeboat answers, and status, body and events say so', async (t) => {
  const { search, engine, prepare, events, store } = withLifeboat(t);
  engine.answer = down;
  const answer = await search.search(prepare('shoes'));
  assert.equal(transcript(answer), 'lifeboat · l2 uri-miss 503 (lifeboat) · l1 uri-miss');
  assert.equal(bodyOf(answer)['degraded'], true);
  assert.equal(answer.entry.degraded, true);
  await idle();
  assert.deepEqual(store.names(), []);
  assert.equal(search.fromMemory(prepare('shoes')), undefined, 'it is stored nowhere');
  assert.ok(events.some((event) => event.kind === 'lifeboat' && event.result === 'whole'));
});

test('a stale page is preferred to the lifeboat, and a healthy engine to both', async (t) => {
  const { search, engine, prepare, clock, boat } = withLifeboat(t);
  assert.equal((await search.search(prepare('shoes'))).outcome, 'engine');
  clock.advance(130_000);
  engine.answer = down;
  assert.equal((await search.search(prepare('shoes'))).outcome, 'stale');
  assert.deepEqual(boat, []);
});

test('many searches for one query ask the lifeboat once; those above its bound get the engine’s error', async (t) => {
  const { search, engine, prepare, boat } = withLifeboat(t);
  engine.answer = down;
  const same = await Promise.all(Array.from({ length: 5 }, () => search.search(prepare('shoes'))));
  assert.ok(same.every(({ outcome }) => outcome === 'lifeboat'));
  assert.deepEqual(boat, ['shoes']);
  const many = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => search.search(prepare(`q${i}`))));
  const refused = many.filter((result) => result.status === 'rejected');
  assert.ok(refused.length > 0 && refused.every(({ reason }) => reason instanceof SearchError));
});

test('a whole stale page is preferred to a partial new one', async (t) => {
  const { engine, ask } = await holding(t, 130_000);
  engine.answer = async (text) => pageOf(text, 'agent dead');
  const answer = await ask();
  assert.equal(answer.outcome, 'stale');
  assert.equal(answer.entry.degraded, false);
});

test('an entry of the stale-if-error window is served at once while the engine is in trouble, and loaded again while it is healthy', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { search, engine, prepare, clock } = harness(t, { maxConcurrent: 1, deadlineMs: 400 });
  await search.search(prepare('shoes'));
  clock.advance(130_000);
  const gate = Promise.withResolvers<void>();
  engine.answer = async (text) => {
    if (text === 'stuck') await gate.promise;
    return pageOf(text);
  };
  const stuck = search.search(prepare('stuck')).catch((error: unknown) => error);
  await idle();
  // The stuck search is past its deadline and holds the only permit.
  t.mock.timers.tick(400);
  await idle();
  assert.equal(transcript(await search.search(prepare('shoes'))), 'stale · l1 hit');
  gate.resolve();
  await stuck;
  clock.advance(1500);
  const outcomes = new Set<string>();
  for (let i = 0; i < 100 && !outcomes.has('hit-l1'); i += 1) {
    outcomes.add((await search.search(prepare('shoes'))).outcome);
    clock.advance(20);
    await idle();
  }
  assert.ok(outcomes.has('hit-l1'), 'once the engine is healthy, the page is computed again');
});

test('a client over its budget is refused, unless a page or a running load exists', async (t) => {
  const { search, engine, prepare, clock } = withLifeboat(t);
  const broke = { mayMiss: (): boolean => false };
  const refused = (error: unknown): boolean => error instanceof SearchError && error.code === 'over-budget';
  await assert.rejects(search.search(prepare('shoes'), broke), refused);
  assert.deepEqual(engine.asked, []);
  await search.search(prepare('shoes'), { mayMiss: () => true });
  assert.equal((await search.search(prepare('shoes'), broke)).outcome, 'hit-l1');
  clock.advance(130_000);
  assert.equal((await search.search(prepare('shoes'), broke)).outcome, 'stale');
  const release = held({ engine });
  const leader = search.search(prepare('boots'));
  await idle();
  const follower = search.search(prepare('boots'), broke);
  await idle();
  release();
  assert.deepEqual([(await leader).outcome, (await follower).outcome], ['engine', 'collapsed']);
});

test('the budget of a client is charged once per search', async (t) => {
  const { search, prepare } = harness(t);
  let asked = 0;
  const mayMiss = (): boolean => {
    asked += 1;
    return true;
  };
  await search.search(prepare('a'), { mayMiss });
  await search.search(prepare('a'), { mayMiss });
  await search.searchMany([prepare('a'), prepare('b'), prepare('c')], { mayMiss });
  assert.equal(asked, 3);
});

test('after a partial page, the whole old page is served for a second without a load', async (t) => {
  const { engine, clock, ask } = await holding(t, 130_000);
  engine.answer = async (text) => pageOf(text, 'agent dead');
  for (let i = 0; i < 20; i += 1) assert.equal((await ask()).outcome, 'stale');
  assert.equal(engine.asked.length, 2);
  clock.advance(1100);
  await ask();
  assert.equal(engine.asked.length, 3);
});

test('after the engine rejected a query, its old page is served for a second without a load', async (t) => {
  const { engine, clock, ask } = await holding(t, 200_000);
  engine.answer = async () => Promise.reject(new SearchError('engine-rejected', 'syntax'));
  for (let i = 0; i < 3; i += 1) assert.equal((await ask()).outcome, 'stale');
  assert.equal(engine.asked.length, 2);
  clock.advance(1100);
  await ask();
  assert.equal(engine.asked.length, 3);
});

test('cached pages of a batch do not wait for those that must be computed, and are not refused because of them', async (t) => {
  const { search, engine, prepare, clock, sibling } = harness(t, { maxConcurrent: 1, deadlineMs: 100 });
  const kept = ['a', 'b'].map((q) => prepare(q));
  const other = sibling();
  for (const prepared of kept) await other.search(prepared);
  engine.answer = async (text) => {
    await idle();
    clock.advance(200);
    return pageOf(text);
  };
  const many = [prepare('slow 1'), prepare('slow 2'), prepare('slow 3'), ...kept];
  const results = await search.searchMany(many);
  const outcomes = results.map((result) => (result instanceof Error ? 'refused' : result.outcome));
  assert.deepEqual(outcomes.slice(3), ['hit-l2', 'hit-l2']);
  assert.equal(outcomes[2], 'refused', 'the batch was past its deadline');
});
