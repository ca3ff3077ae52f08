import type { Second } from '../judge/record.ts';
import { metricOf, SEEN_OUTCOMES } from '../k6/kit/outcome.ts';

/** Of a trend's values in the record of k6's dashboard: avg, max, med, min, p90, p95, p99. */
const AT = { max: 1, p50: 2, p90: 4, p99: 6 } as const;

type Values = readonly (readonly number[])[];

/**
 * What the generator saw, second by second, from the record of k6's dashboard: a JSON object a line. Each `metric` event
 * adds names; each `snapshot` has a list of values for every name so far, in the order of the alphabet: what was added
 * since the snapshot before, nothing where nothing was, and the time, which is the second's end. Other lines, and one
 * that was cut off, are passed over.
 */
export function secondsOf(record: string): readonly Second[] {
  let places: ReadonlyMap<string, number> = new Map();
  const seconds: Second[] = [];
  for (const line of record.split('\n')) {
    const entry = parsed(line);
    if (entry?.event === 'metric' && isObject(entry.data)) {
      const names = new Set([...places.keys(), ...Object.keys(entry.data)]);
      places = new Map([...names].sort().map((name, at) => [name, at]));
    }
    if (entry?.event === 'snapshot' && isValues(entry.data)) {
      const second = secondOf(entry.data, places);
      if (second !== undefined) seconds.push(second);
    }
  }
  return seconds;
}

function secondOf(values: Values, places: ReadonlyMap<string, number>): Second | undefined {
  const of = (name: string, at = 0): number | undefined => values[places.get(name) ?? -1]?.[at];
  const atMs = of('time');
  if (atMs === undefined) return undefined;
  const outcomes = SEEN_OUTCOMES.flatMap((outcome) => {
    const count = of(metricOf(outcome)) ?? 0;
    return count > 0 ? [[outcome, count] as const] : [];
  });
  const latency = (at: keyof typeof AT): number => of('search_duration', AT[at]) ?? 0;
  return {
    atMs,
    searches: of('searches') ?? 0,
    errors: of('errors_total') ?? 0,
    dropped: of('dropped_iterations') ?? 0,
    vus: of('vus') ?? 0,
    receivedBytes: of('data_received') ?? 0,
    outcomes: Object.fromEntries(outcomes),
    // A trend without a sample in this second is all zeros.
    ...(latency('max') > 0
      ? { latencyMs: { p50: latency('p50'), p90: latency('p90'), p99: latency('p99'), max: latency('max') } }
      : {}),
  };
}

function parsed(line: string): { readonly event?: unknown; readonly data?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isValues(value: unknown): value is Values {
  return Array.isArray(value) && value.every((one) => Array.isArray(one) && one.every(Number.isFinite));
}
