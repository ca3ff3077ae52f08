import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ComposedEngine, composeEngine, indexFileOf } from '../../src/compose-engine.ts';
import { buildIndex } from '../../src/engines/sqlite/build.ts';
import { type GuardEvent, Shed } from '../../src/resilience/guard.ts';
import { systemClock } from '../../src/runtime.ts';
import { EngineError } from '../../src/search/engine.ts';
import { DOMAIN, temporaryDirectory, titled } from '../engines/sqlite/catalogue.ts';

interface Outage extends ComposedEngine {
  /** States of its breaker until it has closed again. */
  readonly untilClosed: Promise<readonly string[]>;
  readonly ask: <T>(call: () => Promise<T>) => Promise<T>;
}

/** An engine that answers its probe, before it a breaker that failing calls have opened. */
async function outage(t: TestContext, forcedOpen: () => boolean = () => false): Promise<Outage> {
  const directory = await temporaryDirectory(t);
  const file = indexFileOf(directory, DOMAIN.name);
  await buildIndex({ file, domain: DOMAIN, documents: titled('чайник'), builtAtMs: 0 });
  const states: string[] = [];
  const closed = Promise.withResolvers<readonly string[]>();
  const observeGuard = (event: GuardEvent): void => {
    if (event.kind !== 'breaker') return;
    states.push(event.state);
    if (event.state === 'closed') closed.resolve(states);
  };
  const engine = {
    kind: 'sqlite',
    directory,
    workers: 1,
    demo: false,
    deadlineMs: 1000,
    hardDeadlineMs: 1000,
    maxConcurrent: 20,
    maxQueued: 20,
    limit: 'fixed',
    snippetLength: 200,
  } as const;
  const composed = await composeEngine(
    { name: DOMAIN.name, engine, patienceMs: 2000, disabledDefences: [] },
    DOMAIN,
    fleet,
    {
      clock: systemClock,
      // The ordinary probe then comes later than the search that an open breaker lets through.
      random: () => 0.999,
      observeEngine: () => undefined,
      observeGuard,
      forcedOpen,
    },
  );
  t.after(composed.close);
  // One worker: the probe that is sent at the start has been answered before this one.
  await composed.engines[0]?.probe(AbortSignal.timeout(20_000));
  const ask: Outage['ask'] = async (call) => {
    const deadlineAtMs = systemClock.monotonicMs() + 1000;
    return (await composed.guard.admit({ deadlineAtMs, priority: 'people' })).run(call);
  };
  const down = async (): Promise<never> => Promise.reject(new EngineError('engine-unavailable', 'refused'));
  await Promise.all(Array.from({ length: 20 }, () => assert.rejects(ask(down), EngineError)));
  assert.equal(composed.guard.endpoints.state(), 'open');
  return { ...composed, ask, untilClosed: closed.promise };
}

const fleet = { live: () => 1, rank: () => 0 };

test('the breaker of an engine that answers its probe closes before any search is let through, and the ramp begins', async (t) => {
  const { untilClosed, guard, revivals, ask } = await outage(t);
  assert.deepEqual(await untilClosed, ['open', 'closed']);
  assert.deepEqual([revivals(), guard.troubled()], [1, true]);
  assert.ok(guard.permit.max() < 20, `${guard.permit.max()} at once`);
  assert.equal(await ask(async () => 'ok'), 'ok');
});

test("a drill's blackout outlasts the closing of the breaker", async (t) => {
  let dead = false;
  const { untilClosed, guard, ask } = await outage(t, () => dead);
  dead = true;
  await untilClosed;
  assert.equal(guard.troubled(), true);
  await assert.rejects(
    ask(async () => assert.fail('must not be asked')),
    (error) => error instanceof Shed && error.why === 'breaker-open',
  );
});

test('an endpoint that comes back beside another one that was up all the while begins no ramp', async (t) => {
  const nobody = { host: '127.0.0.1', port: 9 };
  const engine = {
    kind: 'sphinx',
    endpoints: [nobody, nobody],
    ...{ index: 'goods', ranker: 'bm25' },
    ...{ connectTimeoutMs: 1000, maxMatches: 1000, deadlineMs: 1000, hardDeadlineMs: 1000 },
    ...{ maxConcurrent: 20, maxQueued: 20, snippetLength: 200 },
    limit: 'fixed',
  } as const;
  const { guard, health, revivals, close } = await composeEngine(
    { name: DOMAIN.name, engine, patienceMs: 2000, disabledDefences: [] },
    DOMAIN,
    fleet,
    {
      clock: systemClock,
      random: Math.random,
      observeEngine: () => undefined,
      observeGuard: () => undefined,
      forcedOpen: () => false,
    },
  );
  t.after(close);
  while (health.reachable().includes(true)) await new Promise((done) => setTimeout(done, 5));
  guard.endpoints.probed(0, true);
  guard.endpoints.probed(1, true);
  const call = async (endpoint: number): Promise<string> => {
    if (endpoint === 1) return 'ok';
    throw new EngineError('engine-timeout', 'no reply');
  };
  for (let calls = 0; calls < 100 && guard.endpoints.list()[0]?.breaker === 'closed'; calls += 1) {
    const deadlineAtMs = systemClock.monotonicMs() + 1000;
    await (await guard.admit({ deadlineAtMs, priority: 'people' })).run(call).catch(() => undefined);
  }
  assert.deepEqual(
    guard.endpoints.list().map(({ breaker }) => breaker),
    ['open', 'closed'],
  );
  guard.endpoints.probed(0, true);
  assert.deepEqual([revivals(), guard.permit.max(), guard.troubled()], [1, 20, false]);
});
