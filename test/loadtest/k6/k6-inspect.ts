import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { k6Program } from '../../../loadtest/runner/k6-program.ts';

export const SCRIPTS_FOLDER = join(import.meta.dirname, '../../../loadtest/k6');

/** k6 is built if it is missing: this takes a minute or two, once. */
export const k6 = await k6Program(process.env['K6'] || undefined, (text) => console.error(text));

const WORDS = 'диван шкаф стол кровать кресло ковёр лампа полка зеркало комод стул пуф'.split(' ');

/** A query file and every variable that a script requires; no server listens at the addresses. */
export function environment(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-scripts-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const queries = join(folder, 'queries.tsv');
  writeFileSync(queries, WORDS.map((word) => `goods\t${word}\n`).join(''));
  const url = 'http://127.0.0.1:9';
  return { BASE_URL: url, ADMIN_URL: url, ADMIN_TOKEN: 'choose-one', BASE_RPS: '50', QUERIES: queries };
}

/** A scenario as k6 understands it: durations are strings. */
export interface K6Scenario {
  readonly executor: string;
  readonly exec: string | null;
  readonly startTime: string | null;
  readonly timeUnit?: string;
  readonly startRate?: number;
  readonly duration?: string;
  readonly stages?: readonly { readonly duration: string; readonly target: number }[];
}

export interface Inspected {
  readonly code: number;
  readonly scenarios: Readonly<Record<string, K6Scenario>>;
  readonly thresholds: Readonly<Record<string, readonly string[]>>;
  /** The message of k6 when it refuses the script. */
  readonly said: string;
}

/** k6 evaluates a script and its exports, and sends no request. */
export function inspect(script: string, env: Readonly<Record<string, string>>): Promise<Inspected> {
  const words = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const file = join(SCRIPTS_FOLDER, `${script}.ts`);
  return new Promise((resolve) => {
    const options = { maxBuffer: 2 ** 24 };
    execFile(k6.path, ['inspect', '--execution-requirements', ...words, file], options, (error, out, said) => {
      const code = error === null ? 0 : Number(error.code);
      const { scenarios = {}, thresholds = {} } = error === null ? JSON.parse(out) : {};
      resolve({ code, scenarios, thresholds, said });
    });
  });
}

/** `1m5s` → 65 */
export function secondsOf(duration: string | null): number {
  const units: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 };
  const parts = [...(duration ?? '').matchAll(/([\d.]+)(ms|h|m|s)/g)];
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? Number.NaN), 0);
}
