import { readFileSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { constants, monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import { ENTRY_VERSION } from '../cache/codec.ts';
import type { Clock } from '../runtime.ts';
import { type Levels, registerLevels } from './levels.ts';
import { type Registries, registerSamples } from './page.ts';
import { type Buckets, createHistogram, histogramSamples } from './series.ts';

const BUILD_LEVELS: Levels<undefined> = {
  serpcache_build_info: {
    help: 'Versions of the service, of Node and of the format of stored entries, in the labels; the value is always 1. Processes with another entry_version do not read the entries of this one.',
    value: () => 1,
  },
};

/**
 * Sampling interval of the delay. It costs 0.1 % of a core in an idle process; a timer in JavaScript costs twice as much.
 * Measured delays include the interval, so it is subtracted.
 */
const RESOLUTION_MS = 25;
const DELAYS: Buckets = { bounds: [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000], perUnit: 1000 };
const DELAY = 'nodejs_eventloop_delay_seconds';

/**
 * Process metrics under the names that Node dashboards use. prom-client's own collection is not used: it cannot be stopped,
 * and it lists all open descriptors synchronously at each scrape, which blocks the loop with thousands of connections.
 * @returns a function that ends the measuring.
 */
export function createProcessMetrics(
  registries: Registries,
  { version, clock }: { readonly version: string; readonly clock: Pick<Clock, 'monotonicMs'> },
): () => void {
  const readOpenFiles = createOpenReader(clock.monotonicMs);
  // Descriptors are absent from the page where there is no /proc.
  const levels: Levels<undefined> = {
    process_start_time_seconds: {
      help: 'Start of the process, in seconds since the epoch; a change is a restart.',
      value: () => Math.round(performance.timeOrigin / 1000),
    },
    nodejs_version_info: {
      help: 'Version of Node in the label; the value is always 1.',
      by: 'version',
      value: () => ({ [process.version]: 1 }),
    },
    process_cpu_seconds_total: {
      help: 'CPU time of this process, user and system, all threads. Its rate is the number of cores in use.',
      value: () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      },
    },
    process_resident_memory_bytes: {
      help: 'Memory of the process that is in RAM: the figure that the limit of a container is compared with.',
      value: () => process.memoryUsage().rss,
    },
    nodejs_heap_size_total_bytes: {
      help: 'Memory reserved for JavaScript objects.',
      value: () => process.memoryUsage().heapTotal,
    },
    nodejs_heap_size_used_bytes: {
      help: 'Memory of JavaScript objects in use. It rises and falls with garbage collections; lows that rise for hours are a leak.',
      value: () => process.memoryUsage().heapUsed,
    },
    nodejs_external_memory_bytes: {
      help: 'Memory of buffers and native objects outside the JavaScript heap: the pages of the L1 cache are here.',
      value: () => process.memoryUsage().external,
    },
    nodejs_eventloop_busy_seconds_total: {
      help: 'Time in which the event loop worked. Its rate is the share of the only thread in use: near 1 the process answers late and sheds.',
      value: () => performance.eventLoopUtilization().active / 1000,
    },
    process_open_fds: {
      help: 'Open file descriptors: mostly connections of clients, stores and engines. At process_max_fds no further connection is accepted.',
      value: () => readOpenFiles(),
    },
    process_max_fds: {
      help: 'Maximum of open file descriptors of this process (ulimit -n).',
      value: () => unlessAbsent(() => openFilesLimitOf(readFileSync('/proc/self/limits', 'utf8'))),
    },
  };
  const build = { version, node: process.version, entry_version: String(ENTRY_VERSION) };
  registerLevels(registries, levels, () => [{ labels: {}, source: undefined }]);
  registerLevels(registries, BUILD_LEVELS, () => [{ labels: build, source: undefined }]);
  const delay = registerDelays(registries);

  const observePause = createHistogram({
    registries,
    name: 'nodejs_gc_duration_seconds',
    help: 'Duration of garbage collections, by kind. All requests of the process wait meanwhile; frequent major ones mean that the heap is nearly full.',
    labels: { kind: Object.values(GC_KINDS) },
  });
  const pauses = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) observePause(entry.duration, gcKind(entry));
  });
  pauses.observe({ entryTypes: ['gc'] });
  return () => {
    pauses.disconnect();
    delay.disable();
  };
}

/** The delay of the event loop since the start: nothing is reset at a scrape, so that two scrapers see the same. */
function registerDelays(registries: Registries) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const countDelays = createBucketReader(
    delay,
    DELAYS.bounds.map((boundMs) => (boundMs + RESOLUTION_MS) * 1e6),
  );
  let sumMs = 0;
  const help =
    'How late timers of this process ran, sampled every 25 ms. A long stall is one sample, so look at the rate of the sum: the share of time in which requests wait. Above 0.1, work holds the only thread (large pages, garbage collections), or the machine has too little CPU.';
  registerSamples(registries, { name: DELAY, help, type: 'histogram' }, () => {
    const counts = countDelays();
    // A timer may run a little early: the sum of a counter must not fall.
    if (delay.count > 0) sumMs = Math.max(sumMs, delay.count * (delay.mean / 1e6 - RESOLUTION_MS));
    return histogramSamples(DELAY, DELAYS, { counts, sum: sumMs });
  });
  return delay;
}

/**
 * Reads how many values a histogram of Node has in each bucket, and above the last bound. Node gives percentiles only: the count
 * of a bound is the highest rank whose value is within it. Only the ranks that are new since the last reading are searched.
 * A value that is within 0.1 % of a bound may be counted on its other side, the precision of the histogram.
 */
export function createBucketReader(
  histogram: { readonly count: number; readonly percentile: (percentile: number) => number },
  bounds: readonly number[],
): () => Float64Array {
  /** Values at or below each bound at the last reading. */
  const within = new Float64Array(bounds.length);
  let read = 0;
  return () => {
    const { count } = histogram;
    for (const [index, bound] of bounds.entries()) {
      let low = within[index] ?? 0;
      let high = low + count - read;
      // Most delays are below most bounds, so all new values are tried first.
      let rank = high;
      while (low < high) {
        if (histogram.percentile((rank / count) * 100) <= bound) low = rank;
        else high = rank - 1;
        rank = Math.ceil((low + high) / 2);
      }
      within[index] = low;
    }
    read = count;
    return Float64Array.from([...within, count], (value, index) => value - (within[index - 1] ?? 0));
  };
}

const DESCRIPTORS = '/proc/self/fd';
/** Minimum interval of listing the descriptors. */
const LIST_MS = 5000;

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
  const { kind = 0 } = (entry as { readonly detail?: { readonly kind?: number } }).detail ?? {};
  return GC_KINDS[kind] ?? '';
}
