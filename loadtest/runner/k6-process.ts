import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunEvent, Second } from '../judge/record.ts';
import { EVENT_MARK } from '../k6/kit/event.ts';
import { metricOf, SEEN_OUTCOMES } from '../k6/kit/outcome.ts';
import type { ScriptSummary } from '../k6/kit/summary.ts';
import { type K6Script, surroundings } from './k6-program.ts';

/** What k6 leaves in the folder of a run. */
export const K6_FILES = { summary: 'k6-summary.json', seconds: 'k6-seconds.ndjson', log: 'k6.log' } as const;

export interface K6Run extends K6Script {
  readonly folder: string;
  /** Processors it is kept on, as taskset takes them. */
  readonly cpus?: string;
  /** Longer than this and it is ended. */
  readonly limitMs: number;
  /** Between being asked to end and being made to. */
  readonly graceMs?: number;
  /** Asks it to end: it still writes its summary. */
  readonly signal: AbortSignal;
  readonly started?: (pid: number) => void;
}

export interface K6End {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly cut?: 'by hand' | 'too long';
}

/** Of Go's memory: k6 spends a tenth of its time looking for garbage otherwise, and has memory to spare. */
const GOGC = process.env['GOGC'] ?? '400';
/** What it does when it is interrupted (teardown of the script included) has to fit. */
const GRACE_MS = 30_000;

/** @throws when it cannot be started. */
export async function runK6(wanted: K6Run): Promise<K6End> {
  const { program, folder, env, cpus, limitMs, graceMs = GRACE_MS, signal } = wanted;
  const [command = '', ...args] = [
    ...(cpus === undefined ? [] : ['taskset', '--cpu-list', cpus]),
    program.path,
    ...argumentsOf(wanted.file),
  ];
  // What it says before it has read its arguments, and its last words when it crashes.
  const log = openSync(join(folder, K6_FILES.log), 'a');
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...surroundings(process.env), ...env, GOGC, SUMMARY: join(folder, K6_FILES.summary) },
    stdio: ['ignore', 'inherit', log],
    // In a group of its own: Ctrl-C reaches it once, through us. The second ends k6 before it has summed anything up.
    detached: true,
  });
  closeSync(log);
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', kill);

  let cut: K6End['cut'];
  let late: NodeJS.Timeout | undefined;
  const end = (why: 'by hand' | 'too long'): void => {
    if (cut !== undefined) return;
    cut = why;
    child.kill('SIGINT');
    late = setTimeout(kill, graceMs);
  };
  const byHand = (): void => end('by hand');
  const limit = setTimeout(() => end('too long'), limitMs);
  signal.addEventListener('abort', byHand, { once: true });
  try {
    return await new Promise<K6End>((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', () => {
        if (child.pid !== undefined) wanted.started?.(child.pid);
        if (signal.aborted) byHand();
      });
      child.once('exit', (code) => resolve({ code: code ?? undefined, ...(cut === undefined ? {} : { cut }) }));
    });
  } finally {
    clearTimeout(limit);
    clearTimeout(late);
    signal.removeEventListener('abort', byHand);
    process.removeListener('exit', kill);
  }
}

/**
 * Nothing listens but k6's dashboard, which writes what it shows into a file: on loopback, any free port (told to have
 * none it listens on all addresses: grafana/xk6-dashboard v0.8.1). Its costs are about a sixth of the generator's time.
 */
function argumentsOf(file: string): readonly string[] {
  const dashboard = `host=127.0.0.1&port=0&period=1s&record=${K6_FILES.seconds}`;
  return [
    'run',
    '--quiet',
    '--no-usage-report',
    '--address=',
    '--log-format=raw',
    `--log-output=file=${K6_FILES.log}`,
    `--out=web-dashboard=${dashboard}`,
    file,
  ];
}

const KINDS = ['passed', 'failed', 'invalid'];

/** What the script said of its run; undefined when it said nothing that can be read. */
export async function readSummary(file: string): Promise<ScriptSummary | undefined> {
  try {
    const summary = JSON.parse(await readFile(file, 'utf8')) as Partial<ScriptSummary> | null;
    const { script, steps, generator, verdict } = summary ?? {};
    const isWhole =
      typeof script === 'string' &&
      Array.isArray(steps) &&
      generator !== undefined &&
      KINDS.includes(verdict?.kind ?? '');
    return isWhole ? (summary as ScriptSummary) : undefined;
  } catch {
    return undefined;
  }
}

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

/** A script that says something with every request has gone wrong. */
const MOST = 5000;

/** In the order of time. The log is read line by line: of a run that goes wrong it may be large. */
export async function eventsIn(logFile: string): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  const file = await open(logFile).catch(() => undefined);
  if (file === undefined) return [];
  for await (const line of file.readLines()) {
    const event = eventIn(line);
    if (event !== undefined && events.push(event) >= MOST) break;
  }
  return events.toSorted((one, other) => one.atMs - other.atMs);
}

/** Undefined of every other line, and of one that was cut off. */
export function eventIn(line: string): RunEvent | undefined {
  if (!line.startsWith(EVENT_MARK)) return undefined;
  try {
    const { atMs, kind, text, drill } = JSON.parse(line.slice(EVENT_MARK.length)) as Readonly<Record<string, unknown>>;
    if (typeof atMs !== 'number' || typeof kind !== 'string' || typeof text !== 'string') return undefined;
    return { atMs, kind, text, ...(typeof drill === 'string' ? { drill } : {}) };
  } catch {
    return undefined;
  }
}
