import { Counter, type Registry, Summary } from 'prom-client';
import type { StoreEvent } from '../cache/store.ts';
import { createCounter } from './counter.ts';

type PipelineEvent = Extract<StoreEvent, { kind: 'pipeline' }>;

/** Quantiles look back so far, so that they show now and not the mean of a week. */
const WINDOW = { maxAgeSeconds: 60, ageBuckets: 4 } as const;
const PERCENTILES = [0.5, 0.9, 0.99];

/**
 * Pipelines under the names operators know; `type` is the kind of batch. Once per batch, so that prom-client's own
 * summaries (a few µs) are cheap enough.
 */
export function createPipelineMetrics(registry: Registry): (event: PipelineEvent) => void {
  const registers = [registry];
  const shared = { registers, labelNames: ['type'] as const, percentiles: PERCENTILES, ...WINDOW };
  const sizes = new Summary({
    ...shared,
    name: 'redis_pipeline_batch_size_summary',
    help: 'Commands per pipeline, over the last minute.',
  });
  const durations = new Summary({
    ...shared,
    name: 'redis_pipeline_duration_seconds',
    help: 'From sending a pipeline to its last reply, over the last minute.',
  });
  // The published name lacks the ending that counters have by convention; both are kept.
  const failures = ['redis_pipeline_execution_failures', 'redis_pipeline_execution_failures_total'].map(
    (name) =>
      new Counter({
        registers,
        labelNames: ['type'] as const,
        name,
        help: 'Pipelines in which at least one command failed.',
      }),
  );
  const replies = createCounter({
    registry,
    name: 'serpcache_store_pipeline_failed_replies_total',
    help: 'Commands that failed inside a pipeline; each one is a miss of its own.',
    labels: { type: PIPELINE_TYPES },
    fromZero: true,
  });
  const byType = new Map(
    PIPELINE_TYPES.map((type) => {
      const failed = failures.map((counter) => counter.labels(type));
      for (const counter of failed) counter.inc(0);
      return [type, { size: sizes.labels(type), duration: durations.labels(type), failed }];
    }),
  );

  return ({ type, size, failed, durationMs }) => {
    const metrics = byType.get(type);
    metrics?.size.observe(size);
    metrics?.duration.observe(durationMs / 1000);
    if (failed === 0) return;
    for (const counter of metrics?.failed ?? []) counter.inc();
    replies.add(replies.at(type), failed);
  };
}

const PIPELINE_TYPES: readonly PipelineEvent['type'][] = ['read', 'write'];
