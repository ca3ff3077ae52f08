import { createProgress } from '../../catalogue/progress.ts';
import type { Erasure, FlushPreview, SurvivalEstimate } from '../../operations/flush/flush.ts';
import type { Desk } from './operator-command.ts';
import { pause } from './pause.ts';

/** Figures as people read them in a terminal. */

/** 12,345 */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** 0.0012 → 0.12 %; 0.895 → 89.5 % */
export function percent(share: number | undefined): string {
  if (share === undefined) return '–';
  const value = share * 100;
  const digits = value === 0 || Number.isInteger(Number(value.toFixed(6))) ? 0 : value < 1 ? 2 : 1;
  return `${value.toFixed(digits)} %`;
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, value)) / 10));
  const scaled = value / 1024 ** power;
  return `${power === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${units[power]}`;
}

/** 340 ms, 4.2 s, 3:05 min, 1:03:05 h */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const tail = two(seconds % 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${tail} h` : `${minutes}:${tail} min`;
}

/** Since a start: 0:07 min, 12:40 min. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
}

/** Rates and factors: two digits that mean something. */
export function figure(value: number | undefined): string {
  if (value === undefined) return '–';
  return value < 10 ? value.toFixed(1) : grouped(value);
}

export function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}

/** `2026-11-21 06:43:48Z` */
export function moment(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** The kind of a drill's verdict: `not measured`. */
export function verdictWords(kind: string): string {
  return kind.replaceAll('-', ' ');
}

/** Lines of text in columns, each as wide as its widest cell. Numbers and what begins like one stand to the right. */
export function columns(rows: readonly (readonly string[])[], head?: readonly string[]): string {
  const all = head === undefined ? rows : [head, ...rows];
  const count = Math.max(0, ...all.map(({ length }) => length));
  const widths = Array.from({ length: count }, (_, i) => Math.max(...all.map((row) => widthOf(row[i] ?? ''))));
  const toRight = widths.map((_, i) => rows.every((row) => /^$|^[–\d.,]+( [%\p{L}]+)?$/u.test(row[i] ?? '')));
  return all
    .map((row) =>
      row
        .map((cell, i) => {
          const space = ' '.repeat((widths[i] ?? 0) - widthOf(cell));
          return toRight[i] ? space + cell : cell + space;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function widthOf(text: string): number {
  return [...text].length;
}

export function indented(text: string, by = '  '): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : by + line))
    .join('\n');
}

/** What a flush would cost, for a person who has to decide. */
export function previewText(domain: string, preview: FlushPreview): string {
  const { mode, fraction, nodes, memory, engine } = preview;
  const rows = nodes.map(({ node, keys, bytes: size, exact, detail }) => [
    node,
    `${grouped(keys)} keys`,
    bytes(size),
    `${exact ? '' : 'estimated from a sample'}${detail === undefined ? '' : ` (${detail})`}`.trim(),
  ]);
  const held = ['memory of this process', `${grouped(memory.entries)} pages`, bytes(memory.bytes)];
  return [
    `${mode} ${percent(fraction)} of ${domain}`,
    indented(columns([...rows, held])),
    ...survivalLines(engine, fraction).map((line) => indented(line)),
  ].join('\n');
}

/** What its engine would get, and whether it can carry that. */
function survivalLines(estimate: SurvivalEstimate, fraction: number): readonly string[] {
  const { seconds, searches, hitRatio, engineCallMs, engineCallsPerSecond, survivable } = estimate;
  const measured = `measured over ${plural(searches, 'search', 'searches')} in ${duration(seconds * 1000)}`;
  if (hitRatio === undefined) return [`engine: nothing can be said without traffic (${measured})`];
  const more = estimate.extraCallsPerSecond;
  const cost = engineCallMs === undefined ? '' : ` of ${figure(engineCallMs)} ms`;
  const lines = [
    `engine: ${figure(engineCallsPerSecond)} calls/s${cost} now at a hit ratio of ${percent(hitRatio)}${
      more === undefined ? '' : `; at most ${figure(more)}/s more right after it`
    } (${measured})`,
  ];
  if (survivable === undefined) return [...lines, 'survivable f*: too little load to say'];
  const why = `headroom H at least ${figure(estimate.headroom)}, amplification A at most ${figure(estimate.amplification)}`;
  lines.push(`survivable f* = (H − 1)/(A − 1) = at least ${percent(survivable)} of the keys at once (${why})`);
  if (fraction > survivable) lines.push('! more than that: searches may be shed until it is refilled');
  return lines;
}

/** The part of the answer to a flush or a purge that says how many pages it affected. */
export interface AffectedAnswer {
  readonly note: string;
  readonly watch: readonly string[];
}

export function affectedLines({ note, watch }: AffectedAnswer): readonly string[] {
  return [indented(note), indented(`watch: ${watch.join('\nwatch: ')}`)];
}

const LOOK_MS = 500;

/** Waits until the erasure of a domain is over, with progress. Who stops waiting leaves it running. */
export async function followErasure(
  { client, stderr, clock, signal }: Desk,
  domain: string,
  first: Erasure | undefined,
): Promise<Erasure | undefined> {
  if (first?.state !== 'running') return first;
  const progress = createProgress({ label: `erasing ${domain}`, unit: 'keys', output: stderr, clock });
  let erasure: Erasure | undefined = first;
  try {
    while (erasure?.state === 'running') {
      progress.update(erasure.nodes.reduce((sum, { removed }) => sum + removed, 0));
      await pause(LOOK_MS, signal);
      const query = [['domain', domain]] as const;
      erasure = (await client.get<{ erasure?: Erasure }>('/admin/flush', { query })).erasure;
    }
  } catch (error) {
    if (signal.aborted) progress.note('the erasure goes on without this command');
    throw error;
  } finally {
    progress.finish();
  }
  return erasure;
}

export function erasureText({ nodes, seconds, state }: Erasure): string {
  const rows = nodes.map(({ node, by, state: each, removed, detail = '' }) => [
    node,
    by,
    each,
    `${grouped(removed)} keys`,
    detail,
  ]);
  return `erasure ${state} after ${duration(seconds * 1000)}\n${indented(columns(rows))}`;
}
