import { relative } from 'node:path';
import { ageMs, residentBytes } from './owned.ts';
import { partsOf, type StackPlan, TOKEN_FILE } from './plan.ts';
import { processesOf } from './stack.ts';

/** A line per part, columns aligned. */
export function statusTable(plan: StackPlan): { readonly text: string; readonly allRunning: boolean } {
  const rows = partsOf(plan).map((part) => {
    const [first, ...more] = processesOf(part);
    const log = relative(process.cwd(), part.logFile);
    if (first === undefined) return [part.name, 'stopped', '', String(part.port), '', '', log];
    const pids = [first, ...more].map(({ pid }) => pid).join(',');
    const memory = `${Math.round(residentBytes(first) / 2 ** 20)} MiB`;
    return [part.name, 'running', pids, String(part.port), shownAge(ageMs(first)), memory, log];
  });
  const head = ['PART', 'STATE', 'PID', 'PORT', 'AGE', 'MEMORY', 'LOG'];
  return { text: aligned([head, ...rows]), allRunning: rows.every(([, state]) => state === 'running') };
}

export function urls({ replicas: [first, ...others] }: StackPlan): string {
  if (first === undefined) return '';
  const open = `http://127.0.0.1:${first.port}`;
  const admin = `http://127.0.0.1:${first.adminPort}`;
  return [
    `search page   ${open}/`,
    `API           ${open}/search?q=laptop   (described at ${open}/docs)`,
    `metrics       ${admin}/metrics`,
    `console       ${admin}/ops   (token: in ${relative(process.cwd(), TOKEN_FILE)}, which commands take as --token-file)`,
    ...others.map(({ name, port, adminPort }) => `${name}   http://127.0.0.1:${port}/, admin ${adminPort}`),
  ].join('\n');
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function shownAge(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  return seconds < 3600
    ? `${Math.floor(seconds / 60)}m`
    : `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
}
