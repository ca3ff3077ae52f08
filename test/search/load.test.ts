import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTiers } from '../../src/cache/tiers.ts';
import type { EnginePermit, Guard } from '../../src/resilience/guard.ts';
import { type NoPageReason, SearchError } from '../../src/resilience/search-error.ts';
import { prepareSearch } from '../../src/search/key.ts';
import { createLoadContext, createLoader, type Loader } from '../../src/search/load.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { LONG_LIVED } from '../fakes/entry.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { idle } from '../fakes/idle.ts';
import { scriptedEngine } from './harness.ts';

test('a caller of higher priority ends the attempt, so that another one begins; a caller of the same priority only moves the deadline', () => {
  const context = createLoadContext('refresh', 100);
  const first = context.attempt();
  context.escalate('refresh', 150);
  assert.equal(first.aborted, false);
  assert.equal(context.deadlineAtMs(), 150);
  assert.equal(context.hasNewWaiters(), true);
  context.escalate('interactive', 120);
  assert.equal(first.aborted, true);
  assert.deepEqual([context.priority(), context.deadlineAtMs()], ['interactive', 150]);
  assert.equal(context.attempt().aborted, false);
  assert.equal(context.hasNewWaiters(), false);
});

test('a cancelled load has no further attempt', () => {
  const context = createLoadContext('interactive', 100);
  context.cancel();
  assert.equal(context.cancelled(), true);
  assert.equal(context.attempt().aborted, true);
});

test('a load has begun here only when this process calls the engine', async () => {
  const context = createLoadContext('interactive', 100);
  context.begin('elsewhere');
  await context.begun;
  assert.equal(context.begunHere(), false);
  context.begin('here');
  assert.equal(context.begunHere(), true);
});

/** A loader with a guard that the test controls. */
function loaderHarness() {
  const clock = createFakeClock();
  const common = { domain: 'goods', lifetimes: LONG_LIVED, rules: unflushed, clock, observe: () => undefined };
  const memory = createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 });
  const tiers = createTiers({ ...common, memory, storeDeadlineMs: 50, maxEntryBytes: 1 << 16 });
  const engine = scriptedEngine();
  const asked: (Pick<Parameters<Guard['admit']>[0], 'priority'> & {
    readonly forMs: number;
    readonly admit: () => void;
    readonly shed: (reason: NoPageReason) => void;
  })[] = [];
  const permit: EnginePermit = {
    run: (call) => call(0, new AbortController().signal),
    leave: () => assert.fail('the permit was not used'),
  };
  const loader: Loader = createLoader({
    ...common,
    tiers,
    random: Math.random,
    compression: { coding: 'identity', minBytes: 0 },
    engines: [engine],
    guard: {
      admit: ({ priority, deadlineAtMs, signal }) =>
        new Promise((resolve, reject) => {
          const forMs = deadlineAtMs - clock.monotonicMs();
          asked.push({
            priority,
            forMs,
            admit: () => resolve(permit),
            shed: (reason) => reject(new SearchError(reason, undefined, { retryAfterMs: 7_777 })),
          });
          signal?.addEventListener('abort', () => reject(new SearchError('left')));
        }),
    },
    deadlineMs: 100,
  });
  const domain = { name: 'goods', attributes: [], context: [], answerProfile: 'p' };
  return { loader, asked, engine, clock, prepared: prepareSearch({ pairs: [['q', 'shoes']] }, [domain]) };
}

test('a client that joins a refresh makes it interactive, with an attempt of its own, and both get its page', async () => {
  const { loader, asked, engine, clock, prepared } = loaderHarness();
  const refresh = loader.refresh(prepared, { priority: 'refresh', readStore: false, newerThanMs: 0 });
  assert.equal(loader.isLoading(prepared.key), true);
  await idle();
  const client = loader.load(prepared, undefined, { deadlineAtMs: clock.monotonicMs() + 900 });
  await idle();
  assert.deepEqual([refresh.leads, client.leads, loader.size()], [true, false, 1]);
  assert.deepEqual(
    asked.map(({ priority, forMs }) => [priority, forMs]),
    [
      ['refresh', 100],
      ['interactive', 900],
    ],
  );
  asked.at(-1)?.admit();
  assert.equal((await client.result).entry, (await refresh.result).entry);
  assert.equal(loader.isLoading(prepared.key), false);
  assert.deepEqual(engine.asked, ['shoes']);
});

test('a load that the guard sheds fails with a SearchError, and its key is free again', async () => {
  const { loader, asked, prepared } = loaderHarness();
  const { result } = loader.load(prepared, undefined, { deadlineAtMs: 0 });
  const refused = assert.rejects(result, { name: 'SearchError', code: 'engine-open', retryAfterMs: 7_777 });
  await idle();
  asked.at(-1)?.shed('breaker-open');
  await refused;
  assert.equal(loader.isLoading(prepared.key), false);
});

test('a load that fails without a client is no unhandled rejection, and its key is free again', async () => {
  const { loader, asked, prepared } = loaderHarness();
  loader.load(prepared, undefined, { deadlineAtMs: 0 });
  await idle();
  asked.at(-1)?.shed('breaker-open');
  await idle();
  assert.equal(loader.size(), 0);
});
