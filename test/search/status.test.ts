import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoreNode, StoreReason } from '../../src/cache/store.ts';
import type { BreakerState } from '../../src/resilience/endpoints.ts';
import { type StatusParts, statusOf } from '../../src/search/status.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeStore } from '../fakes/store.ts';

interface Parts {
  readonly breaker?: BreakerState;
  readonly reachable?: boolean;
  readonly failing?: boolean;
  readonly nodes?: readonly StoreNode[];
  /** State of its breaker. */
  readonly lifeboat?: BreakerState;
}

const UP: StoreNode = { node: 'a:1', breaker: 'closed', connected: true, outstanding: 0 };
const OPEN: StoreNode = { ...UP, breaker: 'open' };
const CUT: StoreNode = { ...UP, connected: false };
const HALF_OPEN: StoreNode = { ...UP, breaker: 'half-open' };
const READ_ONLY: StoreNode = { ...UP, trouble: 'read-only' };

function figures(
  breaker: BreakerState,
  failing = false,
): Omit<StatusParts, 'domain' | 'engineKind' | 'memory' | 'health'> {
  return {
    guard: {
      failing: () => failing,
      balancer: {
        state: () => breaker,
        refuses: () => breaker === 'open',
        list: () => [{ name: 'a:1', breaker, inFlight: 3 }],
      },
      limiter: { inFlight: () => 3, queued: () => 2, max: () => 4, overdue: () => 0, overloaded: () => false },
    },
    forcedOpen: () => false,
    ceiling: () => 6,
    controlStanding: () => 'ok',
    processes: () => 3,
    leaseWaiters: () => 7,
    loads: () => 5,
  };
}

/** The status of a domain whose parts are well, but for those given. */
const statusWith = (parts: Partial<StatusParts>) =>
  statusOf({
    domain: 'goods',
    engineKind: 'fake',
    memory: createMemoryTier({ maxBytes: 1000, emptyMaxBytes: 100 }),
    ...figures('closed'),
    health: { reachable: () => [true] },
    ...parts,
  });

/** `domain / engine / store`. */
function states({ breaker = 'closed', reachable = true, failing = false, nodes, lifeboat }: Parts): string {
  const status = statusWith({
    store: nodes && { ...createFakeStore(), nodes: () => nodes },
    ...figures(breaker, failing),
    lifeboat: lifeboat && figures(lifeboat).guard,
    health: { reachable: () => [reachable] },
  });
  return `${status.state} / ${status.engine.state} / ${status.store?.state ?? 'none'}`;
}

const TABLE: readonly (readonly [string, Parts, string])[] = [
  ['all well', { nodes: [UP, UP] }, 'ok / ok / ok'],
  ['all well, no store', {}, 'ok / ok / none'],
  ['breaker open, store up', { breaker: 'open', nodes: [UP] }, 'degraded / down / ok'],
  ['breaker open, store partly up', { breaker: 'open', nodes: [UP, OPEN] }, 'degraded / down / degraded'],
  ['breaker open, store down', { breaker: 'open', nodes: [OPEN, CUT] }, 'down / down / down'],
  ['breaker open, no store', { breaker: 'open' }, 'down / down / none'],
  ['unreachable, breaker closed', { reachable: false, nodes: [UP] }, 'degraded / down / ok'],
  ['unreachable, breaker half-open', { reachable: false, breaker: 'half-open' }, 'down / down / none'],
  ['unreachable, no store', { reachable: false }, 'down / down / none'],
  ['breaker half-open', { breaker: 'half-open', nodes: [UP] }, 'degraded / degraded / ok'],
  ['every search fails', { failing: true, nodes: [UP] }, 'degraded / degraded / ok'],
  ['every search fails, no store', { failing: true }, 'degraded / degraded / none'],
  ['every search fails, store down', { failing: true, nodes: [CUT] }, 'degraded / degraded / down'],
  ['one node open', { nodes: [UP, OPEN] }, 'degraded / ok / degraded'],
  ['one node cut off', { nodes: [CUT, UP] }, 'degraded / ok / degraded'],
  ['a node that is probed is up', { nodes: [HALF_OPEN] }, 'ok / ok / ok'],
  ['a node that refuses writes', { nodes: [READ_ONLY] }, 'degraded / ok / degraded'],
  ['every node open or cut off', { nodes: [OPEN, CUT] }, 'degraded / ok / down'],
  ['breaker open, no store, a lifeboat', { breaker: 'open', lifeboat: 'closed' }, 'degraded / down / none'],
  ['breaker open, no store, the lifeboat open too', { breaker: 'open', lifeboat: 'open' }, 'down / down / none'],
  ['no node known yet', { nodes: [] }, 'degraded / ok / down'],
];

for (const [what, parts, expected] of TABLE) {
  test(`${what}: domain / engine / store are ${expected}`, () => {
    assert.equal(states(parts), expected);
  });
}

test('a store that is not whole carries the reasons of its nodes and of the search for them, each once', () => {
  const reasonsWith = (nodes: readonly StoreNode[], trouble?: StoreReason) =>
    statusWith({ store: { ...createFakeStore(), nodes: () => nodes, trouble: () => trouble } }).store?.reasons;
  assert.deepEqual(reasonsWith([UP]), []);
  assert.deepEqual(reasonsWith([READ_ONLY, UP]), ['read-only']);
  assert.deepEqual(reasonsWith(Array(2).fill({ ...CUT, trouble: 'refused' })), ['refused']);
  assert.deepEqual(reasonsWith([], 'credentials'), ['credentials']);
});

test('the status carries the figures of its parts', () => {
  const status = statusWith({ engineKind: 'sphinx', ...figures('half-open') });
  const { engine, loads, domain, processes, leaseWaiters } = status;
  assert.deepEqual([domain, loads, processes, leaseWaiters], ['goods', 5, 3, 7]);
  assert.deepEqual(engine, {
    state: 'degraded',
    kind: 'sphinx',
    breaker: 'half-open',
    reachable: true,
    endpoints: [{ name: 'a:1', breaker: 'half-open', inFlight: 3, reachable: true }],
    inFlight: 3,
    queued: 2,
    maxConcurrent: 4,
    ceiling: 6,
    forcedOpen: false,
    overdue: 0,
    overloaded: false,
  });
});

test('a domain whose control document was never read or is corrupt is degraded', () => {
  for (const [standing, state] of [
    ['ok', 'ok'],
    ['away', 'ok'],
    ['unheard', 'degraded'],
    ['corrupt', 'degraded'],
  ] as const) {
    const status = statusWith({ controlStanding: () => standing });
    assert.deepEqual([status.state, status.controlStanding], [state, standing]);
  }
});
