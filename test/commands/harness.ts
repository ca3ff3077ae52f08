import type { IncomingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { call } from '../../src/commands/call.ts';
import type { CommandContext } from '../../src/commands/command.ts';
import { loadSettings } from '../../src/config/load.ts';
import { createAdminServer } from '../../src/http/admin/admin-server.ts';
import type { ListenerTls } from '../../src/http/transport/listener.ts';
import type { AuditEntry } from '../../src/operations/audit/audit.ts';
import type { Operations } from '../../src/operations/operations.ts';
import { type Clock, systemClock } from '../../src/runtime.ts';
import type { SearchedDomain } from '../../src/search/domain-search.ts';
import { createFakeAudit } from '../fakes/audit.ts';
import { createFakeOperations } from '../fakes/operations.ts';
import { createFakeSearch } from '../fakes/search.ts';

export const TOKEN = 'correct-horse-battery-staple';

export type AdminService = Awaited<ReturnType<typeof adminService>>;

/** The speed of the virtual clock: a drill of 15 s takes one second. */
export const SPEED = 15;

/** The real admin listener over fake operations that record the requests. */
export async function adminService(
  t: TestContext,
  given: Partial<Pick<SearchedDomain, 'explain' | 'search' | 'status'>> = {},
  tls?: ListenerTls,
) {
  let [factor, sinceMs, passedMs] = [SPEED, performance.now(), 0];
  const virtualMs = (): number => passedMs + factor * (performance.now() - sinceMs);
  const clock: Clock = {
    wallMs: () => Date.parse('2026-11-21T06:00:00Z') + virtualMs(),
    monotonicMs: () => 1_000_000 + virtualMs(),
  };
  const operations: Operations = createFakeOperations({ clock });
  const asked: { readonly what: string; readonly body: unknown; readonly headers: IncomingHttpHeaders }[] = [];
  const audit: AuditEntry[] = [];
  const server = createAdminServer({
    domains: createFakeSearch({ clock }).domains.map((domain) => ({ ...domain, ...given })),
    operations,
    audit: { ...createFakeAudit(clock), record: (entry) => audit.push(entry) },
    observe: () => {},
    version: '0.0.0',
    metricsText: async () => ({ contentType: 'text/plain', body: '' }),
    log: pino({ level: 'silent' }),
    clock,
    random: Math.random,
    drainMs: 100,
    maxUrlBytes: 8192,
    maxPageBytes: 1_000_000,
    token: TOKEN,
    tls,
  });
  server.app.addHook('preValidation', async ({ method, url, body, headers }) => {
    asked.push({ what: `${method} ${url.split('?')[0]}`, body, headers });
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  let closing: Promise<unknown> | undefined;
  const closeListener = (): Promise<unknown> => {
    closing ??= server.close();
    return closing;
  };
  t.after(closeListener);
  return {
    url,
    port: Number(new URL(url).port),
    /** All requests in order: `POST /admin/flush`. */
    requests: () => asked.map(({ what }) => what),
    /** The bodies posted to a path, in order. */
    posted: (path: string): readonly unknown[] =>
      asked.filter(({ what }) => what === `POST ${path}`).map(({ body }) => body),
    /** The headers of the latest request. */
    headers: () => asked.at(-1)?.headers ?? {},
    audit,
    operations,
    /** Sets the speed of its clock; 0 stops it. */
    runAt: (speed: number): void => {
      [passedMs, sinceMs, factor] = [virtualMs(), performance.now(), speed];
    },
    /** Connections are refused from now on. */
    closeListener,
  };
}

export interface CliCall
  extends Partial<Pick<CommandContext, 'signal' | 'adminToken' | 'storePassword' | 'clock' | 'serve' | 'input'>> {
  /** The answers of a person at a terminal; without them, the output is a pipe. */
  readonly answers?: readonly string[];
  readonly onWrite?: (text: string) => void;
  /** The environment of the configuration; without it, only the token of the test's service is given. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Calls the CLI as a shell does, but in this process. */
export async function callCli(words: readonly string[], calling: CliCall = {}) {
  const { answers, onWrite, env, ...given } = calling;
  const isTTY = answers !== undefined;
  const questions: string[] = [];
  const left = [...(answers ?? [])];
  let out = '';
  let err = '';
  const code = await call(words, {
    clock: systemClock,
    stdout: {
      isTTY,
      write: (text) => {
        out += text;
        onWrite?.(text);
      },
    },
    stderr: {
      isTTY,
      columns: 200,
      write: (text) => {
        err += text;
        onWrite?.(text);
      },
    },
    settings: (file) =>
      loadSettings({ env: file === undefined ? (env ?? {}) : { SERPCACHE_CONFIG: file }, cwd: process.cwd() }),
    signal: new AbortController().signal,
    operator: 'ana@desk',
    ...(env === undefined ? { adminToken: TOKEN } : {}),
    ...given,
    ...(isTTY
      ? {
          ask: async (question: string) => {
            questions.push(question);
            return left.shift() ?? '';
          },
        }
      : {}),
  });
  /** The lines of standard output, parsed as JSON. */
  const lines = (): readonly { readonly [name: string]: unknown }[] =>
    out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { code, out, err, questions, lines };
}
