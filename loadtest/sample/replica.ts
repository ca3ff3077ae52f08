import { parseMetrics, type Series, seriesValue } from '../k6/kit/metrics-text.ts';

/**
 * @param adminUrl `http://127.0.0.1:8081`; its /metrics needs no token.
 * @returns a reader that never rejects; undefined when the process is away, takes longer than `limitMs` or is not serpcache.
 */
export function createReplicaAsker(adminUrl: string) {
  const url = new URL('metrics', adminUrl.endsWith('/') ? adminUrl : `${adminUrl}/`);
  let last: ReplicaPage | undefined;
  return async (limitMs: number) => {
    try {
      // A redirect would lead to a host that is not in the options.
      const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(limitMs) });
      const text = await response.text();
      if (!response.ok) return undefined;
      const page = replicaPageOf(text, performance.now());
      const sample = page && replicaSampleOf(url.host, page, last);
      last = page ?? last;
      return sample;
    } catch {
      return undefined;
    }
  };
}

export interface ReplicaPage {
  readonly series: readonly Series[];
  /** Monotonic time. */
  readonly atMs: number;
}

/** @returns undefined when the text is not the /metrics of serpcache. */
export function replicaPageOf(text: string, atMs: number): ReplicaPage | undefined {
  // Other buckets of histograms are two thirds of the lines, and not used here.
  const series = parseMetrics(text).filter(
    ({ name, value }) => Number.isFinite(value) && (!name.endsWith('_bucket') || name === `${DELAY}_bucket`),
  );
  return series.some(({ name }) => name.startsWith('serpcache_')) ? { series, atMs } : undefined;
}

const START = 'process_start_time_seconds';
const BUSY = 'nodejs_eventloop_busy_seconds_total';
const DELAY = 'nodejs_eventloop_delay_seconds';

/** @param before the page before this one: figures of the event loop are of the time between both, and absent without it. */
export function replicaSampleOf(name: string, page: ReplicaPage, before?: ReplicaPage) {
  const { series } = page;
  // A restarted process counts from 0 again.
  const earlier =
    before !== undefined && seriesValue(before.series, START) === seriesValue(series, START) ? before : undefined;
  return {
    /** Its admin address without scheme. */
    name,
    cpuSeconds: seriesValue(series, 'process_cpu_seconds_total'),
    residentBytes: seriesValue(series, 'process_resident_memory_bytes'),
    /** 0–1. */
    loopUtilization: earlier && busyShareOf(earlier, page),
    loopLagP99Ms: earlier && loopDelayMsOf(earlier.series, series, 0.99),
    /** Searches that wait for something, and their maximum. */
    inFlight: seriesValue(series, 'serpcache_in_flight'),
    inFlightMax: seriesValue(series, 'serpcache_in_flight_max'),
    memoryBytes: sumOf(series, 'serpcache_tier_bytes'),
    memoryMaxBytes: sumOf(series, 'serpcache_tier_max_bytes'),
    memoryEvictions: sumOf(series, 'serpcache_tier_evictions_total'),
    domains: domainsOf(series),
    /** By reason, all domains. */
    sheds: countsOf(series, 'serpcache_shed_total', 'reason'),
    misses: countsOf(series, 'serpcache_misses_total', 'reason'),
  };
}

function busyShareOf(before: ReplicaPage, after: ReplicaPage): number | undefined {
  const from = seriesValue(before.series, BUSY);
  const to = seriesValue(after.series, BUSY);
  if (from === undefined || to === undefined || after.atMs <= before.atMs) return undefined;
  // The two clocks differ by the time of the requests.
  return Math.min(1, (to - from) / ((after.atMs - before.atMs) / 1000));
}

/**
 * A quantile of the event loop delay between two pages: the bound of the bucket that holds it, so the delay was at most this.
 * Above the last bound it is that bound. Undefined when the loop was not sampled meanwhile.
 */
export function loopDelayMsOf(
  before: readonly Series[],
  after: readonly Series[],
  quantile: number,
): number | undefined {
  const buckets = after
    .filter(({ name }) => name === `${DELAY}_bucket`)
    .map(({ labels, value }) => ({
      boundMs: Number(labels['le']) * 1000,
      count: value - (seriesValue(before, `${DELAY}_bucket`, labels) ?? 0),
    }));
  // The bucket +Inf is the last one and has no number.
  const count = buckets.at(-1)?.count ?? 0;
  if (count <= 0) return undefined;
  const bounds = buckets.slice(0, -1);
  return (bounds.find((bucket) => bucket.count >= quantile * count) ?? bounds.at(-1))?.boundMs;
}

/** The domain `none` has only counts: searches that were refused before their domain was known. */
function domainsOf(series: readonly Series[]) {
  const ofDomain = Map.groupBy(
    series.filter((one) => one.labels['domain'] !== undefined),
    (one) => one.labels['domain'] ?? '',
  );
  const samples = Array.from(ofDomain, ([domain, own]) => [domain, domainSampleOf(own)] as const);
  return Object.fromEntries(
    samples.filter(([domain, { outcomes }]) => domain !== 'none' || Object.keys(outcomes).length > 0),
  );
}

/** Calls that brought a page: with results, without, or with a part of the engine missing. All others failed. */
const ENGINE_PAGES: readonly string[] = ['whole', 'empty', 'partial'];

export function domainSampleOf(series: readonly Series[]) {
  const calls = Object.entries(countsOf(series, 'serpcache_engine_calls_total', 'outcome'));
  const sum = (counts: readonly (readonly [string, number])[]): number => counts.reduce((all, [, n]) => all + n, 0);
  return {
    /** Requests by outcome. */
    outcomes: countsOf(series, 'serpcache_requests_total', 'outcome'),
    engineCalls: sum(calls),
    engineFailures: sum(calls.filter(([outcome]) => !ENGINE_PAGES.includes(outcome))),
    storeCommands: countsOf(series, 'serpcache_store_commands_total', 'outcome'),
    engineInFlight: seriesValue(series, 'serpcache_engine_permits_in_flight'),
    engineQueued: seriesValue(series, 'serpcache_engine_permits_queued'),
    engineLimit: seriesValue(series, 'serpcache_engine_permits_limit'),
    engineCeiling: seriesValue(series, 'serpcache_engine_permits_ceiling'),
    /** 0 closed, 1 half-open, 2 open. */
    breaker: seriesValue(series, 'serpcache_engine_breaker_state'),
    /** 0–1: share of the keys that a drill suppresses now. */
    flushedShare: seriesValue(series, 'serpcache_control_drill_flushed_ratio'),
  };
}

/** Sums by one label. Zeros are left out: most counts are 0, and a long run keeps thousands of samples. */
function countsOf(series: readonly Series[], name: string, label: string): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { name: own, labels, value } of series) {
    const key = labels[label];
    if (own === name && key !== undefined && value !== 0) counts.set(key, (counts.get(key) ?? 0) + value);
  }
  return Object.fromEntries(counts);
}

/** Undefined without such a series: 0 would be a measurement. */
function sumOf(series: readonly Series[], name: string): number | undefined {
  return series.reduce<number | undefined>((sum, one) => (one.name === name ? (sum ?? 0) + one.value : sum), undefined);
}
