import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, outcomeOf, type Reply } from '../../loadtest/http-driver/client.ts';
import { closedLoop, openLoop } from '../../loadtest/http-driver/loops.ts';
import { createZipf } from '../../loadtest/traffic/zipf.ts';
import type { ControlSummary } from '../../src/control/control.ts';
import type { RecordedEntry } from '../../src/operations/audit/audit.ts';
import type { Journal } from '../../src/operations/drills/journal.ts';
import { systemClock } from '../../src/runtime.ts';
import type { Outcome } from '../../src/search/outcome.ts';
import { LIMIT_MS } from '../until.ts';

export type Operator = ReturnType<typeof createOperator>;

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

export interface OperatorOptions {
  readonly adminUrl: string;
  /** Undefined for an operator without a token. */
  readonly token: string | undefined;
}

const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli.ts');

/**
 * An operator of one process, with the real CLI in a process of its own and with the admin API. A command ends by itself
 * when the service of its test is stopped.
 */
export function createOperator({ adminUrl, token }: OperatorOptions) {
  const start = (...words: readonly string[]) => {
    const child = spawn(process.execPath, [CLI, ...words, '--admin', adminUrl, '--json'], {
      // A folder without a configuration.
      cwd: tmpdir(),
      env: { ...process.env, SERPCACHE_CONFIG: '', ADMIN_TOKEN: token ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
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
      signal: (signal: NodeJS.Signals) => child.kill(signal),
      ended: new Promise<CliEnd>((resolve) => child.once('close', (code) => resolve({ code, lines: lines(), err }))),
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
    /** Runs it to its end. */
    cli: (...words: readonly string[]) => start(...words).ended,
    start,
    get,
    post: async (path: string, body: unknown, given = token): Promise<Answered> => {
      const response = await fetch(`${adminUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorized(given === '' ? undefined : given) },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Answered['body'] };
    },
    page,
    control: async (domain: string): Promise<ControlSummary> => {
      const { domains } = await get<{ domains: readonly { domain: string; control: ControlSummary }[] }>(
        '/admin/domains',
      );
      const found = domains.find((each) => each.domain === domain);
      if (found === undefined) throw new Error(`no domain ${domain}`);
      return found.control;
    },
    journal: (id: string) => get<Journal>(`/admin/drills/${id}`),
    /** Newest first. */
    audit: async () => (await get<{ entries: readonly RecordedEntry[] }>('/admin/audit?limit=1000')).entries,
  };
}

export type Traffic = Awaited<ReturnType<typeof startTraffic>>;

export interface TrafficAnswer {
  readonly sentMs: number;
  readonly process: number;
  readonly text: string;
  /** `refused`: another status than 200; `broken`: no answer. */
  readonly result: Outcome | 'refused' | 'broken';
  /** Ids on the page. */
  readonly ids: readonly string[];
}

export interface TrafficOptions {
  readonly urls: readonly string[];
  readonly domain: string;
  readonly texts: readonly string[];
  readonly ratePerSecond?: number;
}

/**
 * User traffic: repeated searches to each process in turn, at a fixed rate that does not depend on the answers. Resolves
 * after every text was searched once in each process, so that the cache is warm when the traffic begins.
 */
export async function startTraffic(options: TrafficOptions) {
  const { urls, domain, texts, ratePerSecond = 60 } = options;
  const clients = urls.map((baseUrl) => createClient({ baseUrl, patienceMs: LIMIT_MS, maxConnections: 64 }));
  const answers: TrafficAnswer[] = [];
  const ask = async (text: string, process: number): Promise<TrafficAnswer> => {
    const sentMs = systemClock.monotonicMs();
    const reply = await clients[process]?.get(`/search?domain=${domain}&q=${encodeURIComponent(text)}`);
    return { sentMs, process, text, result: resultOf(reply), ids: idsOf(reply) };
  };
  for (const process of urls.keys()) {
    // Four at a time: an engine with one worker sheds more.
    await closedLoop(texts, 4, (text) => ask(text, process));
  }
  const rank = createZipf({ size: texts.length, exponent: 1 });
  const send = async (n: number): Promise<unknown> =>
    answers.push(await ask(texts[rank(Math.random)] ?? '', n % urls.length));
  const loop = openLoop({ ratePerSecond, random: Math.random, send });
  return {
    answers,
    stop: async (): Promise<void> => {
      loop.stop();
      await loop.ended;
      for (const client of clients) client.close();
    },
  };
}

function resultOf(reply: Reply | undefined): TrafficAnswer['result'] {
  if (reply?.kind !== 'answer') return 'broken';
  if (reply.status !== 200) return 'refused';
  return (outcomeOf(reply) ?? 'broken') as TrafficAnswer['result'];
}

function idsOf(reply: Reply | undefined): readonly string[] {
  if (reply?.kind !== 'answer' || reply.status !== 200) return [];
  const { results = [] } = JSON.parse(reply.body) as { results?: readonly { readonly id: string }[] };
  return results.map(({ id }) => id);
}
