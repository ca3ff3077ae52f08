import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SearchError } from '../../src/resilience/search-error.ts';
import { idle } from '../fakes/idle.ts';
import { type Harness, harness, held, holding, pageOf, transcript } from './harness.ts';

test('a store that is down, slow or full causes a miss with its reason, and no error', async (t) => {
  const { search, explain, store, prepare } = harness(t);
  for (const fault of ['node-open', 'store-down', 'store-saturated', 'store-slow'] as const) {
    store.meet({ kind: 'fault', fault });
    const answer = await search.search(prepare(fault));
    const stored = fault === 'store-slow' ? ' stored' : '';
    assert.equal(transcript(answer), `engine · l2 uri-miss${stored} (${fault}) · l1 uri-miss stored`);
    const { lastMiss } = await explain({ pairs: [['q', fault]] });
    assert.equal(lastMiss?.reason, fault);
  }
});

test('a late store reply ends the load while the engine has not started', async (t) => {
  const { sibling, engine, store, prepare } = await holding(t, 0, { maxConcurrent: 1 });
  const restarted = sibling();
  const release = held({ engine });
  const holder = restarted.search(prepare('занято'));
  await idle();
  const late = Promise.withResolvers<Buffer | undefined>();
  store.meet({ kind: 'fault', fault: 'store-slow', late: late.promise });
  const waiting = restarted.search(prepare('диван'));
  await idle();
  late.resolve(store.value(prepare('диван').storeName));
  assert.equal((await waiting).outcome, 'hit-l2');
  release();
  await holder;
  await idle();
  assert.deepEqual(engine.asked, ['диван', 'занято']);
  assert.equal((await restarted.search(prepare('диван'))).outcome, 'hit-l1');
});

test('a late store reply answers after the engine refused at once', async (t) => {
  const { sibling, engine, store, prepare } = await holding(t, 0);
  const restarted = sibling();
  engine.answer = async () => Promise.reject(new SearchError('engine-unavailable', 'down'));
  for (let i = 0; i < 8; i += 1) await restarted.search(prepare(`нет ${i}`)).catch(() => undefined);
  const late = Promise.withResolvers<Buffer | undefined>();
  store.meet({ kind: 'fault', fault: 'store-slow', late: late.promise });
  const waiting = restarted.search(prepare('диван'));
  await idle();
  late.resolve(store.value(prepare('диван').storeName));
  assert.equal((await waiting).outcome, 'hit-l2');
});

test('a refusal waits only a moment for a store that stays silent', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { search, engine, store, prepare } = harness(t);
  engine.answer = async () => Promise.reject(new SearchError('engine-unavailable', 'down'));
  for (let i = 0; i < 8; i += 1) await search.search(prepare(`нет ${i}`)).catch(() => undefined);
  store.meet({ kind: 'fault', fault: 'store-slow', late: new Promise(() => undefined) });
  let refused = false;
  const asked = assert.rejects(search.search(prepare('диван')), { code: 'engine-open' }).then(() => {
    refused = true;
  });
  await idle();
  assert.equal(refused, false, 'a reply may still come soon');
  t.mock.timers.tick(100);
  await idle();
  assert.equal(refused, true, 'long before the deadline of 400 ms');
  await asked;
});

test('a stale entry that arrived late is served when the engine fails', async (t) => {
  const { sibling, engine, store, prepare, ask } = await holding(t, 200_000);
  const restarted = sibling();
  const failing = Promise.withResolvers<never>();
  engine.answer = async () => failing.promise;
  const late = Promise.withResolvers<Buffer | undefined>();
  store.meet({ kind: 'fault', fault: 'store-slow', late: late.promise });
  const waiting = ask(restarted);
  await idle();
  late.resolve(store.value(prepare('диван').storeName));
  await idle();
  failing.reject(new SearchError('engine-unavailable', 'down'));
  assert.equal((await waiting).outcome, 'stale');
});

test('values that are not entries are misses with a reason, and are overwritten', async (t) => {
  const { sibling, store, prepare } = await holding(t, 0);
  const name = prepare('диван').storeName;
  const newer = Buffer.from(store.value(name) ?? '');
  newer[2] = 9;
  const foreign = store.value(name) ?? Buffer.alloc(0);
  const cases = [
    [Buffer.from('nonsense'), 'corrupt'],
    [Buffer.alloc(0), 'corrupt'],
    [newer, 'incompatible'],
    [foreign.subarray(0, 70), 'corrupt'],
  ] as const;
  for (const [value, reason] of cases) {
    await store.write(name, value, 600_000);
    const answer = await sibling().search(prepare('диван'));
    assert.equal(transcript(answer), `engine · l2 uri-miss stored (${reason}) · l1 uri-miss stored`);
    await idle();
    assert.equal((await sibling().search(prepare('диван'))).outcome, 'hit-l2');
  }
});

test('an entry of another search under our name is never an answer', async (t) => {
  const { sibling, store, prepare } = await holding(t, 0);
  await store.write(prepare('стол').storeName, store.value(prepare('диван').storeName) ?? Buffer.alloc(0), 600_000);
  const answer = await sibling().search(prepare('стол'));
  assert.deepEqual([answer.outcome, answer.reason], ['engine', 'corrupt']);
  assert.equal(JSON.parse(answer.entry.body.toString()).query, 'стол');
});

/** A harness whose store holds a page for `диван` and is slow from now on: the test sends the reply. */
async function slowStore(t: TestContext): Promise<Harness & { readonly reply: () => void }> {
  const made = await holding(t, 0);
  const late = Promise.withResolvers<Buffer | undefined>();
  made.store.meet({ kind: 'fault', fault: 'store-slow', late: late.promise });
  const reply = (): void => late.resolve(made.store.value(made.prepare('диван').storeName));
  return { ...made, reply };
}

test('a late store reply does not overtake an engine call that has started', async (t) => {
  const { sibling, engine, prepare, reply } = await slowStore(t);
  const page = Promise.withResolvers<void>();
  engine.answer = async () => page.promise.then(() => pageOf('новее'));
  const restarted = sibling();
  let answered = false;
  const waiting = restarted.search(prepare('диван')).finally(() => {
    answered = true;
  });
  await idle();
  assert.equal(engine.asked.length, 2);
  reply();
  await idle();
  assert.equal(answered, false);
  page.resolve();
  const answer = await waiting;
  assert.equal(answer.outcome, 'engine');
  assert.match(answer.entry.body.toString(), /новее/);
  assert.match(restarted.fromMemory(prepare('диван'))?.entry.body.toString() ?? '', /новее/);
});

test('a late store reply in L1 answers when the started engine call then fails', async (t) => {
  const { sibling, engine, clock, prepare, reply } = await slowStore(t);
  clock.advance(200_000);
  const page = Promise.withResolvers<never>();
  engine.answer = () => page.promise;
  const waiting = sibling().search(prepare('диван'));
  await idle();
  reply();
  await idle();
  page.reject(new SearchError('engine-unavailable', 'ECONNRESET'));
  assert.equal((await waiting).outcome, 'stale');
});
