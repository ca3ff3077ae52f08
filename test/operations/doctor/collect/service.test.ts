import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings } from '../../../../src/config/load.ts';
import { createServiceReader } from '../../../../src/operations/doctor/collect/service.ts';
import { createTally } from '../../../../src/operations/doctor/collect/tally.ts';
import type { Figure } from '../../../../src/operations/doctor/facts.ts';
import { createMeter } from '../../../../src/operations/meter/meter.ts';
import type { DomainStatus } from '../../../../src/search/status.ts';
import { createFakeClock } from '../../../fakes/clock.ts';
import { createFakeControl } from '../../../fakes/operations-control.ts';
import { fakeStatus, fakeStoreStatus } from '../../../fakes/status.ts';

const ENGINE = '{ kind: sphinx, host: 10.0.0.9, maxConcurrent: 12, deadline: 600ms }';
const YAML = `domains:
  goods:
    engine: ${ENGINE}
    store: { kind: standalone, nodes: ["10.0.0.1:6379"], deadline: 40ms }
    freshness: { ttl: 2m, staleWhileRevalidate: 3m, staleIfError: 2m }
  auto: { engine: ${ENGINE} }
`;

function readerOf({
  status = fakeStatus('goods'),
  fleet = { known: [] },
}: {
  status?: DomainStatus;
  fleet?: Figure<[]>;
}) {
  const settings = loadSettings({ env: { SERPCACHE_CONFIG: 'c.yaml' }, cwd: '/srv', readFile: () => YAML });
  const clock = createFakeClock();
  const engine = () => ({ inFlight: 3, queued: 2, maxConcurrent: 6, ceiling: 12, breaker: 'closed' as const });
  const meter = createMeter({ buckets: 10, engine, clock });
  const tally = createTally({ domains: ['goods', 'auto'] });
  const domains = settings.domains.map((domain) => ({
    ...{ name: domain.name, settings: domain, meter, control: createFakeControl() },
    status: () => status,
  }));
  const read = createServiceReader({
    ...{ processId: 'abc', version: '1.2.3', domains, tally, clock },
    fleet: { read: async () => fleet },
    loopDelay: () => ({ loopDelayMs: 7, maxLoopDelayMs: 250 }),
  });
  return { read, meter, tally, clock };
}

test('a reading has the settings and counters of every domain, and the state of the process', async () => {
  const { read, meter, tally, clock } = readerOf({});
  meter.noteRequest({ outcome: 'hit-l1', durationMs: 0.04 });
  meter.noteEngine({ failed: true, durationMs: 30 });
  tally.note.guard('goods', { kind: 'shed', target: 'goods', why: 'stalled' });
  clock.advance(5000);
  const facts = await read();
  assert.deepEqual([facts.processId, facts.version, facts.uptimeSeconds], ['abc', '1.2.3', 5]);
  assert.deepEqual([facts.loop.delayMs, facts.loop.maxDelayMs], [7, 250]);
  assert.ok(facts.loop.utilisation >= 0 && facts.loop.utilisation <= 1);
  assert.ok(facts.cpuSeconds > 0 && facts.rssBytes > 1e6);
  const [goods, auto] = facts.domains;
  assert.ok(goods !== undefined && auto !== undefined);
  assert.deepEqual(goods.settings, {
    ...{ patienceMs: 2000, ttlMs: 120_000, staleMs: 180_000, maxEntryBytes: 512 * 1024 },
    ...{ engineMaxConcurrent: 12, engineDeadlineMs: 600, storeDeadlineMs: 40 },
  });
  assert.equal(auto.settings.storeDeadlineMs, undefined);
  assert.equal(goods.outcomes['hit-l1'], 1);
  assert.deepEqual([goods.engine.calls, goods.engine.failed, goods.engine.queued], [1, 1, 2]);
  assert.deepEqual([goods.shed, auto.shed], [{ stalled: 1 }, {}]);
  assert.equal(goods.controlStanding, 'ok');
});

test('breakers that are not closed are named by their server', async () => {
  const endpoint = { reachable: true, inFlight: 0 };
  const { read } = readerOf({
    status: fakeStatus('goods', {
      engine: {
        endpoints: [
          { name: 'a:9306', breaker: 'open', ...endpoint },
          { name: 'b:9306', breaker: 'closed', ...endpoint },
        ],
      },
      store: fakeStoreStatus({ 'c:6379': { breaker: 'half-open' }, 'd:6379': {} }, { state: 'degraded' }),
    }),
  });
  const [goods] = (await read()).domains;
  assert.deepEqual(goods?.openBreakers, { engine: ['a:9306'], store: ['c:6379'] });
});

test('a fleet that is not known is told as skipped, and the rest of the reading is there', async () => {
  const facts = await readerOf({ fleet: { skipped: 'away' } }).read();
  assert.deepEqual(facts.fleet, { skipped: 'away' });
  assert.equal(facts.domains.length, 2);
});
