import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EngineError } from '../../src/search/engine.ts';
import { SearchError } from '../../src/search/search-error.ts';
import { idle } from '../fakes/idle.ts';
import { type Harness, type HarnessOptions, harness, pageOf, scriptedEngine, transcript } from './harness.ts';

const down = async (): Promise<never> => Promise.reject(new EngineError('engine-unavailable', 'lost'));
const bodyOf = (answer: { entry: { body: Buffer } }): Record<string, unknown> => JSON.parse(String(answer.entry.body));

function withLifeboat(t: TestContext, options: HarnessOptions = {}): Harness & { readonly boat: string[] } {
  const lifeboat = scriptedEngine();
  return { ...harness(t, { ...options, lifeboat }), boat: lifeboat.asked };
}

test('with the engine down and nothing stored the lifeboat answers, and says so everywhere', async (t) => {
  const { search, engine, prepare, events, store } = withLifeboat(t);
  engine.answer = down;
  const answer = await search.search(prepare('shoes'));
  assert.equal(transcript(answer), 'lifeboat · l2 uri-miss 503 (lifeboat) · l1 uri-miss');
  assert.equal(bodyOf(answer)['degraded'], true);
  assert.equal(answer.entry.degraded, true);
  await idle();
  assert.equal(store.values.size, 0);
  assert.equal(search.fromMemory(prepare('shoes')), undefined, 'it is stored nowhere');
  assert.ok(events.some((event) => event.kind === 'lifeboat' && event.result === 'whole'));
});

test('a stale page goes before the lifeboat, and a healthy engine before both', async (t) => {
  const { search, engine, prepare, clock, boat } = withLifeboat(t);
  assert.equal((await search.search(prepare('shoes'))).outcome, 'engine');
  clock.advance(130_000);
  engine.answer = down;
  assert.equal((await search.search(prepare('shoes'))).outcome, 'stale');
  assert.deepEqual(boat, []);
});

test('many that need the lifeboat for one query ask it once; more than it can take get the engine’s own failure', async (t) => {
  const { search, engine, prepare, boat } = withLifeboat(t);
  engine.answer = down;
  const same = await Promise.all(Array.from({ length: 5 }, () => search.search(prepare('shoes'))));
  assert.ok(same.every(({ outcome }) => outcome === 'lifeboat'));
  assert.deepEqual(boat, ['shoes']);
  const many = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => search.search(prepare(`q${i}`))));
  const refused = many.filter((result) => result.status === 'rejected');
  assert.ok(refused.length > 0 && refused.every(({ reason }) => reason instanceof SearchError));
});

test('a whole stale page is served rather than a part of a new one', async (t) => {
  const { search, engine, prepare, clock } = harness(t);
  await search.search(prepare('shoes'));
  clock.advance(130_000);
  engine.answer = async (text) => pageOf(text, 'agent dead');
  const answer = await search.search(prepare('shoes'));
  assert.equal(answer.outcome, 'stale');
  assert.equal(answer.entry.degraded, false);
});

test('while the engine is in trouble an old page is served at once; while it is well it is computed anew', async (t) => {
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
  // Past its deadline it holds the only permit.
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
  assert.ok(outcomes.has('hit-l1'), 'well again, it is computed anew');
});

test('a client over its budget is refused, unless a page or a flight is there already', async (t) => {
  const { search, engine, prepare, clock } = withLifeboat(t);
  const broke = (): boolean => false;
  const refused = (error: unknown): boolean => error instanceof SearchError && error.code === 'over-budget';
  await assert.rejects(search.search(prepare('shoes'), broke), refused);
  assert.deepEqual(engine.asked, []);
  await search.search(prepare('shoes'), () => true);
  assert.equal((await search.search(prepare('shoes'), broke)).outcome, 'hit-l1');
  clock.advance(130_000);
  assert.equal((await search.search(prepare('shoes'), broke)).outcome, 'stale');
  const gate = Promise.withResolvers<void>();
  engine.answer = async (text) => {
    await gate.promise;
    return pageOf(text);
  };
  const leader = search.search(prepare('boots'));
  await idle();
  const follower = search.search(prepare('boots'), broke);
  await idle();
  gate.resolve();
  assert.deepEqual([(await leader).outcome, (await follower).outcome], ['engine', 'collapsed']);
});

test('the budget of one client is asked once per search', async (t) => {
  const { search, prepare } = harness(t);
  let asked = 0;
  const count = (): boolean => {
    asked += 1;
    return true;
  };
  await search.search(prepare('a'), count);
  await search.search(prepare('a'), count);
  await search.searchMany([prepare('a'), prepare('b'), prepare('c')], count);
  assert.equal(asked, 3);
});

test('after a partial page the whole old one is served for a second without asking again', async (t) => {
  const { search, engine, prepare, clock } = harness(t);
  await search.search(prepare('shoes'));
  clock.advance(130_000);
  engine.answer = async (text) => pageOf(text, 'agent dead');
  for (let i = 0; i < 20; i += 1) assert.equal((await search.search(prepare('shoes'))).outcome, 'stale');
  assert.equal(engine.asked.length, 2);
  clock.advance(1100);
  await search.search(prepare('shoes'));
  assert.equal(engine.asked.length, 3);
});

test('what a batch has at hand does not wait behind what must be computed, nor is it refused for it', async (t) => {
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
  const outcomes = results.map((result) => (result.status === 'fulfilled' ? result.value.outcome : 'refused'));
  assert.deepEqual(outcomes.slice(3), ['hit-l2', 'hit-l2']);
  assert.equal(outcomes[2], 'refused', 'the batch was past its deadline');
});
