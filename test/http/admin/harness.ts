import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { type AdminServer, type AdminServerOptions, createAdminServer } from '../../../src/http/admin/admin-server.ts';
import type { RequestEvent } from '../../../src/http/events.ts';
import type { TokenEvent } from '../../../src/http/transport/events.ts';
import type { RecordedEntry } from '../../../src/operations/audit/audit.ts';
import type { Operations } from '../../../src/operations/operations.ts';
import { type Clock, systemClock } from '../../../src/runtime.ts';
import { registerOps } from '../../../src/ui/console/route.ts';
import { createFakeAudit } from '../../fakes/audit.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { createFakeSearch } from '../../fakes/search.ts';

export const TOKEN = 'correct-horse-battery-staple';
export const bearer = { authorization: `Bearer ${TOKEN}` };

export interface AdminHarness {
  readonly server: AdminServer;
  readonly operations: Operations;
  /** Entries of the audit, in order. */
  readonly entries: RecordedEntry[];
  /** Request events, in order. */
  readonly requests: RequestEvent[];
  /** Token events, in order. */
  readonly tokens: TokenEvent[];
  /** Parsed log lines. */
  readonly lines: Record<string, unknown>[];
  /** Every route that was registered. */
  readonly routes: { readonly method: string; readonly url: string }[];
  readonly get: (url: string) => Promise<Reply>;
  readonly post: (url: string, payload?: object) => Promise<Reply>;
  readonly listen: () => Promise<number>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The parsed body, untyped. */
  readonly json: ReturnType<JSON['parse']>;
}

/** The admin listener over fake operations, closed when the test ends. */
export function adminHarness(
  context: Pick<TestContext, 'after'>,
  options: Partial<AdminServerOptions> & { readonly clock?: Clock } = {},
): AdminHarness {
  const clock = options.clock ?? systemClock;
  const operations = options.operations ?? createFakeOperations({ clock });
  const audit = createFakeAudit(clock);
  const { entries } = audit;
  const requests: RequestEvent[] = [];
  const tokens: TokenEvent[] = [];
  const lines: Record<string, unknown>[] = [];
  const server = createAdminServer({
    domains: createFakeSearch({ clock }).domains,
    observe: (event) => requests.push(event),
    observeToken: (event) => tokens.push(event),
    operations,
    audit,
    metricsText: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' }),
    log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    clock,
    random: () => 0.5,
    drainMs: 300,
    maxUrlBytes: 4096,
    maxPageBytes: 1_000_000,
    version: '0.0.0',
    pages: registerOps,
    ...(options.token === '' ? {} : { token: TOKEN }),
    ...options,
  });
  context.after(() => server.close());
  const routes: { method: string; url: string }[] = [];
  server.app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.push({ method: each, url });
  });

  const ask = async (method: 'GET' | 'POST', url: string, payload?: object): Promise<Reply> => {
    const answer = await server.app.inject({
      method,
      url,
      headers: bearer,
      ...(payload === undefined ? {} : { payload }),
    });
    const type = String(answer.headers['content-type']);
    const json = /json$|json;/.test(type) ? JSON.parse(answer.payload) : undefined;
    return { status: answer.statusCode, headers: answer.headers, text: answer.payload, json };
  };
  return {
    ...{ server, operations, entries, requests, tokens, lines, routes },
    get: (url) => ask('GET', url),
    post: (url, payload) => ask('POST', url, payload),
    listen: async () => {
      await server.listen({ host: '127.0.0.1', port: 0 });
      return (server.app.server.address() as AddressInfo).port;
    },
  };
}
