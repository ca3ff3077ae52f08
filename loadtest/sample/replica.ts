import { parseMetrics, type Series, seriesValue } from '../k6/kit/metrics-text.ts';
import { type DomainSample, defined, type ReplicaSample } from './sample.ts';

/**
 * @param adminUrl `http://127.0.0.1:8081`; its /metrics needs no token.
 * @returns a reader that never rejects; undefined when the process is away, takes longer than `limitMs` or is not serpcache.
 */
export function createReplicaAsker(adminUrl: string) {
  const url = new URL('metrics', adminUrl.endsWith('/') ? adminUrl : `${adminUrl}/`);
  return async (limitMs: number): Promise<ReplicaSample | undefined> => {
    try {
      // A redirect would lead to a host that is not in the options.
      const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(limitMs) });
      const text = await response.text();
      return response.ok ? replicaSampleOf(url.host, text) : undefined;
    } catch {
      return undefined;
    }
  };
}

/** @param text the process's /metrics. @returns undefined when it is not serpcache's. */
export function replicaSampleOf(name: string, text: string): ReplicaSample | undefined {
  // Buckets of histograms are two thirds of the lines, and not used here.
  const series = parseMetrics(text).filter((one) => Number.isFinite(one.value) && !one.name.endsWith('_bucket'));
  if (!series.some((one) => one.name.startsWith('serpcache_'))) return undefined;
  const lagSeconds = seriesValue(series, 'nodejs_eventloop_lag_p99_seconds');
  return {
    name,
    ...defined({
      cpuSeconds: seriesValue(series, 'process_cpu_seconds_total'),
      residentBytes: seriesValue(series, 'process_resident_memory_bytes'),
      loopUtilization: seriesValue(series, 'nodejs_eventloop_utilization'),
      loopLagP99Ms: lagSeconds === undefined ? undefined : lagSeconds * 1000,
      inFlight: seriesValue(series, 'serpcache_in_flight'),
      inFlightMax: seriesValue(series, 'serpcache_in_flight_max'),
      memoryBytes: sumOf(series, 'serpcache_tier_bytes'),
      memoryMaxBytes: sumOf(series, 'serpcache_tier_max_bytes'),
      memoryEvictions: sumOf(series, 'serpcache_tier_evictions_total'),
    }),
    domains: domainsOf(series),
    sheds: countsOf(series, 'serpcache_shed_total', 'reason'),
    misses: countsOf(series, 'serpcache_misses_total', 'reason'),
  };
}

/** The domain `none` has only counts: searches that were refused before their domain was known. */
function domainsOf(series: readonly Series[]): Readonly<Record<string, DomainSample>> {
  const ofDomain = Map.groupBy(
    series.filter((one) => one.labels['domain'] !== undefined),
    (one) => one.labels['domain'] ?? '',
  );
  const samples = Array.from(ofDomain, ([domain, own]) => [domain, domainOf(own)] as const);
  return Object.fromEntries(
    samples.filter(([domain, { outcomes }]) => domain !== 'none' || Object.keys(outcomes).length > 0),
  );
}

/** Calls that brought a page: with results, without, or with a part of the engine missing. All others failed. */
const ENGINE_PAGES: readonly string[] = ['whole', 'empty', 'partial'];

function domainOf(series: readonly Series[]): DomainSample {
  const calls = Object.entries(countsOf(series, 'serpcache_engine_calls_total', 'outcome'));
  const sum = (counts: readonly (readonly [string, number])[]): number => counts.reduce((all, [, n]) => all + n, 0);
  return {
    outcomes: countsOf(series, 'serpcache_requests_total', 'outcome'),
    engineCalls: sum(calls),
    engineFailures: sum(calls.filter(([outcome]) => !ENGINE_PAGES.includes(outcome))),
    storeCommands: countsOf(series, 'serpcache_store_commands_total', 'outcome'),
    ...defined({
      engineInFlight: seriesValue(series, 'serpcache_engine_permits_in_flight'),
      engineQueued: seriesValue(series, 'serpcache_engine_permits_queued'),
      engineLimit: seriesValue(series, 'serpcache_engine_permits_limit'),
      engineCeiling: seriesValue(series, 'serpcache_engine_permits_ceiling'),
      breaker: seriesValue(series, 'serpcache_engine_breaker_state'),
      flushedShare: seriesValue(series, 'serpcache_control_drill_flushed_ratio'),
    }),
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
