import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlSummary } from '../../src/control/control.ts';
import type { RecordedEntry } from '../../src/operations/audit/audit.ts';
import type { Journal } from '../../src/operations/drills/journal.ts';

/** An operator's hands on one process: the real CLI in a process of its own, and the admin API beside it. */
export interface Operator {
  /** Runs it to its end. */
  readonly cli: (...words: readonly string[]) => Promise<CliEnd>;
  readonly start: (...words: readonly string[]) => RunningCli;
  readonly get: <T>(path: string) => Promise<T>;
  readonly post: (path: string, body: unknown, token?: string) => Promise<Answered>;
  readonly page: (path: string) => Promise<Response>;
  readonly control: (domain: string) => Promise<ControlSummary>;
  readonly journal: (id: string) => Promise<Journal>;
  /** Newest first. */
  readonly audit: () => Promise<readonly RecordedEntry[]>;
}

export interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Line = Readonly<Record<string, unknown>>;

export interface CliEnd {
  readonly code: number | null;
  readonly lines: readonly Line[];
  readonly err: string;
}

export interface RunningCli {
  readonly lines: () => readonly Line[];
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<CliEnd>;
}

export interface OperatorOptions {
  readonly adminUrl: string;
  /** Undefined: has none. */
  readonly token: string | undefined;
  /** For a command: then it is killed. */
  readonly longestMs?: number;
}

const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli.ts');
/** Whatever a test waits for in vain, its command ends. */
const LONGEST_MS = 60_000;

export function createOperator({ adminUrl, token, longestMs = LONGEST_MS }: OperatorOptions): Operator {
  const start: Operator['start'] = (...words) => {
    const child = spawn(process.execPath, [CLI, ...words, '--admin', adminUrl, '--json'], {
      // Not a project's folder: no configuration is found there.
      cwd: tmpdir(),
      env: { ...process.env, SERPCACHE_CONFIG: '', ADMIN_TOKEN: token ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: longestMs,
      killSignal: 'SIGKILL',
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const lines = (): readonly Line[] =>
      out
        .slice(0, out.lastIndexOf('\n') + 1)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    return {
      lines,
      signal: (signal) => child.kill(signal),
      ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, lines: lines(), err }))),
    };
  };
  const authorized = (given: string | undefined): Readonly<Record<string, string>> =>
    given === undefined ? {} : { authorization: `Bearer ${given}` };
  const page = (path: string): Promise<Response> => fetch(`${adminUrl}${path}`, { headers: authorized(token) });
  const get = async <T>(path: string): Promise<T> => {
    const response = await page(path);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };

  return {
    cli: (...words) => start(...words).ended,
    start,
    get,
    post: async (path, body, given = token) => {
      const response = await fetch(`${adminUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorized(given === '' ? undefined : given) },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Answered['body'] };
    },
    page,
    control: async (domain) => {
      const { domains } = await get<{ domains: readonly { domain: string; control: ControlSummary }[] }>(
        '/admin/domains',
      );
      const found = domains.find((each) => each.domain === domain);
      if (found === undefined) throw new Error(`no domain ${domain}`);
      return found.control;
    },
    journal: (id) => get<Journal>(`/admin/drills/${id}`),
    audit: async () => (await get<{ entries: readonly RecordedEntry[] }>('/admin/audit?limit=1000')).entries,
  };
}

/** Looks every few milliseconds until it holds. @returns after how long, ms. @throws after `timeoutMs` */
export async function soon(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 20_000): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    // What was so when it was asked: a late answer of a busy machine is not held against the service.
    const askedMs = performance.now() - startedMs;
    if (await Promise.resolve(holds()).catch(() => false)) return askedMs;
    if (askedMs > timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
