import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  backlogBytes,
  clusterFailoverBoundMs,
  failoverBoundMs,
  lossWindowMs,
  numberOf,
  optionalDirectivesOf,
  partitionWindowMs,
  repeatedFailoverBoundMs,
  replicaRule,
  sentinelTimes,
  startDelayMs,
} from '../../../deploy/check/stores-windows.ts';

const MIB = 2 ** 20;

test('a failover ends within the silence, three periods, an election and a promotion', () => {
  assert.equal(failoverBoundMs({ downAfterMs: 5000, failoverTimeoutMs: 10_000 }), 28_000);
  assert.equal(
    failoverBoundMs({ downAfterMs: 5000, failoverTimeoutMs: 60_000 }),
    78_000,
    'an election has 10 s at most',
  );
  assert.equal(repeatedFailoverBoundMs({ downAfterMs: 5000, failoverTimeoutMs: 10_000 }), 48_000);
});

test('a server with replicas starts later than any failover ends, with Sentinel and in a cluster', () => {
  assert.ok(startDelayMs() > repeatedFailoverBoundMs(sentinelTimes()));
  assert.ok(startDelayMs() > clusterFailoverBoundMs(numberOf('cluster.conf', 'cluster-node-timeout')));
});

test('Sentinel and a cluster wait for a silent master equally long', () => {
  assert.equal(sentinelTimes().downAfterMs, numberOf('cluster.conf', 'cluster-node-timeout'));
});

test('writes that only a lost master had are as old as a promoted replica may be behind, or as the master allows', () => {
  const times = { downAfterMs: 5000, failoverTimeoutMs: 10_000 };
  assert.equal(lossWindowMs({ minReplicas: 0, maxLagSeconds: 5 }, times, 60_000), 110_000);
  assert.equal(lossWindowMs({ minReplicas: 1, maxLagSeconds: 5 }, times, 60_000), 7000);
});

test('a cache has no bound in a partition, and a control store with a replica has one', () => {
  assert.equal(partitionWindowMs(replicaRule()), Number.POSITIVE_INFINITY);
  const [strict = ''] = optionalDirectivesOf('control.conf', /^min-replicas-to-write$/);
  const minReplicas = Number(strict.split(' ')[1]);
  assert.ok(partitionWindowMs({ ...replicaRule(), minReplicas }) < failoverBoundMs(sentinelTimes()));
});

test('the backlog holds a mebibyte a second for a minute, and less than a replica may fall behind', () => {
  const size = numberOf('replicas.conf', 'repl-backlog-size');
  assert.ok(size >= backlogBytes({ bytesPerSecond: MIB, outageSeconds: 60 }));
  assert.ok(backlogBytes({ bytesPerSecond: 2 * MIB, outageSeconds: 60 }) > size);
});
