import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Entry } from '../../src/cache/entry.ts';
import { createRefreshAhead, type RefreshAheadOptions } from '../../src/search/refresh.ts';
import { createFakeClock, type FakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { prepare } from './harness.ts';

const SECOND = 1000;
/** Due from 80 s on, stale from 100 s, for failures only from 150 s, expired at 600 s. */
const LIFE = { freshForMs: 100 * SECOND, revalidateForMs: 50 * SECOND, errorForMs: 500 * SECOND };

interface Scene {
  readonly clock: FakeClock;
  readonly held: Map<string, Entry>;
  readonly asked: Map<string, { count: number; error: number }>;
  spare: number;
  outdated: boolean;
  looks: number;
  readonly refreshed: string[];
  readonly hold: (text: string) => void;
  /** Lets so many ticks happen. */
  readonly ticks: (n?: number) => void;
  readonly close: () => void;
}

function scene(t: TestContext, options: Partial<RefreshAheadOptions> = {}): Scene {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const made: Scene = {
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
    popular: () =>
      [...made.asked]
        .map(([text, counts]) => ({ item: prepare([['q', text]]), ...counts }))
        .sort((one, other) => other.count - one.count),
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
    ...options,
  });
  t.after(ahead.close);
  return made;
}

test('a popular entry is refreshed in the last part of its fresh life, once until the page comes', (t) => {
  const { hold, asked, clock, ticks, refreshed } = scene(t);
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

test('a refresh that brought nothing is tried again after a while', (t) => {
  const { hold, asked, clock, ticks, refreshed } = scene(t);
  hold('диван');
  asked.set('диван', { count: 9, error: 0 });
  clock.advance(120 * SECOND);
  ticks(40);
  assert.equal(refreshed.length, 4, 'every 3 s of 10 s');
});

test('a stale entry is refreshed as long as it may be served at all; an expired or absent one is not', (t) => {
  const { hold, asked, clock, ticks, refreshed } = scene(t);
  for (const text of ['stale-if-error', 'absent', 'expired']) asked.set(text, { count: 9, error: 0 });
  hold('expired');
  clock.advance(500 * SECOND);
  hold('stale-if-error');
  clock.advance(200 * SECOND);
  ticks(20);
  assert.deepEqual([...new Set(refreshed)], ['stale-if-error']);
});

test('no more are begun than places are spare, by popularity × age; the others follow', (t) => {
  const made = scene(t);
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

test('without a place to spare nothing is even looked at', (t) => {
  const made = scene(t);
  made.hold('диван');
  made.asked.set('диван', { count: 9, error: 0 });
  made.clock.advance(120 * SECOND);
  made.spare = 0;
  made.ticks(10);
  assert.equal(made.looks, 0);
});

test('what nobody asked of late, or perhaps nobody ever asked twice, is left alone', (t) => {
  const { hold, asked, clock, ticks, refreshed } = scene(t);
  for (const text of ['forgotten', 'newcomer', 'popular']) hold(text);
  asked.set('forgotten', { count: 1.9, error: 0 });
  asked.set('newcomer', { count: 1000, error: 999 });
  asked.set('popular', { count: 1000, error: 997 });
  clock.advance(120 * SECOND);
  ticks(4);
  assert.deepEqual(refreshed, ['popular']);
});

test('the work of a tick is bounded, and goes to the most popular', (t) => {
  const made = scene(t, { maxLookedAt: 10 });
  for (let i = 0; i < 100; i += 1) {
    made.hold(`q${i}`);
    made.asked.set(`q${i}`, { count: 10 + i, error: 0 });
  }
  made.clock.advance(120 * SECOND);
  made.ticks();
  assert.equal(made.looks, 10);
  assert.deepEqual(
    made.refreshed,
    Array.from({ length: 10 }, (_, i) => `q${99 - i}`),
  );
});

test('closed, it does nothing more', (t) => {
  const made = scene(t);
  made.hold('диван');
  made.asked.set('диван', { count: 9, error: 0 });
  made.clock.advance(120 * SECOND);
  made.close();
  made.ticks(100);
  assert.deepEqual([made.looks, made.refreshed], [0, []]);
});

test('a page that was called outdated is computed anew however fresh it is', (t) => {
  const made = scene(t);
  made.hold('диван');
  made.asked.set('диван', { count: 5, error: 0 });
  made.ticks(2);
  assert.deepEqual(made.refreshed, []);
  made.outdated = true;
  made.ticks(2);
  assert.deepEqual(made.refreshed, ['диван']);
  made.close();
});
