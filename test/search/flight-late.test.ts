import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EngineError } from '../../src/search/engine.ts';
import { idle } from '../fakes/idle.ts';
import { type Harness, harness, pageOf, transcript } from './harness.ts';

/** A rig whose store holds a page for `диван`, and from now on is slow: its reply comes when the test sends it. */
async function slowStore(t: TestContext): Promise<Harness & { readonly reply: () => void }> {
  const made = harness(t);
  await made.search.search(made.prepare('диван'));
  await idle();
  const late = Promise.withResolvers<Buffer | undefined>();
  made.store.fault = { kind: 'fault', fault: 'store-slow', late: late.promise };
  const reply = (): void => late.resolve(made.store.values.get(made.prepare('диван').storeName));
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
  page.reject(new EngineError('engine-unavailable', 'ECONNRESET'));
  assert.equal((await waiting).outcome, 'stale');
});

test('a refresh waits in the queue for as long as a client would', async (t) => {
  const { search, engine, clock, prepare, events } = harness(t, { maxConcurrent: 1 });
  await search.search(prepare('диван'));
  clock.advance(110_000);
  const busy = Promise.withResolvers<void>();
  engine.answer = async (text) => busy.promise.then(() => pageOf(text));
  const holder = search.search(prepare('занято'));
  await idle();
  assert.equal((await search.search(prepare('диван'))).outcome, 'stale');
  await idle();
  busy.resolve();
  await holder;
  await idle();
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'refresh' ? [event.result] : [])),
    ['from-engine'],
  );
  assert.equal(transcript(await search.search(prepare('диван'))), 'hit-l1 · l1 hit');
});

test('the synchronous way through L1 gives fresh pages only, and starts no refresh', async (t) => {
  const { search, engine, clock, prepare } = harness(t);
  await search.search(prepare('диван'));
  assert.equal(search.fromMemory(prepare('диван'))?.outcome, 'hit-l1');
  for (const stepMs of [110_000, 90_000]) {
    clock.advance(stepMs);
    assert.equal(search.fromMemory(prepare('диван')), undefined);
    await idle();
    assert.equal(engine.asked.length, 1);
  }
});
