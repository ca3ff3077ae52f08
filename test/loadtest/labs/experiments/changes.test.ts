import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ChangesMeasured,
  type ChangesRow,
  changes,
  queriesBeside,
} from '../../../../loadtest/labs/experiments/changes.ts';
import { claimOf, figureOf } from './harness.ts';

function row(own: Partial<ChangesRow> & Pick<ChangesRow, 'name' | 'rate'>): ChangesRow {
  return {
    answers: 1000,
    outcomes: new Map([
      ['hit-l1', 700],
      ['hit-l2', 100],
      ['stale', 120],
      ['engine', 80],
    ]),
    errors: new Map(),
    refused: new Map(),
    sampled: 200,
    pageWrong: 0,
    countsWrong: 0,
    wrong: 0,
    reordered: 0,
    ages: [],
    deletedShown: 0,
    deletedShownBy: new Map(),
    deletedShownExcused: 0,
    longestShownMs: 0,
    refreshed: 50,
    sameEtag: 10,
    sameSeen: 12,
    lagMs: 3,
    changesPerSecond: own.rate,
    longestChangeMs: 40,
    sales: 5000,
    engineQueries: 200,
    pagesChanged: { deleted: 1, changed: 2, entered: 3, unknown: 0 },
    gaps: 0,
    ...own,
  };
}

const MEMORY = { changes: 0, seconds: 20, longestGcMs: 10, gcMsPerSecond: 2, rssMiddle: 1e8, rssEnd: 1e8 };

function measured(own: Partial<Record<'miss' | 'ttl' | 'bare', Partial<ChangesRow>>>): ChangesMeasured {
  return {
    documents: 100_000,
    rows: [
      row({ name: 'feed, miss', rate: 1000, ...own.miss }),
      row({ name: 'TTL of 1 s', rate: 1000, engineQueries: 500, wrong: 1, ...own.ttl }),
      row({ name: 'no invalidation', rate: 1000, ...own.bare }),
    ],
    faults: [{ name: 'killed', sold: 100, shownAfter: 0, shownMeanwhile: undefined }],
    memory: [MEMORY, { ...MEMORY, changes: 5600 }, { ...MEMORY, changes: 1_000_000 }],
  };
}

test('right answers, few queries and no deleted document: it holds', () => {
  const found = changes.findingOf(measured({}));
  assert.equal(found.verdict, 'yes');
  assert.equal(figureOf(found, /right answers, 1,000/), 1);
  assert.equal(figureOf(found, /^engine queries/), 0.4);
});

test('one deleted document that is shown late is enough for no', () => {
  assert.equal(changes.findingOf(measured({ miss: { deletedShown: 1 } })).verdict, 'no');
});

test('a deleted document that is shown after a fault is enough for no', () => {
  const after = { ...measured({}), faults: [{ name: 'stopped', sold: 100, shownAfter: 1, shownMeanwhile: undefined }] };
  assert.equal(changes.findingOf(after).verdict, 'no');
});

test('two wrong answers of two hundred are too many, and one is not', () => {
  assert.deepEqual(claimOf(changes.findingOf(measured({ miss: { wrong: 2 } })), /^right answers/), [0.99, false]);
  assert.deepEqual(claimOf(changes.findingOf(measured({ miss: { wrong: 1 } })), /^right answers/), [0.995, true]);
});

test('engine queries are compared with the cheapest TTL of as many right answers, else with a query for each answer', () => {
  const feed = row({ name: 'feed, miss', rate: 100 });
  const short = row({ name: 'TTL of 1 s', rate: 100, engineQueries: 800, wrong: 1 });
  const long = row({ name: 'TTL of 10 s', rate: 100, engineQueries: 400, wrong: 3 });
  assert.equal(queriesBeside(feed, [feed, short, long]), 0.25);
  assert.equal(queriesBeside(feed, [feed, { ...short, rate: 1000 }, long]), 0.2);
  assert.equal(queriesBeside(feed, [feed, short, { ...long, wrong: 0 }]), 0.5);
});

test('the age of a wrong page is that of the slowest hundredth', () => {
  const ages = Array.from({ length: 100 }, (_, at) => (at < 98 ? 100 : 5000));
  assert.deepEqual(claimOf(changes.findingOf(measured({ miss: { ages } })), /^age of a wrong page/), [5000, false]);
  assert.deepEqual(claimOf(changes.findingOf(measured({})), /^age of a wrong page/), [0, true]);
});
