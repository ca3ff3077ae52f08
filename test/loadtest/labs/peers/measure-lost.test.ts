import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpDriven } from '../../../../loadtest/http-driver/plan.ts';
import { answersOf, searchesOf, stampededOf } from '../../../../loadtest/labs/peers/losing.ts';

/** Only 20 of 30 pages were answered, those 400 times. */
const BURST: HttpDriven = {
  requests: 500,
  seconds: 3,
  outcomes: { 200: 400, 503: 90 },
  hung: 10,
  pathsServed: 20,
  bodyBytes: 1,
  servedMs: { p50: 210, p99: 250, p999: 250, max: 300 },
  failedMs: { p50: 3, p99: 9, p999: 9, max: 12 },
};

test('engine queries are divided by the number of answered pages, and times are of answered pages only', () => {
  const { failedShare, ...exact } = stampededOf(BURST, { searches: 60, purgeRefusals: 4 });
  assert.deepEqual(exact, {
    queriesPerKey: 3,
    p50Ms: 210,
    p99Ms: 250,
    outcome: '200, 90 of 500 503, 10 of 500 hung',
    purgeRefusals: 4,
  });
  assert.equal(failedShare.toFixed(6), '0.200000');
});

test('searches that follow the answers are counted until a whole pause has none', async () => {
  let [searches, pauses] = [7, 0];
  // Searches of the second stampede, which begins afterwards, are not waited for.
  const later = [3, 2, 0, 100];
  const counted = await searchesOf(
    { searches: () => searches },
    async () => {
      searches += 10;
      return 'answers';
    },
    async () => {
      searches += later[pauses] ?? 0;
      pauses += 1;
    },
  );
  assert.deepEqual([counted, pauses], [{ result: 'answers', searches: 15 }, 3]);
});

const answers = (served: number, more: Partial<HttpDriven> = {}): HttpDriven => ({
  requests: 20,
  seconds: 1,
  outcomes: { 200: served, 503: 20 - served },
  hung: 0,
  pathsServed: 1,
  bodyBytes: 1,
  servedMs: { p50: 1, p99: 5, p999: 5, max: 6 },
  ...more,
});

test('without an engine, the result has the share of each kind of page, the times of expired ones and the refusal time', () => {
  const unseen = { requests: 20, seconds: 1, outcomes: { 503: 20 }, hung: 0, pathsServed: 0, bodyBytes: 0 };
  const failedMs = { p50: 40, p99: 90, p999: 90, max: 99 };
  const of = { fresh: answers(19), expired: answers(15), unseen: { ...unseen, failedMs } };
  const expected = { freshShare: 0.95, expiredShare: 0.75, expiredP99Ms: 5, unseenOutcome: '503', unseenP50Ms: 40 };
  assert.deepEqual(answersOf(of), expected);
  assert.deepEqual(answersOf({ ...of, fresh: undefined }), { ...expected, freshShare: undefined });
  // An unknown page that was served after all is not a refusal.
  assert.equal(answersOf({ ...of, unseen: answers(1, { failedMs }) }).unseenP50Ms, 40);
  assert.equal(answersOf({ ...of, unseen: answers(20) }).unseenP50Ms, 1);
  assert.equal(answersOf({ ...of, unseen: { ...unseen, outcomes: {}, hung: 20 } }).unseenP50Ms, undefined);
});
