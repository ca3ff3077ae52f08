import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { engineCallsOf } from '../../../loadtest/k6/kit/metrics-text.ts';
import { createReplicaAsker, replicaPageOf, replicaSampleOf } from '../../../loadtest/sample/replica.ts';
import { ask, demoDomains, startService } from '../../e2e/service-harness.ts';
import { temporaryFolder } from '../../folder.ts';
import { plain } from '../../plain.ts';

const directory = temporaryFolder({ after });

test('every figure of a real process is present, and its counters count', async () => {
  const service = await startService(demoDomains(directory));
  try {
    const askReplica = createReplicaAsker(service.adminUrl);
    const before = await askReplica(10_000);
    for (const q of ['диван', 'диван', 'стол', 'xyzzy']) await ask(service, q, '&domain=goods');
    await fetch(`${service.url}/search?q=a&domain=nowhere`);
    const sample = await askReplica(10_000);

    assert.equal(sample?.name, new URL(service.adminUrl).host);
    assert.deepEqual(before?.domains['goods']?.outcomes, {});
    assert.deepEqual(sample?.domains['none']?.outcomes, { rejected: 1 });
    const { engineLimit, engineCeiling, ...goods } = sample?.domains['goods'] ?? {};
    assert.deepEqual(goods, {
      outcomes: { 'hit-l1': 1, engine: 3 },
      engineCalls: 3,
      engineFailures: 0,
      storeCommands: {},
      engineInFlight: 0,
      engineQueued: 0,
      breaker: 0,
      flushedShare: 0,
    });
    assert.ok(engineLimit !== undefined && engineLimit > 0 && engineLimit <= (engineCeiling ?? 0));
    assert.deepEqual(sample?.misses, { unseen: 3 });
    assert.deepEqual(sample?.sheds, {});
    assert.equal(sample?.inFlight, 0);
    assert.equal(sample?.memoryEvictions, 0);
    const { cpuSeconds, residentBytes, loopUtilization, loopLagP99Ms, inFlightMax, memoryBytes, memoryMaxBytes } =
      sample ?? {};
    assert.equal(before?.loopUtilization, undefined);
    for (const figure of [cpuSeconds, residentBytes, loopUtilization, inFlightMax, memoryBytes, memoryMaxBytes]) {
      assert.ok(figure !== undefined && figure > 0, JSON.stringify(sample));
    }
    assert.ok(loopLagP99Ms !== undefined && loopLagP99Ms >= 0);
    assert.ok((cpuSeconds ?? 0) > (before?.cpuSeconds ?? Infinity));
    assert.ok((loopUtilization ?? 2) <= 1);

    const page = await (await fetch(`${service.adminUrl}/metrics`)).text();
    assert.equal(engineCallsOf(page), 3);
  } finally {
    await service.stop();
  }
});

const PAGE = `
serpcache_requests_total{domain="goods",outcome="shed",route="search"} 2
serpcache_requests_total{domain="goods",outcome="shed",route="msearch"} 3
serpcache_requests_total{domain="none",outcome="rejected",route="search"} 0
serpcache_engine_calls_total{domain="goods",outcome="whole"} 10
serpcache_engine_calls_total{domain="goods",outcome="partial"} 1
serpcache_engine_calls_total{domain="goods",outcome="engine-timeout"} 4
serpcache_engine_calls_total{domain="goods",outcome="engine-overloaded"} 2
serpcache_store_commands_total{domain="goods",operation="get",outcome="ok"} 5
serpcache_store_commands_total{domain="goods",operation="set",outcome="ok"} 6
serpcache_store_commands_total{domain="goods",operation="set",outcome="deadline"} 1
serpcache_control_drill_flushed_ratio{domain="goods"} 0.25
serpcache_shed_total{domain="goods",reason="queue-full"} 4
serpcache_shed_total{domain="auto",reason="queue-full"} 1
serpcache_tier_bytes{domain="goods",tier="l1"} 100
serpcache_tier_bytes{domain="goods",tier="l1-empty"} 10
nodejs_gc_duration_seconds_bucket{le="0.1",kind="minor"} 3
process_resident_memory_bytes NaN
`;

const loopPage = (busySeconds: number, [fast, slow, all]: readonly number[], startedAt = 100): string => `
serpcache_in_flight 1
process_start_time_seconds ${startedAt}
nodejs_eventloop_busy_seconds_total ${busySeconds}
nodejs_eventloop_delay_seconds_bucket{le="0.001"} ${fast}
nodejs_eventloop_delay_seconds_bucket{le="0.25"} ${slow}
nodejs_eventloop_delay_seconds_bucket{le="+Inf"} ${all}
`;

function pageOf(text: string, atMs = 0) {
  const page = replicaPageOf(text, atMs);
  assert.ok(page !== undefined);
  return page;
}

test('counters are summed over routes, operations and domains, each outcome separately', () => {
  const sample = replicaSampleOf('a', pageOf(PAGE));
  assert.deepEqual(plain(sample.domains['goods']), {
    outcomes: { shed: 5 },
    engineCalls: 17,
    engineFailures: 6,
    storeCommands: { ok: 11, deadline: 1 },
    flushedShare: 0.25,
  });
  assert.deepEqual(sample?.sheds, { 'queue-full': 5 });
  assert.equal(sample?.memoryBytes, 110);
});

test('figures of the event loop are of the time between two pages of one process', () => {
  const before = pageOf(loopPage(10, [90, 95, 95]), 1000);
  const after = pageOf(loopPage(10.5, [180, 195, 195]), 3000);
  const { loopUtilization, loopLagP99Ms } = replicaSampleOf('a', after, before);
  assert.deepEqual([loopUtilization, loopLagP99Ms], [0.25, 250]);
  const restarted = pageOf(loopPage(0.1, [9, 9, 9], 200), 5000);
  for (const sample of [replicaSampleOf('a', after), replicaSampleOf('a', restarted, after)]) {
    assert.deepEqual([sample.loopUtilization, sample.loopLagP99Ms], [undefined, undefined]);
  }
});
