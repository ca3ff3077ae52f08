import { constants, monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';
import { createHistogram } from './family.ts';

/** Sampling interval of the event loop delay. Measured delays include it, so it is subtracted. */
const RESOLUTION_MS = 20;
const QUANTILES = [50, 90, 99] as const;

interface ProcessMetrics {
  /** To be called before each scrape. */
  readonly refresh: () => void;
  readonly close: () => void;
}

/**
 * Process metrics under the names that Node dashboards use. prom-client's own collection is not used: it cannot be stopped,
 * and it lists all open descriptors synchronously at each scrape, which blocks the loop with thousands of connections.
 */
export function createProcessMetrics(registry: Registry): ProcessMetrics {
  const gauge = <T extends string = never>(name: string, help: string, labelNames: readonly T[] = []): Gauge<T> =>
    new Gauge({ name, help, labelNames, registers: [registry] });

  gauge('process_start_time_seconds', 'Start of the process, in seconds since the epoch.').set(
    Math.round(performance.timeOrigin / 1000),
  );
  gauge('nodejs_version_info', 'Version of Node.', ['version']).set({ version: process.version }, 1);
  const cpu = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of this process, user and system.',
    registers: [registry],
  });
  const resident = gauge('process_resident_memory_bytes', 'Resident memory of the process.');
  const heapTotal = gauge('nodejs_heap_size_total_bytes', 'Reserved heap.');
  const heapUsed = gauge('nodejs_heap_size_used_bytes', 'Used heap.');
  const external = gauge(
    'nodejs_external_memory_bytes',
    'Memory of buffers and native objects, stored pages included.',
  );

  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const lagMean = gauge('nodejs_eventloop_lag_mean_seconds', 'Mean delay of the event loop since the last scrape.');
  const lagMax = gauge('nodejs_eventloop_lag_max_seconds', 'Longest delay of the event loop since the last scrape.');
  const lags = QUANTILES.map((quantile) => ({
    quantile,
    gauge: gauge(
      `nodejs_eventloop_lag_p${quantile}_seconds`,
      `Delay of the event loop since the last scrape, p${quantile}.`,
    ),
  }));
  let before = performance.eventLoopUtilization();
  const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000) || 0;

  const utilization = gauge(
    'nodejs_eventloop_utilization',
    'Share of the time since the last scrape in which the event loop was busy.',
  );

  const pauses = createHistogram({
    registry,
    name: 'nodejs_gc_duration_seconds',
    help: 'Duration of garbage collections, by kind.',
    labels: { kind: Object.values(GC_KINDS) },
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) pauses.observe(pauses.at(gcKind(entry)), entry.duration);
  });
  observer.observe({ entryTypes: ['gc'] });

  return {
    refresh: () => {
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1e6);
      const memory = process.memoryUsage();
      resident.set(memory.rss);
      heapTotal.set(memory.heapTotal);
      heapUsed.set(memory.heapUsed);
      external.set(memory.external);
      const now = performance.eventLoopUtilization();
      utilization.set(performance.eventLoopUtilization(now, before).utilization);
      before = now;
      lagMean.set(seconds(delay.mean));
      lagMax.set(seconds(delay.max));
      for (const { quantile, gauge: lag } of lags) lag.set(seconds(delay.percentile(quantile)));
      delay.reset();
    },
    close: () => {
      observer.disconnect();
      delay.disable();
    },
  };
}

const GC_KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

/** Entries of Node have a `detail` that the web type of performance entries lacks. */
function gcKind(entry: object): string {
  const detail = 'detail' in entry ? entry.detail : undefined;
  const kind = typeof detail === 'object' && detail !== null && 'kind' in detail ? detail.kind : undefined;
  return (typeof kind === 'number' ? GC_KINDS[kind] : undefined) ?? '';
}
