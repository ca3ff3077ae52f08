import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import pino from 'pino';
import { type AdminServerOptions, createAdminServer } from '../../../src/http/admin/admin-server.ts';
import type { RequestEvent } from '../../../src/http/events.ts';
import type { TokenEvent } from '../../../src/http/transport/events.ts';
import type { Operations } from '../../../src/operations/operations.ts';
import { type Clock, systemClock } from '../../../src/runtime.ts';
import { registerOps } from '../../../src/ui/console/route.ts';
import { createFakeAudit } from '../../fakes/audit.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { createFakeSearch } from '../../fakes/search.ts';

export const TOKEN = 'correct-horse-battery-staple';
export const bearer = { authorization: `Bearer ${TOKEN}` };

export type AdminHarness = ReturnType<typeof adminHarness>;
export type Reply = Awaited<ReturnType<AdminHarness['get']>>;

/** The admin listener over fake operations, closed when the test ends. */
export function adminHarness(
  context: { after(close: () => Promise<unknown>): void },
  options: Partial<AdminServerOptions> & { readonly clock?: Clock } = {},
) {
  const clock = options.clock ?? systemClock;
  const operations: Operations = options.operations ?? createFakeOperations({ clock });
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

  const ask = async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const answer = await server.app.inject({ method, url, headers: bearer, ...(payload && { payload }) });
    const type = String(answer.headers['content-type']);
    /** The parsed body, untyped. */
    const json: ReturnType<JSON['parse']> = /json$|json;/.test(type) ? JSON.parse(answer.payload) : undefined;
    return { status: answer.statusCode, headers: answer.headers, text: answer.payload, json };
  };
  return {
    server,
    operations,
    /** Entries of the audit, in order. */
    entries,
    /** Request events, in order. */
    requests,
    /** Token events, in order. */
    tokens,
    /** Parsed log lines. */
    lines,
    /** Every route that was registered. */
    routes,
    get: (url: string) => ask('GET', url),
    post: (url: string, payload?: object) => ask('POST', url, payload),
    listen: async (): Promise<number> => {
      await server.listen({ host: '127.0.0.1', port: 0 });
      return (server.app.server.address() as AddressInfo).port;
    },
  };
}

type RefusedPost = readonly [
  what: string,
  url: string,
  body: object,
  status: number,
  code: string,
  parameter: string | undefined,
];

/** Each is refused by name, changes nothing that a GET of `state` shows, and leaves one line in the audit. */
export function testRefusals(state: string, cases: readonly RefusedPost[]): void {
  for (const [what, url, body, status, code, parameter] of cases) {
    test(`${url} with ${what} is refused by name, changes nothing and leaves one line`, async (context) => {
      const { post, get, entries } = adminHarness(context, { clock: createFakeClock() });
      const before = (await get(state)).json;
      const refused = await post(url, body);
      assert.deepEqual([refused.status, refused.json.code, refused.json.parameter], [status, code, parameter]);
      assert.equal(refused.headers['content-type'], 'application/problem+json');
      assert.deepEqual((await get(state)).json, before);
      assert.deepEqual(
        entries.map(({ result }) => result),
        [code],
      );
    });
  }
}
