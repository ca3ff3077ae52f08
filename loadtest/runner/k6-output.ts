import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunEvent, Second } from '../judge/record.ts';
import { EVENT_MARK } from '../k6/kit/event.ts';
import { metricOf, SEEN_OUTCOMES } from '../k6/kit/outcome.ts';
import type { ScriptSummary } from '../k6/kit/summary.ts';
import { lastLines } from './k6-program.ts';

export const K6_FILES = { summary: 'k6-summary.json', seconds: 'k6-seconds.ndjson', log: 'k6.log' } as const;

/** The summary that the script wrote; undefined when it is missing or not whole. */
export async function readSummary(folder: string): Promise<ScriptSummary | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, K6_FILES.summary), 'utf8')) as ScriptSummary;
  } catch {
    return undefined;
  }
}

const TAIL_BYTES = 16 * 1024;

export async function logTail(folder: string): Promise<string> {
  const file = await open(join(folder, K6_FILES.log)).catch(() => undefined);
  if (file === undefined) return 'it said nothing';
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    return lastLines(buffer.toString('utf8', 0, bytesRead)) || 'it said nothing';
  } finally {
    await file.close();
  }
}

/** Positions in a trend's values in the record of k6's dashboard: avg, max, med, min, p90, p95, p99. */
const AT = { max: 1, p50: 2, p90: 4, p99: 6 } as const;

type Values = readonly (readonly number[])[];

/**
 * Every second as the generator saw it, from the record of k6's dashboard: a JSON object a line. Each `metric` event adds
 * names; each `snapshot` has a list of values for every name known by then, in alphabetical order: what was added since
 * the snapshot before, an empty list where nothing was, and the time, which is the end of the second. Other lines and
 * incomplete ones are skipped.
 */
export function secondsOf(record: string): readonly Second[] {
  let positions: ReadonlyMap<string, number> = new Map();
  const seconds: Second[] = [];
  for (const line of record.split('\n')) {
    const { event, data } = parsed(line);
    if (event === 'metric' && isObject(data)) {
      const names = new Set([...positions.keys(), ...Object.keys(data)]);
      positions = new Map([...names].sort().map((name, at) => [name, at]));
    }
    if (event === 'snapshot' && isValues(data)) {
      const second = secondOf(data, positions);
      if (second !== undefined) seconds.push(second);
    }
  }
  return seconds;
}

function secondOf(values: Values, positions: ReadonlyMap<string, number>): Second | undefined {
  const of = (name: string, at = 0): number | undefined => values[positions.get(name) ?? -1]?.[at];
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
    latencyMs:
      latency('max') > 0
        ? { p50: latency('p50'), p90: latency('p90'), p99: latency('p99'), max: latency('max') }
        : undefined,
  };
}

/** The object in a line; empty if the line is anything else. */
function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isValues(value: unknown): value is Values {
  return Array.isArray(value) && value.every((one) => Array.isArray(one) && one.every(Number.isFinite));
}

/** In order of time. The log is read line by line, because the log of a failing run may be large. */
export async function eventsIn(logFile: string): Promise<readonly RunEvent[]> {
  const file = await open(logFile).catch(() => undefined);
  const found = file === undefined ? [] : await Array.fromAsync(file.readLines(), eventIn);
  return found.filter((event) => event !== undefined).toSorted((one, other) => one.atMs - other.atMs);
}

/** Undefined for every other line, and for an incomplete one. */
export function eventIn(line: string): RunEvent | undefined {
  if (!line.startsWith(EVENT_MARK)) return undefined;
  const { atMs, kind, text, drill } = parsed(line.slice(EVENT_MARK.length));
  if (typeof atMs !== 'number' || typeof kind !== 'string' || typeof text !== 'string') return undefined;
  return { atMs, kind, text, drill: typeof drill === 'string' ? drill : undefined };
}
