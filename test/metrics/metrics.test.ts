import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENTRY_VERSION } from '../../src/cache/codec.ts';
import { MISS_REASONS } from '../../src/cache/events.ts';
import { OUTCOMES } from '../../src/search/outcome.ts';
import { pluck } from '../pluck.ts';
import { CONTROL, DOMAINS, hit, scrape, start, VERSION } from './harness.ts';

test('the page has every metric with its name and type', async (context) => {
  const metrics = start(context);
  const { contentType } = await metrics.text();
  assert.equal(contentType, 'text/plain; version=0.0.4; charset=utf-8');
  const { types } = await scrape(metrics);
  // The type and the beginning of the names, and their ends.
  const expected = {
    'counter serpcache_': `
      audited_answers_total backfilled_total changes_gaps_total changes_refused_total changes_total
      client_connections_cut_total control_events_total engine_breaker_transitions_total
      engine_calls_total engine_connections_total engine_failovers_total engine_late_replies_total
      engine_relaxed_total engine_retries_total engine_workers_total http_refused_tokens_total
      lane_handed_over_total lane_searches_total leases_total lifeboat_calls_total log_lines_dropped_total
      misses_total not_stored_total pages_changed_total popularity_queries_total refreshes_total requests_total
      responses_total shadow_compared_total shadow_copies_total shed_total spans_total stale_answers_total
      store_breaker_transitions_total store_commands_total store_connections_total
      store_late_replies_total store_pipeline_failed_replies_total store_topology_changes_total
      stored_bytes_total stored_total tier_evictions_total tier_ghost_hits_total
    `,
    'counter ': `
      nodejs_eventloop_busy_seconds_total process_cpu_seconds_total redis_pipeline_execution_failures
      redis_pipeline_execution_failures_total
    `,
    'gauge serpcache_': `
      admission_state build_info changes_heard_seconds changes_table_used_ratio control_corrupt control_drill_flushed_ratio control_drill_live
      control_halted control_heard_seconds control_purges control_revision control_suppressed
      doctor_duration_seconds doctor_findings domain_state engine_breaker_state
      engine_endpoint_breaker_state engine_endpoint_in_flight engine_endpoint_reachable engine_overloaded
      engine_permits_ceiling engine_permits_in_flight engine_permits_limit engine_permits_overdue
      engine_permits_queued engine_reachable in_flight in_flight_max lane_connections lease_waiters loads
      loop_delay_seconds processes scrape_duration_seconds shadow_fraction store_node_breaker_state
      store_node_connected store_node_outstanding store_placement store_state tier_bytes tier_entries
      tier_max_bytes
    `,
    'gauge ': `
      nodejs_external_memory_bytes nodejs_heap_size_total_bytes nodejs_heap_size_used_bytes
      nodejs_version_info process_max_fds process_open_fds process_resident_memory_bytes
      process_start_time_seconds
    `,
    'histogram serpcache_': `
      changes_lag_seconds engine_duration_seconds permit_wait_seconds request_duration_seconds store_command_duration_seconds
      store_pipeline_commands store_pipeline_duration_seconds
    `,
    'histogram ': `
      nodejs_eventloop_delay_seconds nodejs_gc_duration_seconds
    `,
    'summary ': `
      redis_pipeline_batch_size_summary redis_pipeline_duration_seconds
    `,
  };
  const wanted = Object.entries(expected).flatMap(([begin, ends]) =>
    ends
      .trim()
      .split(/\s+/)
      .map((end) => `${begin}${end}`),
  );
  const shown = [...types].map(([name, type]) => `${type} ${name}`);
  const missing = wanted.filter((metric) => !shown.includes(metric));
  const unexpected = shown.filter((metric) => !wanted.includes(metric));
  assert.deepEqual({ missing, unexpected }, { missing: [], unexpected: [] });
});

