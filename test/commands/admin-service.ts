import type { IncomingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { createAdminServer } from '../../src/http/admin/admin-server.ts';
import type { ListenerTls } from '../../src/http/transport/listener.ts';
import type { AuditEntry } from '../../src/operations/audit/audit.ts';
import type { Operations } from '../../src/operations/operations.ts';
import type { Clock } from '../../src/runtime.ts';
import type { Search } from '../../src/search/search.ts';
import { createFakeAudit } from '../fakes/audit.ts';
import { createFakeOperations } from '../fakes/operations.ts';
import { createFakeSearch } from '../fakes/search.ts';

export const TOKEN = 'correct-horse-battery-staple';

export interface AdminService {
  readonly url: string;
  readonly port: number;
  /** `POST /admin/flush`: everything asked, in order. */
  readonly requests: () => readonly string[];
  /** Bodies of what was posted there, in order. */
  readonly posted: (path: string) => readonly unknown[];
  /** Of the latest request. */
  readonly headers: () => IncomingHttpHeaders;
  readonly audit: readonly AuditEntry[];
  readonly operations: Operations;
  /** Connections are refused from now on. */
  readonly goAway: () => Promise<unknown>;
}

/** Virtual seconds pass so much faster that a drill of a quarter of a minute takes one second. */
const SPEED = 15;

/** The real admin listener over operations that remember what they were told. */
export async function adminService(
  t: TestContext,
  given: Partial<Search> = {},
  tls?: ListenerTls,
): Promise<AdminService> {
  const began = performance.now();
  const clock: Clock = {
    wallMs: () => Date.parse('2026-11-21T06:00:00Z') + SPEED * (performance.now() - began),
    monotonicMs: () => SPEED * performance.now(),
  };
  const operations = createFakeOperations({ clock });
  const asked: { readonly what: string; readonly body: unknown; readonly headers: IncomingHttpHeaders }[] = [];
  const audit: AuditEntry[] = [];
  const server = createAdminServer({
    search: { ...createFakeSearch({ clock }), ...given },
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
    ...(tls === undefined ? {} : { tls }),
  });
  server.app.addHook('preValidation', async ({ method, url, body, headers }) => {
    asked.push({ what: `${method} ${url.split('?')[0]}`, body, headers });
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  let gone: Promise<unknown> | undefined;
  const goAway = (): Promise<unknown> => {
    gone ??= server.close();
    return gone;
  };
  t.after(goAway);
  return {
    url,
    port: Number(new URL(url).port),
    requests: () => asked.map(({ what }) => what),
    posted: (path) => asked.filter(({ what }) => what === `POST ${path}`).map(({ body }) => body),
    headers: () => asked.at(-1)?.headers ?? {},
    audit,
    operations,
    goAway,
  };
}
