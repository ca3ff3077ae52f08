import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { EngineSettings } from '../../src/config/settings.ts';
import { createEngines, type DomainEngines, type EnginesPorts } from '../../src/engines/create-engines.ts';
import { buildIndex } from '../../src/engines/sqlite/build.ts';
import { indexFileOf } from '../../src/engines/sqlite/schema.ts';
import { SearchError } from '../../src/resilience/search-error.ts';
import { systemClock } from '../../src/runtime.ts';
import { payloadsOf, reply, startFakeSearchd } from '../fakes/searchd.ts';
import { pluck } from '../pluck.ts';
import { LIMIT_MS, until } from '../until.ts';
import { DOMAIN, temporaryDirectory, titled } from './sqlite/harness.ts';

interface Outage extends DomainEngines {
  /** States of its breaker until it has closed again. */
  readonly untilClosed: Promise<readonly string[]>;
  readonly ask: <T>(call: () => Promise<T>) => Promise<T>;
}

const ONE_PROCESS: EnginesPorts = { fleetShare: (total) => Math.floor(total), forcedOpen: () => false };

const settingsOf = (engine: EngineSettings) => ({ name: DOMAIN.name, engine, patienceMs: 2000 }) as const;

const LIMITS = { deadlineMs: 1000, hardDeadlineMs: 1000, maxConcurrent: 20, maxQueued: 20, limit: 'fixed' } as const;
const SPHINX = {
  kind: 'sphinx',
  index: 'goods',
  ranker: 'bm25',
  connectTimeoutMs: 1000,
  maxMatches: 1000,
  snippetLength: 200,
  ...LIMITS,
} as const;

/** An engine that answers its probe, behind a breaker that failing calls have opened. */
async function outage(t: TestContext, forcedOpen: EnginesPorts['forcedOpen'] = () => false): Promise<Outage> {
  const directory = await temporaryDirectory(t);
  const file = indexFileOf(directory, DOMAIN.name);
  await buildIndex({ file, domain: DOMAIN, documents: titled('чайник'), builtAtMs: 0 });
  const states: string[] = [];
  const closed = Promise.withResolvers<readonly string[]>();
  const engine = { kind: 'sqlite', directory, workers: 1, demo: false, snippetLength: 200, ...LIMITS } as const;
  const made = await createEngines(
    settingsOf(engine),
    DOMAIN,
    { ...ONE_PROCESS, forcedOpen },
    {
      clock: systemClock,
      // With this value the ordinary probe comes later than the search that an open breaker lets through.
      random: () => 0.999,
      observeEngine: () => {},
      observeGuard: (event) => {
        if (event.kind !== 'breaker') return;
        // On a slow machine its time to let a search through comes before the probe; none is sent here.
        if (event.state !== 'half-open') states.push(event.state);
        if (event.state === 'closed') closed.resolve(states);
      },
    },
  );
  t.after(made.close);
  // With one worker, the probe sent at the start has been answered before this one.
  await made.engines[0]?.probe(AbortSignal.timeout(LIMIT_MS));
  const ask: Outage['ask'] = async (call) => {
    const deadlineAtMs = systemClock.monotonicMs() + 600_000;
    return (await made.guard.admit({ deadlineAtMs, priority: 'interactive' })).run(call);
  };
  const down = async (): Promise<never> => Promise.reject(new SearchError('engine-unavailable', 'refused'));
  await Promise.all(Array.from({ length: 20 }, () => assert.rejects(ask(down), SearchError)));
  assert.equal(made.guard.balancer.state(), 'open');
  return { ...made, ask, untilClosed: closed.promise };
}

test('the breaker of an engine that answers its probe closes before it lets a search through, and slow start begins', async (t) => {
  const { untilClosed, guard, ask } = await outage(t);
  assert.deepEqual(await untilClosed, ['open', 'closed']);
  assert.deepEqual([guard.revivals(), guard.troubled()], [1, true]);
  assert.ok(guard.limiter.max() < 20, `${guard.limiter.max()} at once`);
  assert.equal(await ask(async () => 'ok'), 'ok');
});

test("a drill's simulated outage continues when the breaker closes", async (t) => {
  let dead = false;
  const { untilClosed, guard, ask } = await outage(t, () => dead);
  dead = true;
  await untilClosed;
  assert.equal(guard.troubled(), true);
  await assert.rejects(
    ask(async () => assert.fail('must not be asked')),
    (error) => error instanceof SearchError && error.reason === 'breaker-open',
  );
});

test('an endpoint that comes back beside another one that stayed up begins no slow start', async (t) => {
  const unreachable = { host: '127.0.0.1', port: 9 };
  const engine = {
    ...SPHINX,
    endpoints: [unreachable, unreachable],
  } as const;
  const { guard, health, close } = await createEngines(settingsOf(engine), DOMAIN, ONE_PROCESS, {
    clock: systemClock,
    random: Math.random,
    observeEngine: () => {},
    observeGuard: () => {},
  });
  t.after(close);
  await until('both to be unreachable', () => !health.reachable().includes(true));
  guard.balancer.reportProbe(0, true);
  guard.balancer.reportProbe(1, true);
  const call = async (endpoint: number): Promise<string> => {
    if (endpoint === 1) return 'ok';
    throw new SearchError('engine-timeout', 'no reply');
  };
  for (let calls = 0; calls < 100 && guard.balancer.list()[0]?.breaker === 'closed'; calls += 1) {
    const deadlineAtMs = systemClock.monotonicMs() + 600_000;
    await (await guard.admit({ deadlineAtMs, priority: 'interactive' })).run(call).catch(() => undefined);
  }
  assert.deepEqual(pluck(guard.balancer.list(), 'breaker'), ['open', 'closed']);
  guard.balancer.reportProbe(0, true);
  assert.deepEqual([guard.revivals(), guard.limiter.max(), guard.troubled()], [1, 20, false]);
});

test('a probe that sees another index at an endpoint tells the owner of the engines', async (t) => {
  let documents = 5;
  const columns = ['name', 'value'];
  const searchd = await startFakeSearchd({
    answer: (sql) => {
      const rows = sql.startsWith('DESCRIBE')
        ? [['id', 'bigint']]
        : [
            ['index_type', 'disk'],
            ['indexed_documents', `${documents}`],
            ['total_found', '0'],
          ];
      // SHOW META follows each search of the health probe.
      const sets = sql.startsWith('SELECT') ? sql.split('; ').map((one) => (one === 'SHOW META' ? rows : [])) : [rows];
      return reply(...payloadsOf(sets.map((set) => ({ columns, rows: set }))));
    },
  });
  t.after(searchd.stop);
  const { host, port } = searchd;
  const engine = {
    ...SPHINX,
    endpoints: [{ host, port }],
  } as const;
  let replaced = 0;
  const onReplaced = (): void => {
    replaced += 1;
  };
  const { engines, close } = await createEngines(
    settingsOf(engine),
    DOMAIN,
    { ...ONE_PROCESS, onReplaced },
    {
      clock: systemClock,
      random: Math.random,
      observeEngine: () => {},
      observeGuard: () => {},
    },
  );
  t.after(close);
  const probe = () => engines[0]?.probe(AbortSignal.timeout(LIMIT_MS));
  await probe();
  assert.equal(replaced, 0);
  documents = 6;
  await probe();
  assert.equal(replaced, 1);
});
