import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheStatus } from '../../src/http/search-api/response-headers.ts';
import type { Answer } from '../../src/search/answer.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

const entry = entryOf(createFakeClock());
const status = (parts: Partial<Answer>): string =>
  cacheStatus({ entry, outcome: 'engine', remainingMs: 287_900, l1: { kind: 'hit' }, timings: {}, ...parts });

test('an L1 hit says how long it is fresh, in whole seconds', () => {
  assert.equal(status({}), 'serpcache-l1; hit; ttl=287');
});

test('the member nearest the origin comes first', () => {
  assert.equal(
    status({ l2: { kind: 'hit' }, l1: { kind: 'forward', why: 'uri-miss' } }),
    'serpcache-l2; hit; ttl=287, serpcache-l1; fwd=uri-miss',
  );
});

test('a miss says where it was stored, that it was collapsed, and why it missed', () => {
  const missed = { kind: 'forward', why: 'uri-miss', stored: true } as const;
  assert.equal(
    status({ l2: { ...missed, detail: 'unseen' }, l1: { ...missed, collapsed: true } }),
    'serpcache-l2; fwd=uri-miss; stored; detail=unseen, serpcache-l1; fwd=uri-miss; stored; collapsed',
  );
});

test('a stale hit has a negative ttl, at once', () => {
  assert.equal(status({ remainingMs: -200 }), 'serpcache-l1; hit; ttl=-1');
  assert.equal(status({ remainingMs: -12_000 }), 'serpcache-l1; hit; ttl=-12');
});

test('stale after a failure names what the engine call ended in', () => {
  assert.equal(
    status({ l1: { kind: 'forward', why: 'stale', forwardStatus: 504 }, remainingMs: -12_000 }),
    'serpcache-l1; fwd=stale; fwd-status=504',
  );
});