test('pipelines are counted under their published names, with type and quantile', async (context) => {
  const metrics = start(context);
  const { observeStore } = metrics.observers;
  const read = { kind: 'pipeline', type: 'read' } as const;
  for (let size = 1; size <= 100; size += 1) {
    observeStore('goods', { ...read, size, failed: size > 98 ? 3 : 0, durationMs: size });
  }
  observeStore('auto', { ...read, type: 'write', size: 7, failed: 0, durationMs: 2 });
  const { value } = await scrape(metrics);
  assert.equal(value('redis_pipeline_batch_size_summary_count', { type: 'read' }), 100);
  assert.equal(value('redis_pipeline_batch_size_summary_sum', { type: 'read' }), 5050);
  assert.equal(value('redis_pipeline_batch_size_summary', { type: 'write', quantile: '0.5' }), 7);
  const p99 = value('redis_pipeline_duration_seconds', { type: 'read', quantile: '0.99' });
  assert.ok(p99 !== undefined && p99 > 0.09 && p99 <= 0.1, String(p99));
  assert.equal(value('redis_pipeline_duration_seconds_count', { type: 'read' }), 100);
  for (const name of ['redis_pipeline_execution_failures', 'redis_pipeline_execution_failures_total']) {
    assert.equal(value(name, { type: 'read' }), 2);
    assert.equal(value(name, { type: 'write' }), 0);
  }
  assert.equal(value('serpcache_store_pipeline_failed_replies_total', { type: 'read' }), 6);
  const within = (le: string) => value('serpcache_store_pipeline_commands_bucket', { type: 'read', le });
  assert.deepEqual([within('1'), within('20'), within('100'), within('+Inf')], [1, 20, 100, 100]);
  assert.equal(value('serpcache_store_pipeline_commands_sum', { type: 'write' }), 7);
  assert.equal(value('serpcache_store_pipeline_duration_seconds_bucket', { type: 'read', le: '0.01' }), 10);
  assert.equal(value('serpcache_store_pipeline_duration_seconds_sum', { type: 'read' }), 5.05);
});

test('a latency is counted in every bucket at or above it, from 50 µs to 5 s', async (context) => {
  const metrics = start(context);
  for (const durationMs of [0.01, 0.05, 0.06, 5000, 9000]) metrics.observers.observeRequest({ ...hit, durationMs });
  const { samples, value } = await scrape(metrics);
  const labels = { domain: 'goods', outcome: 'hit-l1' };
  const buckets = samples.filter(({ name }) => name === 'serpcache_request_duration_seconds_bucket');
  assert.deepEqual(
    buckets.map((bucket) => bucket.labels['le']),
    '0.00005 0.0001 0.00025 0.0005 0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 +Inf'.split(' '),
  );
  assert.deepEqual(pluck(buckets, 'value'), [2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 5]);
  assert.equal(value('serpcache_request_duration_seconds_count', labels), 5);
  assert.ok(Math.abs((value('serpcache_request_duration_seconds_sum', labels) ?? 0) - 14.000_12) < 1e-9);
});

test('every outcome and every miss reason of every domain is shown from the start, at zero', async (context) => {
  const { value } = await scrape(start(context));
  for (const domain of DOMAINS) {
    for (const outcome of OUTCOMES) {
      assert.equal(value('serpcache_requests_total', { domain, outcome, route: 'search' }), 0);
    }
    for (const reason of MISS_REASONS) assert.equal(value('serpcache_misses_total', { domain, reason }), 0);
  }
  assert.equal(value('serpcache_requests_total', { domain: 'none', outcome: 'rejected', route: 'msearch' }), 0);
});

