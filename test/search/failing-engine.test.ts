import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../src/search/engine.ts';
import { SearchError } from '../../src/search/search-error.ts';
import { idle } from '../fakes/idle.ts';
import { harness, pageOf, transcript } from './harness.ts';

const down = async (): Promise<never> => Promise.reject(new EngineError('engine-unavailable', 'ECONNREFUSED'));
const code = (error: unknown): string => (error instanceof SearchError ? error.code : String(error));

test('past its stale window an entry is served only when the engine fails, and says why', async (t) => {
  const { search, engine, clock, prepare } = harness(t);
  await search.search(prepare('диван'));
  clock.advance(200_000);
  engine.answer = down;
  const answer = await search.search(prepare('диван'));
  assert.equal(transcript(answer), 'stale · l2 stale (lapsed) · l1 stale 503');
  engine.answer = async (text) => pageOf(text);
  assert.equal((await search.search(prepare('диван'))).outcome, 'engine');
});

test('a refresh that brought only a part is not tried again for a second', async (t) => {
  const { search, engine, clock, prepare } = harness(t);
  await search.search(prepare('диван'));
  clock.advance(110_000);
  engine.answer = async (text) => pageOf(text, 'agent dead');
  for (let i = 0; i < 10; i += 1) {
    assert.equal((await search.search(prepare('диван'))).outcome, 'stale');
    await idle();
  }
  assert.equal(engine.asked.length, 2);
});

test('a refresh that the open breaker refused is tried again as soon as the engine is back', async (t) => {
  const { search, engine, clock, prepare, engineAnswers } = harness(t);
  await search.search(prepare('диван'));
  clock.advance(110_000);
  engine.answer = down;
  for (let i = 0; i < 6; i += 1) await search.search(prepare(`нет ${i}`)).catch(() => undefined);
  assert.equal((await search.search(prepare('диван'))).outcome, 'stale');
  await idle();
  engine.answer = async (text) => pageOf(text);
  engineAnswers();
  assert.equal((await search.search(prepare('диван'))).outcome, 'stale', 'and its refresh behind it');
  await idle();
  assert.equal((await search.search(prepare('диван'))).outcome, 'hit-l1');
});

test('a refresh that began before the engine came back and fails after it is no reason to wait', async (t) => {
  const { search, engine, clock, prepare, engineAnswers } = harness(t);
  await search.search(prepare('диван'));
  clock.advance(110_000);
  const reply = Promise.withResolvers<never>();
  engine.answer = async () => reply.promise;
  assert.equal((await search.search(prepare('диван'))).outcome, 'stale');
  await idle();
  engine.answer = down;
  for (let i = 0; i < 8; i += 1) await search.search(prepare(`нет ${i}`)).catch(() => undefined);
  engine.answer = async (text) => pageOf(text);
  engineAnswers();
  reply.reject(new EngineError('engine-unavailable', 'the connection closed'));
  await idle();
  await search.search(prepare('диван'));
  await idle();
  assert.equal((await search.search(prepare('диван'))).outcome, 'hit-l1');
});

test('an entry only the store holds is served too when the engine fails', async (t) => {
  const { search, sibling, engine, clock, prepare } = harness(t);
  await search.search(prepare('диван'));
  await idle();
  clock.advance(200_000);
  engine.answer = down;
  const answer = await sibling().search(prepare('диван'));
  assert.equal(transcript(answer), 'stale · l2 stale 503 (lapsed) · l1 uri-miss');
});

test('nobody can answer: the failure says which kind and when to come again', async (t) => {
  const { search, engine, prepare } = harness(t);
  engine.answer = down;
  await assert.rejects(search.search(prepare('диван')), (error) => code(error) === 'engine-unavailable');
  engine.answer = async () => Promise.reject(new EngineError('engine-rejected', 'unknown local index goods'));
  await assert.rejects(
    search.search(prepare('стол')),
    (error) => error instanceof SearchError && error.code === 'engine-rejected' && !error.message.includes('index'),
  );
});

test('an open breaker sheds at once, and cached searches go on', async (t) => {
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
  const reply = Promise.withResolvers<void>();
  engine.answer = async (text) => reply.promise.then(() => pageOf(text));
  await assert.rejects(search.search(prepare('диван')), (error) => code(error) === 'engine-deadline');
  const follower = search.search(prepare('диван'));
  reply.resolve();
  assert.equal((await follower).outcome, 'collapsed');
  await idle();
  assert.equal((await search.search(prepare('диван'))).outcome, 'hit-l1');
  assert.equal(engine.asked.length, 1);
  assert.ok(events.some((event) => event.kind === 'engine'));
});

test('more than the engine may take are shed, newest first served', async (t) => {
  const { search, engine, prepare } = harness(t, { maxConcurrent: 1, maxQueued: 1 });
  const reply = Promise.withResolvers<void>();
  engine.answer = async (text) => reply.promise.then(() => pageOf(text));
  const tried = ['a', 'b', 'c'].map((q) => search.search(prepare(q)).then(({ outcome }) => outcome, code));
  await idle();
  reply.resolve();
  assert.deepEqual(await Promise.all(tried), ['engine', 'overloaded', 'engine']);
});
