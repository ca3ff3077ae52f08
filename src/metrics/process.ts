import { readFileSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { constants, PerformanceObserver, performance } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';
import { ENTRY_VERSION } from '../cache/codec.ts';
import type { Clock } from '../runtime.ts';
import { createEventLoopMetrics } from './event-loop.ts';
import { createHistogram, registerSamples } from './family.ts';

interface ProcessMetrics {
  /** To be called before each scrape. */
  readonly refresh: () => void;
  readonly close: () => void;
}

interface ProcessMetricsOptions {
  readonly registry: Registry;
  /** Version of the service. */
  readonly version: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/**
 * Process metrics under the names that Node dashboards use. prom-client's own collection is not used: it cannot be stopped,
 * and it lists all open descriptors synchronously at each scrape, which blocks the loop with thousands of connections.
 */
export function createProcessMetrics({ registry, version, clock }: ProcessMetricsOptions): ProcessMetrics {
  const gauge = <T extends string = never>(name: string, help: string, labelNames: readonly T[] = []): Gauge<T> =>
    new Gauge({ name, help, labelNames, registers: [registry] });

  gauge('process_start_time_seconds', 'Start of the process, in seconds since the epoch; a change is a restart.').set(
    Math.round(performance.timeOrigin / 1000),
  );
  gauge('nodejs_version_info', 'Version of Node in the label; the value is always 1.', ['version']).set(
    { version: process.version },
    1,
  );
  gauge(
    'serpcache_build_info',
    'Versions of the service, of Node and of the format of stored entries, in the labels; the value is always 1. Processes with another entry_version do not read the entries of this one.',
    ['version', 'node', 'entry_version'],
  ).set({ version, node: process.version, entry_version: String(ENTRY_VERSION) }, 1);
  const cpu = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of this process, user and system, all threads. Its rate is the number of cores in use.',
    registers: [registry],
  });
  const resident = gauge(
    'process_resident_memory_bytes',
    'Memory of the process that is in RAM: the figure that the limit of a container is compared with.',
  );
  const heapTotal = gauge('nodejs_heap_size_total_bytes', 'Memory reserved for JavaScript objects.');
  const heapUsed = gauge(
    'nodejs_heap_size_used_bytes',
    'Memory of JavaScript objects in use. It rises and falls with garbage collections; lows that rise for hours are a leak.',
  );
  const external = gauge(
    'nodejs_external_memory_bytes',
    'Memory of buffers and native objects outside the JavaScript heap: the pages of the L1 cache are here.',
  );
  const eventLoop = createEventLoopMetrics(registry);
  registerDescriptors(registry, clock);

  const pauses = createHistogram({
    registry,
    name: 'nodejs_gc_duration_seconds',
    help: 'Duration of garbage collections, by kind. All requests of the process wait meanwhile; frequent major ones mean that the heap is nearly full.',
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
    },
    close: () => {
      observer.disconnect();
      eventLoop.close();
    },
  };
}

const DESCRIPTORS = '/proc/self/fd';
/** Minimum interval of listing the descriptors, and of reading their maximum. */
const LIST_MS = 5000;
const LIMIT_MS = 60_000;

/** Descriptors are absent from the page where there is no /proc. */
function registerDescriptors(registry: Registry, { monotonicMs }: Pick<Clock, 'monotonicMs'>): void {
  const readOpen = createOpenReader(monotonicMs);
  let max: number | undefined;
  let maxAtMs = Number.NEGATIVE_INFINITY;
  const readMax = (): number | undefined => {
    if (monotonicMs() - maxAtMs < LIMIT_MS) return max;
    maxAtMs = monotonicMs();
    max = unlessAbsent(() => openFilesLimitOf(readFileSync('/proc/self/limits', 'utf8')));
    return max;
  };
  const register = (name: string, help: string, read: () => number | undefined): void =>
    registerSamples({ registry, name, help, type: 'gauge' }, () => {
      const value = read();
      return value === undefined ? [] : [{ labels: {}, value }];
    });
  register(
    'process_open_fds',
    'Open file descriptors: mostly connections of clients, stores and engines. At process_max_fds no further connection is accepted.',
    readOpen,
  );
  register('process_max_fds', 'Maximum of open file descriptors of this process (ulimit -n).', readMax);
}

/**
 * Since Linux 6.2 the size of the folder is the count of open descriptors: 6 µs, however many there are. On older kernels the
 * size is 0, so the folder is listed outside the event loop, and a scrape shows the count of the last listing; 10,000
 * descriptors take 5 ms there, of which 0.4 ms hold the event loop.
 */
function createOpenReader(monotonicMs: () => number): () => number | undefined {
  let listed: number | undefined;
  let listedAtMs = Number.NEGATIVE_INFINITY;
  const list = async (): Promise<void> => {
    try {
      // One descriptor is that of the listing.
      listed = (await readdir(DESCRIPTORS)).length - 1;
    } catch {
      listed = undefined;
    }
  };
  return () => {
    const size = unlessAbsent(() => statSync(DESCRIPTORS).size);
    if (size === undefined || size > 0) return size;
    if (monotonicMs() - listedAtMs >= LIST_MS) {
      listedAtMs = monotonicMs();
      void list();
    }
    return listed;
  };
}

function unlessAbsent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The soft limit of `Max open files`; undefined when the text has none. */
export function openFilesLimitOf(limits: string): number | undefined {
  const [, limit] = /^Max open files +(\d+|unlimited) /m.exec(limits) ?? [];
  if (limit === undefined) return undefined;
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
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