test('each event counts in its own series', async (context) => {
  const metrics = start(context);
  const { observeRequest, observeSearch, observeStore, observeGuard } = metrics.observers;
  observeRequest({ ...hit, outcome: 'shed', status: 503, reason: 'unseen' });
  observeRequest({ ...hit, domain: 'none', outcome: 'rejected', status: 404 });
  observeSearch({ kind: 'miss', domain: 'goods', reason: 'node-open' });
  observeSearch({ kind: 'engine', domain: 'goods', result: 'engine-timeout', late: false, durationMs: 3000 });
  observeSearch({ kind: 'engine', domain: 'goods', result: 'whole', late: true, durationMs: 900 });
  observeSearch({ kind: 'stored', domain: 'goods', tier: 'l2', bytes: 4096 });
  observeSearch({ kind: 'not-stored', domain: 'goods', tier: 'l1', why: 'too-large' });
  observeSearch({ kind: 'refresh', domain: 'auto', result: 'from-store' });
  observeStore('goods', { kind: 'command', operation: 'read', result: 'store-slow', durationMs: 50 });
  observeStore('goods', { kind: 'late', hit: true });
  observeStore('goods', { kind: 'breaker', node: 'a:1', state: 'open' });
  observeStore('goods', { kind: 'connection', node: 'a:1', state: 'failed', detail: 'ECONNREFUSED' });
  observeStore('goods', { kind: 'topology', detail: 'a:1 left' });
  observeGuard('auto', { kind: 'breaker', target: 'auto', state: 'half-open' });
  observeGuard('auto', { kind: 'shed', target: 'auto', why: 'queue-expired' });
  observeGuard('auto', { kind: 'permit', target: 'auto', queuedMs: 12 });
  const { value } = await scrape(metrics);
  const expected: readonly [name: string, labels: Record<string, string>, value: number][] = [
    ['serpcache_requests_total', { domain: 'goods', outcome: 'shed', route: 'search' }, 1],
    ['serpcache_requests_total', { domain: 'none', outcome: 'rejected', route: 'search' }, 1],
    ['serpcache_responses_total', { status: '503' }, 1],
    ['serpcache_responses_total', { status: '404' }, 1],
    ['serpcache_misses_total', { domain: 'goods', reason: 'node-open' }, 1],
    ['serpcache_engine_calls_total', { domain: 'goods', outcome: 'engine-timeout' }, 1],
    ['serpcache_engine_calls_total', { domain: 'goods', outcome: 'whole' }, 1],
    ['serpcache_engine_late_replies_total', { domain: 'goods' }, 1],
    ['serpcache_engine_duration_seconds_sum', { domain: 'goods' }, 3.9],
    ['serpcache_stored_total', { domain: 'goods', tier: 'l2' }, 1],
    ['serpcache_stored_bytes_total', { domain: 'goods', tier: 'l2' }, 4096],
    ['serpcache_not_stored_total', { domain: 'goods', tier: 'l1', reason: 'too-large' }, 1],
    ['serpcache_refreshes_total', { domain: 'auto', outcome: 'from-store' }, 1],
    ['serpcache_store_commands_total', { domain: 'goods', operation: 'read', outcome: 'store-slow' }, 1],
    ['serpcache_store_command_duration_seconds_count', { domain: 'goods', operation: 'read' }, 1],
    ['serpcache_store_late_replies_total', { domain: 'goods', outcome: 'hit' }, 1],
    ['serpcache_store_breaker_transitions_total', { domain: 'goods', state: 'open' }, 1],
    ['serpcache_store_connections_total', { domain: 'goods', state: 'failed' }, 1],
    ['serpcache_store_topology_changes_total', { domain: 'goods' }, 1],
    ['serpcache_engine_breaker_transitions_total', { domain: 'auto', state: 'half-open' }, 1],
    ['serpcache_shed_total', { domain: 'auto', reason: 'queue-expired' }, 1],
    ['serpcache_permit_wait_seconds_sum', { domain: 'auto' }, 0.012],
  ];
  for (const [name, labels, wanted] of expected) {
    assert.equal(value(name, labels), wanted, `${name}${JSON.stringify(labels)}`);
  }
});

test('the versions of the service, of Node and of stored entries are labels of one sample', async (context) => {
  const { value } = await scrape(start(context));
  const labels = { version: VERSION, node: process.version, entry_version: String(ENTRY_VERSION) };
  assert.equal(value('serpcache_build_info', labels), 1);
});

test('log lines that were dropped are counted', async (context) => {
  assert.equal((await scrape(start(context))).value('serpcache_log_lines_dropped_total'), 12);
});

test('spans are counted by what became of them, from zero', async (context) => {
  const metrics = start(context);
  const count = async (outcome: string) => (await scrape(metrics)).value('serpcache_spans_total', { outcome });
  assert.deepEqual([await count('exported'), await count('dropped')], [0, 0]);
  metrics.observers.observeTracing({ kind: 'tracing', outcome: 'exported', spans: 40 });
  metrics.observers.observeTracing({ kind: 'tracing', outcome: 'dropped', spans: 3, detail: 'ECONNREFUSED' });
  assert.deepEqual([await count('exported'), await count('dropped')], [40, 3]);
});

test('refused bearer tokens are counted by result, from zero', async (context) => {
  const metrics = start(context);
  const address = 'address:192.0.2.1';
  metrics.observers.observeToken({ kind: 'token', listener: 'admin', result: 'wrong', address });
  metrics.observers.observeToken({ kind: 'token', listener: 'public', result: 'ignored', address });
  const { value } = await scrape(metrics);
  assert.deepEqual(
    ['ignored', 'wrong', 'throttled'].map((reason) => value('serpcache_http_refused_tokens_total', { reason })),
    [1, 1, 0],
  );
});

