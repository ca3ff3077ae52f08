import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Entry } from '../../src/cache/entry.ts';
import { createRefreshAhead } from '../../src/search/refresh.ts';
import { createFakeClock, type FakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { idle } from '../fakes/idle.ts';
import { harness, held, holding, prepare, transcript } from './harness.ts';

const SECOND = 1000;
/** Due from 80 s on, stale from 100 s, for failures only from 150 s, expired at 600 s. */
const LIFE = { freshForMs: 100 * SECOND, revalidateForMs: 50 * SECOND, errorForMs: 500 * SECOND };

interface AheadHarness {
  readonly clock: FakeClock;
  readonly held: Map<string, Entry>;
  readonly asked: Map<string, { count: number; error: number }>;
  spare: number;
  outdated: boolean;
  looks: number;
  readonly refreshed: string[];
  readonly hold: (text: string) => void;
  /** Lets `n` ticks happen. */
  readonly ticks: (n?: number) => void;
  readonly close: () => void;
}

function aheadHarness(t: TestContext): AheadHarness {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const made: AheadHarness = {
    clock,
    held: new Map(),
    asked: new Map(),
    spare: 100,
    outdated: false,
    looks: 0,
    refreshed: [],
    hold: (text) => made.held.set(text, entryOf(clock, LIFE)),
    ticks: (n = 1) => {
      for (let tick = 0; tick < n; tick += 1) {
        clock.advance(250);
        t.mock.timers.tick(250);
      }
    },
    close: () => ahead.close(),
  };
  const ahead = createRefreshAhead({
    popular: (n) =>
      [...made.asked]
        .map(([text, counts]) => ({ item: prepare([['q', text]]), ...counts }))
        .sort((one, other) => other.count - one.count)
        .slice(0, n),
    peek: (search) => {
      made.looks += 1;
      const entry = made.held.get(search.request.text);
      return entry && { entry, outdated: made.outdated };
    },
    refresh: (search, entry) => {
      assert.equal(entry, made.held.get(search.request.text));
      made.refreshed.push(search.request.text);
    },
    spare: () => made.spare,
    clock,
    random: () => 0.5,
  });
  t.after(ahead.close);
  return made;
}

test('a popular entry is refreshed once, in the last part of its fresh life', (t) => {
  const { hold, asked, clock, ticks, refreshed } = aheadHarness(t);
  hold('диван');
  asked.set('диван', { count: 9, error: 0 });
  clock.advance(79 * SECOND);
  ticks();
  assert.deepEqual(refreshed, []);
  clock.advance(SECOND);
  ticks();
  assert.deepEqual(refreshed, ['диван']);
  ticks(11);
  assert.deepEqual(refreshed, ['диван']);
  hold('диван');
  ticks(100);
  assert.deepEqual(refreshed, ['диван'], 'it is fresh again');
});

test('a refresh that brought no fresh page is tried again every 3 s', (t) => {
  const { hold, asked, clock, ticks, refreshed } = aheadHarness(t);
  hold('диван');
  asked.set('диван', { count: 9, error: 0 });
  clock.advance(120 * SECOND);
  ticks(40);
  assert.equal(refreshed.length, 4, 'every 3 s of 10 s');
});

test('a stale entry is refreshed as long as it may be served at all; an expired or absent one is not', (t) => {
  const { hold, asked, clock, ticks, refreshed } = aheadHarness(t);
  for (const text of ['stale-if-error', 'absent', 'expired']) asked.set(text, { count: 9, error: 0 });
  hold('expired');
  clock.advance(500 * SECOND);
  hold('stale-if-error');
  clock.advance(200 * SECOND);
  ticks(20);
  assert.deepEqual([...new Set(refreshed)], ['stale-if-error']);
});

test('no more refreshes begin than permits are spare, in the order popularity × age; the others follow', (t) => {
  const made = aheadHarness(t);
  const { hold, asked, clock, ticks, refreshed } = made;
  hold('old');
  clock.advance(60 * SECOND);
  hold('popular');
  hold('both less');
  clock.advance(85 * SECOND);
  asked.set('old', { count: 10, error: 0 });
  asked.set('popular', { count: 20, error: 0 });
  asked.set('both less', { count: 15, error: 0 });
  made.spare = 1.9;
  ticks();
  assert.deepEqual(refreshed, ['popular'], '20 × 85 before 10 × 145 before 15 × 85');
  ticks();
  assert.deepEqual(refreshed, ['popular', 'old']);
  made.spare = 0;
  ticks(3);
  assert.equal(refreshed.length, 2);
  made.spare = 5;
  ticks();
  assert.deepEqual(refreshed, ['popular', 'old', 'both less']);
});

test('without a spare permit no entry is checked', (t) => {
  const made = aheadHarness(t);
  made.hold('диван');
  made.asked.set('диван', { count: 9, error: 0 });
  made.clock.advance(120 * SECOND);
  made.spare = 0;
  made.ticks(10);
  assert.equal(made.looks, 0);
});

test('a query that was not asked recently, or may have been asked only once, is not refreshed', (t) => {
  const { hold, asked, clock, ticks, refreshed } = aheadHarness(t);
  for (const text of ['forgotten', 'newcomer', 'popular']) hold(text);
  asked.set('forgotten', { count: 1.9, error: 0 });
  asked.set('newcomer', { count: 1000, error: 999 });
  asked.set('popular', { count: 1000, error: 997 });
  clock.advance(120 * SECOND);
  ticks(4);
  assert.deepEqual(refreshed, ['popular']);
});

test('a tick checks a bounded number of queries, the most popular ones', (t) => {
  const made = aheadHarness(t);
  made.spare = 10;
  for (let i = 0; i < 300; i += 1) {
    made.hold(`q${i}`);
    made.asked.set(`q${i}`, { count: 10 + i, error: 0 });
  }
  made.clock.advance(120 * SECOND);
  made.ticks();
  assert.equal(made.looks, 200);
  assert.deepEqual(
    made.refreshed,
    Array.from({ length: 10 }, (_, i) => `q${299 - i}`),
  );
});

test('after close() nothing is checked or refreshed', (t) => {
  const made = aheadHarness(t);
  made.hold('диван');
  made.asked.set('диван', { count: 9, error: 0 });
  made.clock.advance(120 * SECOND);
  made.close();
  made.ticks(100);
  assert.deepEqual([made.looks, made.refreshed], [0, []]);
});

test('an outdated page is refreshed even while it is fresh', (t) => {
  const made = aheadHarness(t);
  made.hold('диван');
  made.asked.set('диван', { count: 5, error: 0 });
  made.ticks(2);
  assert.deepEqual(made.refreshed, []);
  made.outdated = true;
  made.ticks(2);
  assert.deepEqual(made.refreshed, ['диван']);
  made.close();
});

test('a warm-up computes a missing page once, and finds cached pages in either tier', async (t) => {
  const { search, sibling, engine, prepare, warm } = harness(t);
  assert.equal(await warm(prepare('диван')), 'computed');
  assert.equal(await warm(prepare('диван')), 'cached');
  assert.equal((await search.search(prepare('диван'))).outcome, 'hit-l1');
  const other = sibling();
  assert.equal((await other.search(prepare('диван'))).outcome, 'hit-l2');
  assert.deepEqual(engine.asked, ['диван']);
});

test('a warm-up yields to clients: with every permit taken it waits, and is refused at its deadline', async (t) => {
  const { search, engine, prepare, warm } = harness(t, { maxConcurrent: 1, deadlineMs: 60 });
  const going = Promise.withResolvers<never>();
  engine.answer = () => going.promise;
  const client = search.search(prepare('диван')).catch(() => 'late');
  await assert.rejects(warm(prepare('кресло')), { name: 'SearchError', code: 'overloaded' });
  assert.deepEqual(engine.asked, ['диван']);
  going.reject(new Error('over'));
  await client;
});

test('a client joins the warm-up of its search', async (t) => {
  const { search, engine, prepare, warm } = harness(t);
  const warming = warm(prepare('диван'));
  const answer = await search.search(prepare('диван'));
  assert.deepEqual([await warming, answer.outcome], ['computed', 'collapsed']);
  assert.deepEqual(engine.asked, ['диван']);
});

test('a warm-up computes a stale page again', async (t) => {
  const { prepare, warm } = await holding(t, 110_000);
  assert.equal(await warm(prepare('диван')), 'computed');
});

test('a refresh waits in the queue as long as a client would', async (t) => {
  const { search, engine, prepare, events, ask } = await holding(t, 110_000, { maxConcurrent: 1 });
  const release = held({ engine });
  const holder = search.search(prepare('занято'));
  await idle();
  assert.equal((await ask()).outcome, 'stale');
  await idle();
  release();
  await holder;
  await idle();
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'refresh' ? [event.result] : [])),
    ['from-engine'],
  );
  assert.equal(transcript(await ask()), 'hit-l1 · l1 hit');
});
