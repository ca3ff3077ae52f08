import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { EntryRules, EntryVerdict } from '../../src/cache/invalidation.ts';
import type { ResultPage } from '../../src/search/engine.ts';
import { differenceOf } from '../../src/search/freshness-audit.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { idle } from '../fakes/idle.ts';
import { down, type Harness, type HarnessOptions, harness, pageOf } from './harness.ts';

const one = { id: '1', title: 'a sofa', snippet: 'soft', score: 2, attributes: { price: 5 } };
const two = { id: '2', title: 'a red sofa', snippet: 'red', score: 1, attributes: { price: 7 } };
const page: ResultPage = { total: 2, totalRelation: 'eq', results: [one, two], facets: { city: [] } };

test('the first reason that holds is told, and ranks alone are no difference', () => {
  const against = (change: Partial<ResultPage>) => differenceOf(page, { ...page, ...change });
  assert.equal(against({}), undefined);
  assert.equal(against({ results: [{ ...one, score: 9 }, two] }), undefined, 'a score');
  assert.equal(against({ results: [one, { ...two, attributes: { price: 6 } }], total: 3 }), 'changed');
  assert.equal(against({ results: [one, { ...two, title: 'a blue sofa' }] }), 'changed');
  assert.equal(against({ results: [one], total: 1 }), 'left');
  assert.equal(against({ results: [one, two, { ...two, id: '3' }], total: 3 }), 'entered');
  assert.equal(against({ total: 3 }), 'facet');
  assert.equal(against({ facets: { city: [{ value: 'Rome', count: 1 }] } }), 'facet');
  assert.equal(against({ results: [{ ...two, score: 3 }, one] }), 'unknown', 'another order');
  const equal = [{ ...two, score: 2 }, one];
  assert.equal(against({ results: equal }), undefined, 'another order of equal ranks');
});

/** A domain that audits every hit, whose tiers hold a page for `диван`. */
async function auditing(t: TestContext, options: HarnessOptions = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let verdict: EntryVerdict = 'whole';
  const rules: EntryRules = { ...unflushed, judge: () => verdict };
  const made = harness(t, { rules, audit: 1, ...options });
  const prepared = made.prepare('диван');
  await made.search.search(prepared);
  await idle();
  const hit = async (advanceMs = 100): Promise<void> => {
    made.clock.advance(advanceMs);
    await made.search.search(prepared);
    await idle();
  };
  return {
    ...made,
    hit,
    judge: (next: EntryVerdict): void => {
      verdict = next;
    },
    endGrace: async (): Promise<void> => {
      t.mock.timers.tick(1000);
      await idle();
    },
  };
}

const audits = ({ events }: Pick<Harness, 'events'>) =>
  events.flatMap((event) => (event.kind === 'audit' ? [event.result] : []));

const changed = (text: string): Promise<ResultPage> => {
  const own = pageOf(text);
  return Promise.resolve({ ...own, results: own.results.map((result) => ({ ...result, title: 'another' })) });
};

test('a hit that equals the page of the engine is reported as equal, at once', async (t) => {
  const made = await auditing(t);
  await made.hit();
  assert.deepEqual(audits(made), ['equal']);
  assert.equal(made.engine.asked.length, 2);
});

test('a stale hit is reported when the feed has not told it in its time, and the page is refreshed', async (t) => {
  const made = await auditing(t);
  made.engine.answer = changed;
  await made.hit();
  assert.deepEqual(audits(made), []);
  await made.endGrace();
  assert.deepEqual(audits(made), ['changed']);
  assert.ok(made.events.some((event) => event.kind === 'refresh' && event.result === 'from-engine'));
  await made.hit();
  assert.deepEqual(audits(made), ['changed', 'equal'], 'the page was replaced');
});

test('a page that the feed finds changed meanwhile is not reported', async (t) => {
  const made = await auditing(t);
  made.engine.answer = changed;
  await made.hit();
  made.judge('outdated');
  await made.endGrace();
  assert.deepEqual(audits(made), []);
});

test('one hit in N is compared, and no two within a moment', async (t) => {
  const made = await auditing(t, { audit: 3, random: () => 0.5 });
  for (let count = 0; count < 9; count += 1) await made.hit();
  assert.equal(audits(made).length, 3);
  for (let count = 0; count < 9; count += 1) await made.hit(1);
  assert.equal(audits(made).length, 3);
});

test('with the audit off the engine is asked for misses only', async (t) => {
  const off = await auditing(t, { audit: 0 });
  await off.hit();
  assert.equal(off.engine.asked.length, 1);
});

test('no permit that clients need is taken: a busy engine is not asked', async (t) => {
  const busy = await auditing(t, { maxConcurrent: 1 });
  busy.engine.answer = () => Promise.withResolvers<ResultPage>().promise;
  void busy.search.search(busy.prepare('стол')).catch(() => undefined);
  await busy.hit();
  assert.equal(busy.engine.asked.length, 2);
});

test('an engine that fails tells nothing about freshness', async (t) => {
  const made = await auditing(t);
  made.engine.answer = down;
  await made.hit();
  await made.endGrace();
  assert.deepEqual(audits(made), []);
});