test('events of the control document are counted by kind', async (context) => {
  const metrics = start(context);
  metrics.observers.observeControl({ kind: 'control-changed', domain: 'goods', revision: 3, own: true });
  metrics.observers.observeControl({ kind: 'overlay', domain: 'goods', drill: 'd', state: 'void' });
  metrics.observers.observePopularity({ kind: 'popularity-dropped', domain: 'auto', queries: 30 });
  const page = await scrape(metrics);
  const events = (event: string) => page.value('serpcache_control_events_total', { domain: 'goods', event });
  assert.deepEqual([events('control-changed'), events('drill-void')], [1, 1]);
  const dropped = { domain: 'auto', outcome: 'dropped' };
  assert.equal(page.value('serpcache_popularity_queries_total', dropped), 30);
});

test('changes are counted one by one, and pages and gaps by reason', async (context) => {
  const metrics = start(context);
  const { observeChanges } = metrics.observers;
  observeChanges({ kind: 'changes-applied', domain: 'goods', changes: 30, lagMs: 200 });
  observeChanges({ kind: 'changes-applied', domain: 'goods', changes: 12, lagMs: 20 });
  observeChanges({ kind: 'changes-gap', domain: 'goods', why: 'trimmed' });
  observeChanges({ kind: 'page-changed', domain: 'goods', why: 'deleted' });
  observeChanges({ kind: 'changes-refused', domain: 'goods', count: 7, detail: 'no id' });
  const { value } = await scrape(metrics);
  const goods = { domain: 'goods' };
  assert.equal(value('serpcache_changes_total', goods), 42);
  assert.equal(value('serpcache_changes_lag_seconds_count', goods), 2);
  assert.equal(value('serpcache_changes_lag_seconds_sum', goods), 0.22);
  assert.equal(value('serpcache_changes_gaps_total', { ...goods, reason: 'trimmed' }), 1);
  assert.equal(value('serpcache_pages_changed_total', { ...goods, reason: 'deleted' }), 1);
  assert.equal(value('serpcache_changes_refused_total', goods), 7);
  assert.equal(value('serpcache_changes_heard_seconds', goods), 0.05);
});

test('copies are counted by type and result, comparisons by result', async (context) => {
  const metrics = start(context);
  const copy = { kind: 'shadow-copy', domain: 'goods', type: 'read' } as const;
  metrics.observers.observeShadow({ ...copy, result: 'sent' });
  metrics.observers.observeShadow({ ...copy, result: 'sent' });
  metrics.observers.observeShadow({ ...copy, type: 'write', result: 'dropped' });
  metrics.observers.observeShadow({ kind: 'shadow-compared', domain: 'goods', result: 'wrong' });
  const { value } = await scrape(metrics);
  const copies = (type: string, outcome: string) =>
    value('serpcache_shadow_copies_total', { domain: 'goods', type, outcome });
  assert.deepEqual([copies('read', 'sent'), copies('write', 'dropped')], [2, 1]);
  const compared = (domain: string, outcome: string) => value('serpcache_shadow_compared_total', { domain, outcome });
  assert.deepEqual([compared('goods', 'wrong'), compared('goods', 'equal'), compared('auto', 'wrong')], [1, 0, 0]);
});

test('the page shows the fraction of a shadow and the phase of a cut-over, one phase at a time', async (context) => {
  let control = CONTROL;
  const metrics = start(context, undefined, () => control);
  const phases = ['configured', 'prepared', 'committed', 'settled'];
  const shown = async () => {
    const { value } = await scrape(metrics);
    const domain = 'goods';
    const placement = phases.filter((phase) => value('serpcache_store_placement', { domain, phase }) === 1);
    const none = phases.filter((phase) => value('serpcache_store_placement', { domain, phase }) === 0);
    assert.equal(none.length, phases.length - 1);
    return [value('serpcache_shadow_fraction', { domain }), ...placement];
  };
  assert.deepEqual(await shown(), [0, 'configured']);
  const shadow = { candidate: 'new', fraction: 0.25, reads: 3 };
  control = { ...CONTROL, shadow, placement: { phase: 'prepared', active: 'old', other: 'new' } };
  assert.deepEqual(await shown(), [0.25, 'prepared']);
  control = { ...CONTROL, placement: { phase: 'committed', active: 'new', other: 'old' } };
  assert.deepEqual(await shown(), [0, 'committed']);
});

test('the page shows the current control document', async (context) => {
  const page = await scrape(start(context));
  const value = (name: string) => page.value(`serpcache_control_${name}`, { domain: 'goods' });
  assert.deepEqual(['revision', 'heard_seconds', 'drill_live', 'drill_flushed_ratio'].map(value), [7, 0.25, 1, 0.25]);
  assert.deepEqual(['halted', 'suppressed', 'purges', 'corrupt'].map(value), [1, 3, 2, 1]);
});
