import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedStatus } from '../../../../src/changes/feed.ts';
import type { Window } from '../../../../src/operations/doctor/check.ts';
import { FEED_CHECKS } from '../../../../src/operations/doctor/checks/feed.ts';
import type { DomainFacts, StoreFacts } from '../../../../src/operations/doctor/facts.ts';
import { FAKE_FEED } from '../../../fakes/status.ts';
import {
  domainWith,
  raisedBy,
  seenIn,
  serviceWith,
  snapshotWith,
  stillWindow,
  storeWith,
  windowOf,
} from '../harness.ts';

type At = Partial<Omit<DomainFacts, 'feed'>> & { readonly feed?: Partial<FeedStatus> };

/** A domain with a feed, before and after a window. */
function feedWindow(after: At, before: At = {}, stores: readonly StoreFacts[] = []): Window {
  const at = ({ feed, ...change }: At) =>
    snapshotWith({
      stores,
      service: serviceWith({ domains: [domainWith({ ...change, feed: { ...FAKE_FEED, ...feed } })] }),
    });
  return windowOf(at(before), at(after));
}
const stateOf = (id: string, window: Window) => seenIn(`service-feed-${id}`, window).state;

test('a domain without a feed is no subject, and a quiet feed is no finding', () => {
  const without = stillWindow(snapshotWith({ service: serviceWith() }));
  assert.deepEqual(
    FEED_CHECKS.flatMap((check) => check.look(without)),
    [],
  );
  assert.deepEqual(raisedBy(FEED_CHECKS, feedWindow({})), []);
});

test('a feed is behind when its stream is not read, or a change of the window came late; not while the store is away', () => {
  assert.equal(stateOf('behind', feedWindow({ feed: { heardMsAgo: 6000 } })), 'raise');
  assert.equal(stateOf('behind', feedWindow({ feed: { heardMsAgo: 2000 } })), 'hold');
  assert.equal(stateOf('behind', feedWindow({ feed: { lagMs: 6000, changes: 41 } })), 'raise');
  assert.equal(stateOf('behind', feedWindow({ feed: { lagMs: 6000 } })), 'fine', 'the last change was long ago');
  const unread = { feed: { sourceFault: 'WRONGTYPE' } };
  assert.equal(stateOf('behind', feedWindow(unread, unread)), 'raise');
  assert.equal(stateOf('behind', feedWindow(unread)), 'hold', 'one read may fail');
  assert.equal(stateOf('behind', feedWindow({}, unread)), 'fine');
  const away = storeWith({ name: 'control store', nodes: { skipped: 'no node answers' } });
  assert.equal(stateOf('behind', feedWindow({ feed: { heardMsAgo: 6000 } }, {}, [away])), 'skipped');
});

test('a feed is silent when audits find changed documents and no change comes for long', () => {
  const HOUR = 3_600_000;
  const silent = (staleSinceChange: number, changedMsAgo: number | undefined) =>
    stateOf('silent', feedWindow({ staleSinceChange, feed: { changedMsAgo } }));
  assert.equal(silent(5, HOUR), 'raise');
  assert.equal(silent(5, undefined), 'raise');
  assert.equal(silent(5, 60_000), 'hold');
  assert.equal(silent(4, HOUR), 'hold');
  assert.equal(silent(0, HOUR), 'fine');
});

test('the memory is too short when pages in numbers are older than it; a gap is another reason', () => {
  const older = (coversMs: number | undefined, unknown: number, gaps = 1) => {
    const after = { changedPages: { unknown }, outcomes: { 'hit-l1': 1000 }, feed: { coversMs, gaps } };
    return stateOf('memory', feedWindow(after));
  };
  assert.equal(older(60_000, 10), 'raise');
  assert.equal(older(60_000, 9), 'skipped');
  assert.equal(older(60_000, 10, 2), 'fine');
  assert.equal(older(4_000_000, 10), 'fine');
  assert.equal(older(undefined, 10), 'fine');
});

test('changes fit no page when none of many was of one, or none with text entered one', () => {
  const outcomes = { 'hit-l1': 9000, 'hit-l2': 1000 };
  const [known, texts] = [10_000, 1000];
  const fits = (at: At) => stateOf('mismatch', feedWindow({ outcomes, ...at }));
  assert.equal(fits({ changedPages: { entered: 1 }, feed: { known, texts } }), 'raise');
  assert.equal(fits({ changedPages: { deleted: 1 }, feed: { known, texts } }), 'raise');
  assert.equal(fits({ changedPages: { deleted: 1, entered: 1 }, feed: { known, texts } }), 'fine');
  assert.equal(fits({ feed: { known: 9999, texts: 999 } }), 'fine');
  assert.equal(fits({ outcomes: { 'hit-l1': 9999 }, feed: { known, texts } }), 'skipped');
});
