import assert from 'node:assert/strict';
import { test } from 'node:test';
import { harness } from './harness.ts';

test('a warm-up computes what is missing, once, and finds the rest in either tier', async (t) => {
  const { search, sibling, engine, prepare, warm } = harness(t);
  assert.equal(await warm(prepare('диван')), 'computed');
  assert.equal(await warm(prepare('диван')), 'cached');
  assert.equal((await search.search(prepare('диван'))).outcome, 'hit-l1');
  const other = sibling();
  assert.equal((await other.search(prepare('диван'))).outcome, 'hit-l2');
  assert.deepEqual(engine.asked, ['диван']);
});

test('a warm-up gives way to people: with every place taken it waits, and is refused at its deadline', async (t) => {
  const { search, engine, prepare, warm } = harness(t, { maxConcurrent: 1, deadlineMs: 60 });
  const going = Promise.withResolvers<never>();
  engine.answer = () => going.promise;
  const person = search.search(prepare('диван')).catch(() => 'late');
  await assert.rejects(warm(prepare('кресло')), { name: 'SearchError', code: 'overloaded' });
  assert.deepEqual(engine.asked, ['диван']);
  going.reject(new Error('over'));
  await person;
});

test('a person who asks for what is being warmed up joins it', async (t) => {
  const { search, engine, prepare, warm } = harness(t);
  const warming = warm(prepare('диван'));
  const answer = await search.search(prepare('диван'));
  assert.deepEqual([await warming, answer.outcome], ['computed', 'collapsed']);
  assert.deepEqual(engine.asked, ['диван']);
});
