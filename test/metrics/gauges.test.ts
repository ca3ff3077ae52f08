import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeStatus } from '../fakes/status.ts';
import { nodes, scrape, start, statusOf } from './harness.ts';

test('gauges show the state of each domain at the time of the scrape', async (context) => {
  let statuses = [
    statusOf('goods', { store: nodes('10.0.0.1:6379', '10.0.0.2:6379'), state: 'degraded' }),
    fakeStatus('auto', {
      state: 'down',
      engine: { state: 'down', kind: 'sqlite', breaker: 'open', reachable: false, maxConcurrent: 2, ceiling: 2 },
    }),
  ];
  const metrics = start(context, () => statuses);
  const { value } = await scrape(metrics);
  assert.deepEqual(
    ['goods', 'auto'].map((domain) => value('serpcache_domain_state', { domain })),
    [1, 2],
  );
  assert.deepEqual(
    ['goods', 'auto'].map((domain) => value('serpcache_engine_breaker_state', { domain })),
    [0, 2],
  );
  assert.equal(value('serpcache_tier_bytes', { domain: 'goods', tier: 'l1' }), 3456);
  assert.equal(value('serpcache_tier_entries', { domain: 'goods', tier: 'l1-empty' }), 3);
  assert.equal(value('serpcache_tier_max_bytes', { domain: 'goods', tier: 'l1' }), 65_536);
  assert.equal(value('serpcache_tier_max_bytes', { domain: 'goods', tier: 'l1-empty' }), 4096);
  assert.equal(value('serpcache_tier_evictions_total', { domain: 'goods', tier: 'l1' }), 7);
  assert.equal(value('serpcache_tier_ghost_hits_total', { domain: 'goods', tier: 'l1' }), 4);
  assert.equal(value('serpcache_engine_permits_queued', { domain: 'goods' }), 5);
  assert.equal(value('serpcache_engine_permits_limit', { domain: 'auto' }), 2);
  assert.equal(value('serpcache_loads', { domain: 'goods' }), 4);
  assert.equal(value('serpcache_engine_permits_ceiling', { domain: 'goods' }), 9);
  assert.equal(value('serpcache_engine_permits_overdue', { domain: 'goods' }), 1);
  assert.equal(value('serpcache_engine_overloaded', { domain: 'goods' }), 1);
  assert.equal(value('serpcache_processes', { domain: 'goods' }), 3);
  assert.equal(value('serpcache_lease_waiters', { domain: 'goods' }), 6);
  assert.equal(value('serpcache_engine_endpoint_breaker_state', { domain: 'goods', endpoint: 'b:9306' }), 2);
  assert.equal(value('serpcache_engine_endpoint_reachable', { domain: 'goods', endpoint: 'a:9306' }), 1);
  assert.equal(value('serpcache_admission_state', {}), 1);
  assert.equal(value('serpcache_lane_connections', {}), 7);
  assert.equal(value('serpcache_lane_handed_over_total', {}), 3);
  assert.equal(value('serpcache_lane_searches_total', {}), 900);
  assert.equal(value('serpcache_in_flight', {}), 40);
  assert.equal(value('serpcache_loop_delay_seconds', {}), 0.02);
  assert.equal(value('serpcache_store_state', { domain: 'goods' }), 1);
  assert.equal(value('serpcache_store_state', { domain: 'auto' }), undefined);
  assert.equal(value('serpcache_store_node_breaker_state', { domain: 'goods', node: '10.0.0.1:6379' }), 2);
  assert.equal(value('serpcache_store_node_connected', { domain: 'goods', node: '10.0.0.2:6379' }), 1);

  // A node that left the topology is not shown any more.
  statuses = [statusOf('goods', { store: nodes('10.0.0.3:6379') }), statusOf('auto')];
  const later = await scrape(metrics);
  const ofNodes = later.samples.filter(({ name }) => name.startsWith('serpcache_store_node_'));
  const left = ofNodes.map(({ labels }) => labels['node']);
  assert.deepEqual(new Set(left), new Set(['10.0.0.3:6379']));
});

test('findings of the doctor are shown by check and severity, and fall to 0 when they are gone', async (context) => {
  const metrics = start(context);
  const look = (evictions: number, durationMs: number): void =>
    metrics.observers.observeDoctor({
      kind: 'doctor-window',
      findings: [
        { check: 'store-evictions', severity: 'warning', count: evictions },
        { check: 'store-unreachable', severity: 'critical', count: 0 },
      ],
      durationMs,
    });
  const evictions = { check: 'store-evictions', severity: 'warning' };
  assert.equal((await scrape(metrics)).value('serpcache_doctor_findings', evictions), undefined);
  look(3, 250);
  const raised = await scrape(metrics);
  assert.equal(raised.value('serpcache_doctor_findings', evictions), 3);
  assert.equal(
    raised.value('serpcache_doctor_findings', { check: 'store-unreachable', severity: 'critical' }),
    0,
    'a check that finds nothing has a series too',
  );
  assert.equal(raised.value('serpcache_doctor_duration_seconds'), 0.25);
  look(0, 40);
  const cleared = await scrape(metrics);
  assert.equal(cleared.value('serpcache_doctor_findings', evictions), 0);
  assert.equal(cleared.value('serpcache_doctor_duration_seconds'), 0.04);
});
