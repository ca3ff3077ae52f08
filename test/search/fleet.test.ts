import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SearchError } from '../../src/resilience/search-error.ts';
import { idle } from '../fakes/idle.ts';
import { type Harness, harness, held, pageOf, type Searches, transcript } from './harness.ts';

const leases = ({ events }: Harness): string[] =>
  events.flatMap((event) => (event.kind === 'lease' ? [event.result] : []));

test('two processes that miss one key ask the engine once; the second gets the page of the first', async (t) => {
  const made = harness(t);
  const letGo = held(made);
  const other = made.sibling();
  const first = made.search.search(made.prepare('shoes'));
  await idle();
  const second = other.search(made.prepare('shoes'));
  await idle();
  letGo();
  const answers = await Promise.all([first, second]);
  assert.deepEqual(made.engine.asked, ['shoes']);
  assert.deepEqual(answers.map(transcript), [
    'engine · l2 uri-miss stored (unseen) · l1 uri-miss stored',
    'collapsed · l2 uri-miss collapsed (unseen) · l1 uri-miss collapsed',
  ]);
  assert.equal(answers[0]?.entry.etag, answers[1]?.entry.etag);
  assert.deepEqual(leases(made), ['taken', 'waited']);
  assert.equal(transcript(await other.search(made.prepare('shoes'))), 'hit-l1 · l1 hit');
});

test('a load that waits for another process holds no permit', async (t) => {
  const made = harness(t, { maxConcurrent: 1 });
  const letGo = held(made);
  const other = made.sibling();
  const first = made.search.search(made.prepare('shoes'));
  await idle();
  const second = other.search(made.prepare('shoes'));
  await idle();
  made.engine.answer = async (text) => pageOf(text);
  assert.equal((await other.search(made.prepare('boots'))).outcome, 'engine');
  letGo();
  await Promise.all([first, second]);
});

test('when the engine fails the first process, the waiting process asks the engine itself', async (t) => {
  const made = harness(t);
  const gate = Promise.withResolvers<void>();
  made.engine.answer = async () => {
    await gate.promise;
    throw new SearchError('engine-unavailable', 'lost');
  };
  const other = made.sibling();
  const first = assert.rejects(made.search.search(made.prepare('shoes')), SearchError);
  await idle();
  const second = other.search(made.prepare('shoes'));
  await idle();
  gate.resolve();
  await first;
  made.engine.answer = async (text) => pageOf(text);
  assert.equal((await second).outcome, 'engine');
  assert.deepEqual(made.store.leases.held(), []);
});

test('the lease is given back in every case: stored, too large, partial, failed', async (t) => {
  const made = harness(t, { maxEntryBytes: 900 });
  const ways: Record<string, () => Promise<unknown>> = {
    stored: () => made.search.search(made.prepare('stored')),
    large: () => made.search.search(made.prepare('large')),
    partial: () => made.search.search(made.prepare('partial')),
    failed: () => made.search.search(made.prepare('failed')).catch(() => undefined),
  };
  made.engine.answer = async (text) => {
    if (text === 'failed') throw new SearchError('engine-rejected', 'no');
    return text === 'large' ? pageOf('x'.repeat(2000)) : pageOf(text, text === 'partial' ? 'agent dead' : undefined);
  };
  for (const [way, go] of Object.entries(ways)) {
    await go();
    await idle();
    assert.deepEqual(made.store.leases.held(), [], way);
  }
});

test('a page that cannot be stored does not make the other processes wait one after another', async (t) => {
  const made = harness(t);
  const gate = Promise.withResolvers<void>();
  made.engine.answer = async (text) => {
    await gate.promise;
    return pageOf(text, 'agent dead');
  };
  const first = made.search.search(made.prepare('shoes'));
  await idle();
  const others = [made.sibling(), made.sibling()].map((process) => process.search(made.prepare('shoes')));
  await idle();
  gate.resolve();
  const outcomes = (await Promise.all([first, ...others])).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes, ['engine', 'engine', 'engine']);
  assert.equal(leases(made).filter((result) => result === 'passed').length, 2);
});

test('without the store every process asks the engine itself, at once', async (t) => {
  const made = harness(t);
  made.store.meet({ kind: 'fault', fault: 'node-open' });
  const other = made.sibling();
  await Promise.all([made.search.search(made.prepare('shoes')), other.search(made.prepare('shoes'))]);
  assert.equal(made.engine.asked.length, 2);
  assert.deepEqual(leases(made), ['open', 'open']);
});

test('waiters above the maximum are shed, and no waiter waits past its deadline', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const made = harness(t, { maxLeaseWaiters: 1, deadlineMs: 150 });
  held(made);
  const other = made.sibling();
  const pass = async (ms: number): Promise<void> => {
    made.clock.advance(ms);
    t.mock.timers.tick(ms);
    await idle();
  };
  const codes: string[] = [];
  const ask = (from: Searches, q: string): Promise<unknown> =>
    from.search(made.prepare(q)).catch((error: SearchError) => codes.push(error.code));
  const queries = ['a', 'b'];
  const asked = queries.map((q) => ask(made.search, q));
  await idle();
  await pass(50);
  asked.push(...queries.map((q) => ask(other, q)));
  await idle();
  assert.deepEqual(codes, ['overloaded'], 'at once');
  assert.ok(leases(made).includes('crowded'));
  await pass(100);
  assert.deepEqual(
    codes,
    ['overloaded', 'engine-deadline', 'engine-deadline'],
    'the two earlier searches are past their deadline',
  );
  await pass(49);
  assert.equal(codes.length, 3);
  await pass(1);
  assert.deepEqual(codes.slice(3), ['engine-deadline']);
  await Promise.all(asked);
});

test('a stale entry is refreshed once by the whole fleet', async (t) => {
  const made = harness(t);
  const fleet = [made.search, made.sibling(), made.sibling()];
  for (const process of fleet) await process.search(made.prepare('shoes'));
  assert.equal(made.engine.asked.length, 1);
  made.clock.advance(110_000);
  const letGo = held(made);
  for (const process of fleet) assert.equal((await process.search(made.prepare('shoes'))).outcome, 'stale');
  await idle();
  letGo();
  await idle();
  assert.equal(made.engine.asked.length, 2);
  // The other processes find the new page in the store at their next request.
  made.clock.advance(1500);
  for (const process of fleet) await process.search(made.prepare('shoes'));
  await idle();
  for (const process of fleet) assert.equal((await process.search(made.prepare('shoes'))).outcome, 'hit-l1');
  assert.equal(made.engine.asked.length, 2);
});

test('a process that lost its lease overwrites nothing', async (t) => {
  const made = harness(t);
  const letGo = held(made);
  const first = made.search.search(made.prepare('shoes'));
  await idle();
  made.store.leases.forget();
  letGo();
  assert.equal((await first).outcome, 'engine');
  await idle();
  assert.deepEqual(made.store.names(), []);
  assert.ok(leases(made).includes('fenced'));
});
