import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createPopularity } from '../../src/popularity/popularity.ts';
import {
  type CounterStore,
  createSharedPopularity,
  type PopularityEvent,
  type QueryCount,
} from '../../src/popularity/shared.ts';
import { createFakeClock } from '../fakes/clock.ts';

/** The shared counts of one process, with mock timers. */
function start(t: TestContext, given: { random?: () => number; hasCounters?: boolean } = {}) {
  const { random = () => 0.5, hasCounters = true } = given;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const local = createPopularity<string>({ maxQueries: 1000, halfLifeMs: 60_000, clock: createFakeClock() });
  const added: (readonly QueryCount[])[] = [];
  const events: PopularityEvent[] = [];
  const replies: ((taken: boolean) => void)[] = [];
  const script = { taken: 'yes' as 'yes' | 'later', top: undefined as readonly QueryCount[] | undefined };
  const counters: CounterStore = {
    add: (domain, counts, deadlineMs) => {
      assert.deepEqual([domain, deadlineMs], ['goods', 200]);
      added.push(counts);
      return script.taken === 'yes' ? Promise.resolve(true) : new Promise((resolve) => replies.push(resolve));
    },
    top: async () => script.top,
  };
  const shared = createSharedPopularity({
    domain: 'goods',
    local,
    searchOf: (item) => (item.startsWith('!') ? undefined : `q=${item}`),
    counters: hasCounters ? counters : undefined,
    random,
    observe: (event) => events.push(event),
  });
  t.after(() => shared.close());
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const note = (...items: string[]): void => {
    for (const item of items) local.note(item, item);
  };
  return { shared, script, added, events, replies, pass, note };
}

test('each round adds the notes since the last one, and sends nothing without notes', async (t) => {
  const { added, events, pass, note } = start(t);
  note('a', 'b', 'b');
  await pass(5000);
  assert.deepEqual(added, [
    [
      { search: 'q=b', count: 2 },
      { search: 'q=a', count: 1 },
    ],
  ]);
  await pass(20);
  assert.deepEqual(events, [{ kind: 'popularity-added', domain: 'goods', queries: 2 }]);
  await pass(5000);
  note('a');
  await pass(5000);
  assert.deepEqual(added.slice(1), [[{ search: 'q=a', count: 1 }]]);
});

test('a search without a text, or with a long one, is not counted', async (t) => {
  const { added, pass, note } = start(t);
  note('!odd', 'ж'.repeat(600), 'fine');
  await pass(5000);
  assert.deepEqual(added, [[{ search: 'q=fine', count: 1 }]]);
});

test('a round sends 384 queries at most, the most popular first, in batches of 128 with pauses; the rest follows in the next round', async (t) => {
  const { added, events, pass, note } = start(t);
  for (let i = 0; i < 400; i += 1) note(`k${i}`);
  note('k399');
  await pass(5000);
  assert.equal(added.length, 1);
  await pass(19);
  assert.equal(added.length, 1, 'the next batch waits for the pause');
  await pass(1);
  await pass(20);
  await pass(20);
  assert.deepEqual(
    [added.map(({ length }) => length), added[0]?.[0]],
    [[128, 128, 128], { search: 'q=k399', count: 2 }],
  );
  assert.deepEqual(events, [{ kind: 'popularity-added', domain: 'goods', queries: 384 }]);
  await pass(5000);
  assert.equal(added[3]?.length, 16);
});

test('a slow store gets one round at a time, and counts that it does not take are dropped and reported', async (t) => {
  const { script, added, events, replies, pass, note } = start(t);
  script.taken = 'later';
  for (let i = 0; i < 300; i += 1) note(`k${i}`);
  await pass(5000);
  await pass(60_000);
  assert.equal(added.length, 1);
  replies[0]?.(true);
  await pass(0);
  await pass(20);
  assert.equal(added.length, 2);
  replies[1]?.(false);
  await pass(0);
  assert.deepEqual(events, [
    { kind: 'popularity-added', domain: 'goods', queries: 128 },
    { kind: 'popularity-dropped', domain: 'goods', queries: 172 },
  ]);
  script.taken = 'yes';
  note('new');
  await pass(5000);
  assert.deepEqual(added[2], [{ search: 'q=new', count: 1 }]);
});

test('rounds are spread by 20 % either way', async (t) => {
  const { added, pass, note } = start(t, { random: () => 0 });
  note('a');
  await pass(3999);
  assert.equal(added.length, 0);
  await pass(1);
  assert.equal(added.length, 1);
});

test('the top is that of the fleet, or of this process while the store is away', async (t) => {
  const { shared, script, note } = start(t);
  note('mine', 'mine', '!odd');
  const mine = { source: 'process', queries: [{ search: 'q=mine', count: 2 }] };
  assert.deepEqual(await shared.top(5), mine);
  script.top = [{ search: 'q=theirs', count: 7 }];
  assert.deepEqual(await shared.top(5), { source: 'fleet', queries: script.top });
});

test('without a counter store there are no rounds, and the top is that of this process', async (t) => {
  const { shared, added, pass, note } = start(t, { hasCounters: false });
  note('mine');
  await pass(60_000);
  assert.deepEqual(await shared.top(5), { source: 'process', queries: [{ search: 'q=mine', count: 1 }] });
  assert.deepEqual(added, []);
});

test('close does not wait, ends all sending and leaves no timer', async (t) => {
  const { shared, script, added, replies, pass, note } = start(t);
  script.taken = 'later';
  for (let i = 0; i < 200; i += 1) note(`k${i}`);
  await pass(5000);
  shared.close();
  replies[0]?.(true);
  await pass(0);
  await pass(60_000);
  assert.equal(added.length, 1);
});
