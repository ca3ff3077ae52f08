import { Counter, type Registry, Summary } from 'prom-client';
import type { StoreEvent } from '../cache/store.ts';
import type { ShadowEvent } from '../operations/shadow/shadow.ts';
import { counterFor, createCounter, createHistogram, type Scale } from './family.ts';
import {
  AGREEMENTS,
  BREAKER_STATES,
  COMMAND_RESULTS,
  CONNECTION_STATES,
  PIPELINE_TYPES,
  SHADOW_COPY_RESULTS,
  SHADOW_COPY_TYPES,
  STORE_OPERATIONS,
} from './label-values.ts';

/** The store of each domain. Events are counted for all nodes together; only gauges have a node label. */
export function createStoreCounters(
  registry: Registry,
  domain: readonly string[],
): (domain: string, event: StoreEvent) => void {
  const counter = counterFor(registry, domain);
  const commands = counter(
    'store_commands_total',
    'Commands sent to the store, by result. value: found. absent: not found. node-open: not sent, because the breaker of the node is open. store-down: no connection. store-saturated: not sent, because too many are in flight. store-slow: no reply before the deadline. refused: an error reply.',
    {
      operation: STORE_OPERATIONS,
      outcome: COMMAND_RESULTS,
    },
  );
  const durations = createHistogram({
    registry,
    name: 'serpcache_store_command_duration_seconds',
    help: 'Time until a store command was answered or given up; the deadline of reads bounds it.',
    labels: { domain, operation: STORE_OPERATIONS },
  });
  const late = counter(
    'store_late_replies_total',
    'Replies that came after their deadline. Each is a page that was there and not used (hit) or not there (miss): the node or the network is slow.',
    {
      outcome: ['hit', 'miss'],
    },
  );
  const connections = counter(
    'store_connections_total',
    'Connections to store nodes that were opened, closed, or could not be opened (failed). A steady rate of opened and closed ones is churn.',
    {
      state: CONNECTION_STATES,
    },
  );
  const topology = counter(
    'store_topology_changes_total',
    'Changes of the topology of a store: nodes that joined or left, slots or masters that moved.',
    {},
  );
  const breakers = counter(
    'store_breaker_transitions_total',
    'State changes of the circuit breakers before store nodes, by new state. open: the keys of the node miss at once, without waiting.',
    {
      state: BREAKER_STATES,
    },
  );
  const countPipeline = createPipelineCounters(registry);
  return (name, event) => {
    switch (event.kind) {
      case 'command':
        commands.add(commands.at(name, event.operation, event.result));
        return durations.observe(durations.at(name, event.operation), event.durationMs);
      case 'pipeline':
        return countPipeline(event);
      case 'late':
        return late.add(late.at(name, event.hit ? 'hit' : 'miss'));
      case 'breaker':
        return breakers.add(breakers.at(name, event.state));
      case 'connection':
        return connections.add(connections.at(name, event.state));
      case 'topology':
        return topology.add(topology.at(name));
    }
  };
}

/** Bounds of the sizes of pipelines, from one command. */
const COMMANDS: Scale = { bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], perUnit: 1 };

/** The window of the quantiles, so that they show recent pipelines. */
const SUMMARY_WINDOW = { maxAgeSeconds: 60, ageBuckets: 4 } as const;

/**
 * Pipelines under the metric names that operators know; `type` is the kind of batch. Observed once per pipeline, so the
 * cost of prom-client's summaries (a few µs) does not matter.
 */
function createPipelineCounters(registry: Registry): (event: Extract<StoreEvent, { kind: 'pipeline' }>) => void {
  const shared = { registers: [registry], labelNames: ['type'] as const };
  const summary = (name: string, help: string): Summary<'type'> =>
    new Summary({ ...shared, ...SUMMARY_WINDOW, percentiles: [0.5, 0.9, 0.99], name, help });
  const sizes = summary(
    'redis_pipeline_batch_size_summary',
    'Commands per pipeline. The quantiles are of the last minute and this process, and cannot be added; see serpcache_store_pipeline_commands.',
  );
  const durations = summary(
    'redis_pipeline_duration_seconds',
    'Time from sending a pipeline to its last reply. The quantiles are of the last minute and this process, and cannot be added; see serpcache_store_pipeline_duration_seconds.',
  );
  // The first name was published without the conventional suffix of counters, so both names are kept.
  const failures = ['redis_pipeline_execution_failures', 'redis_pipeline_execution_failures_total'].map(
    (name) =>
      new Counter({
        ...shared,
        name,
        help: 'Pipelines in which at least one command failed. Its searches miss and go to the engine.',
      }),
  );
  const replies = createCounter({
    registry,
    name: 'serpcache_store_pipeline_failed_replies_total',
    help: 'Commands that failed in a pipeline. Each failed read is a miss of its own.',
    labels: { type: PIPELINE_TYPES },
    fromZero: true,
  });
  const commands = createHistogram({
    registry,
    name: 'serpcache_store_pipeline_commands',
    help: 'Commands per pipeline, by type of batch. Rising sizes mean larger batches of searches, not trouble.',
    labels: { type: PIPELINE_TYPES },
    scale: COMMANDS,
  });
  const times = createHistogram({
    registry,
    name: 'serpcache_store_pipeline_duration_seconds',
    help: 'Time from sending a pipeline to its last reply or its deadline, by type of batch. Rising times mean a slow node or network.',
    labels: { type: PIPELINE_TYPES },
  });
  const byType = new Map(
    PIPELINE_TYPES.map((type) => {
      const failed = failures.map((counter) => counter.labels(type));
      for (const counter of failed) counter.inc(0);
      return [type, { size: sizes.labels(type), duration: durations.labels(type), failed }];
    }),
  );
  return ({ type, size, failed, durationMs }) => {
    commands.observe(commands.at(type), size);
    times.observe(times.at(type), durationMs);
    const metrics = byType.get(type);
    metrics?.size.observe(size);
    metrics?.duration.observe(durationMs / 1000);
    if (failed === 0) return;
    for (const counter of metrics?.failed ?? []) counter.inc();
    replies.add(replies.at(type), failed);
  };
}

/** Copies of store commands to a candidate, and how its values agree with the primary's. Rates and latencies are in reports. */
export function createShadowCounters(registry: Registry, domain: readonly string[]): (event: ShadowEvent) => void {
  const counter = counterFor(registry, domain, 'serpcache_shadow_');
  const copies = counter(
    'copies_total',
    'Copies of reads and writes to the candidate, a store that may replace the present one. dropped: too many waited. paused: this process had more urgent work. failed: sent without success. Answers to clients do not wait for them.',
    {
      type: SHADOW_COPY_TYPES,
      outcome: SHADOW_COPY_RESULTS,
    },
  );
  const compared = counter(
    'compared_total',
    'Values of the candidate compared with those of the present store. wrong: another page under the same key, which must not happen. missing, surplus: only one of them has it. older, newer: versions of the same page.',
    {
      outcome: AGREEMENTS,
    },
  );
  return (event) => {
    switch (event.kind) {
      case 'shadow-copy':
        return copies.add(copies.at(event.domain, event.type, event.result));
      case 'shadow-compared':
        return compared.add(compared.at(event.domain, event.result));
      case 'shadow-changed':
      case 'placement-changed':
      case 'shadow-unwritten':
        return;
    }
  };
}
