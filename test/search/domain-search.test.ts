import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { idle } from '../fakes/idle.ts';
import { type Harness, type HarnessOptions, harness } from './harness.ts';

/** A domain whose timers the test drives. */
function timed(t: TestContext, options: HarnessOptions): Harness & { readonly pass: (ms: number) => Promise<void> } {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const made = harness(t, options);
  return {
    ...made,
    pass: async (ms) => {
      for (let passed = 0; passed < ms; passed += 50) {
        made.clock.advance(50);
        t.mock.timers.tick(50);
        await idle();
      }
    },
  };
}

test('a popular page is refreshed ahead of need until the domain is closed', async (t) => {
  const { search, engine, clock, prepare, pass, close } = timed(t, { background: true });
  await search.search(prepare('диван'));
  clock.advance(90_000);
  await pass(500);
  assert.deepEqual(engine.asked, ['диван', 'диван']);
  clock.advance(90_000);
  close();
  await pass(500);
  assert.equal(engine.asked.length, 2);
});

test('a page that is outdated by decision is refreshed ahead of need, a refused page is not', async (t) => {
  for (const [verdict, searches] of [
    ['outdated', 2],
    ['suppressed', 1],
  ] as const) {
    await t.test(verdict, async (each) => {
      let decided = false;
      const judge = () => (decided ? verdict : 'whole');
      const rules = { generation: () => 1, judge, hides: () => undefined };
      const { search, engine, prepare, pass } = timed(each, { background: true, rules });
      await search.search(prepare('диван'));
      decided = true;
      await pass(500);
      assert.equal(engine.asked.length, searches);
    });
  }
});

test('a store that lost its data gets the pages of L1 back', async (t) => {
  const { search, store, prepare, pass } = timed(t, { background: true });
  await search.search(prepare('диван'));
  await pass(2000);
  store.lose();
  await pass(3000);
  assert.deepEqual(store.names(), [prepare('диван').storeName]);
});

test('the poll for lost data waits for the store as long as the engine’s deadline', async (t) => {
  const { store, pass } = timed(t, { background: true, deadlineMs: 700 });
  const epochs = t.mock.method(store, 'epochs');
  await pass(2000);
  assert.deepEqual([...new Set(epochs.mock.calls.map((call) => call.arguments[0]))], [700]);
});

test('without stale windows an entry past its fresh life is a miss', async (t) => {
  const { search, clock, prepare } = harness(t, { lifetimes: { staleWhileRevalidateMs: 0, staleIfErrorMs: 0 } });
  await search.search(prepare('диван'));
  clock.advance(100_001);
  const { outcome, reason } = await search.search(prepare('диван'));
  assert.deepEqual([outcome, reason], ['engine', 'expired']);
});
