import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings } from '../../../../src/config/load.ts';
import { createServiceReader } from '../../../../src/operations/doctor/create-doctor.ts';
import type { Figure } from '../../../../src/operations/doctor/facts.ts';
import { createMeter } from '../../../../src/operations/meter/meter.ts';
import { createFakeClock } from '../../../fakes/clock.ts';
import { FAKE_FEED } from '../../../fakes/status.ts';

const ENGINE = '{ kind: sphinx, host: 10.0.0.9, maxConcurrent: 12, deadline: 600ms }';
const YAML = `domains:
  goods:
    engine: ${ENGINE}
    store: { kind: standalone, nodes: ["10.0.0.1:6379"], deadline: 40ms }
    freshness: { ttl: 2m, staleWhileRevalidate: 3m, staleIfError: 2m }
  auto: { engine: ${ENGINE} }
`;

function readerOf(fleet: Figure<[]> = { known: [] }) {
  const settings = loadSettings({ env: { SERPCACHE_CONFIG: 'c.yaml' }, cwd: '/srv', readFile: () => YAML });
  const engine = () => ({ inFlight: 3, queued: 2, maxConcurrent: 6, ceiling: 12, breaker: 'closed' as const });
  const clock = createFakeClock();
  const meter = createMeter({ buckets: 10, engine, clock });
  meter.noteGuard({ kind: 'shed', target: 'goods', why: 'stalled' });
  const other = createMeter({ buckets: 10, engine, clock });
  const read = createServiceReader({
    processId: 'abc',
    domains: settings.domains.map((domain) => ({
      name: domain.name,
      settings: domain,
      meter: domain.name === 'goods' ? meter : other,
      changes: domain.name === 'goods' ? { status: () => FAKE_FEED } : undefined,
    })),
    fleet: { read: async () => fleet },
    loopDelay: () => ({ loopDelayMs: 7 }),
  });
  return { read, meter };
}

test('a reading has the settings and counters of every domain, and the state of the process', async () => {
  const { read, meter } = readerOf();
  meter.noteRequest({ outcome: 'hit-l1', durationMs: 0.04 });
  const facts = await read();
  assert.deepEqual([facts.processId, facts.loop.delayMs], ['abc', 7]);
  const [goods, auto] = facts.domains;
  assert.ok(goods !== undefined && auto !== undefined);
  assert.deepEqual([goods.feed, auto.feed], [FAKE_FEED, undefined]);
  assert.deepEqual(goods.settings, { ttlMs: 120_000, engineMaxConcurrent: 12, storeDeadlineMs: 40 });
  assert.equal(auto.settings.storeDeadlineMs, undefined);
  assert.equal(goods.outcomes['hit-l1'], 1);
  assert.deepEqual(goods.engine, { queued: 2, inFlight: 3, maxConcurrent: 6, ceiling: 12 });
  assert.deepEqual([goods.shed, auto.shed], [{ stalled: 1 }, {}]);
});

test('a fleet that is not known is told as skipped, and the rest of the reading is there', async () => {
  const facts = await readerOf({ skipped: 'away' }).read();
  assert.deepEqual(facts.fleet, { skipped: 'away' });
  assert.equal(facts.domains.length, 2);
});
