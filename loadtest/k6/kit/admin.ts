import http from 'k6/http';
import type { DrillJournal } from './drill-plan.ts';
import type { Target } from './environment.ts';
import { say } from './event.ts';
import { parsed } from './page.ts';

/** Sends a request to the admin API of one process: POST with a body, else GET. The whole fleet follows its decisions. */
export type Admin = (path: string, body?: object) => AdminReply;

/** `fault`: the reason for a missing answer, in the words of the service if it gave some. */
type AdminReply = { readonly ok: true; readonly body: unknown } | { readonly ok: false; readonly fault: string };

const TIMEOUT = '10s';

export function createAdmin({ adminUrls, token = '' }: Target): Admin {
  const [url = ''] = adminUrls;
  return (path, body) => {
    const method = body === undefined ? 'GET' : 'POST';
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-operator': 'loadtest' };
    const params = { headers, responseType: 'text', timeout: TIMEOUT, redirects: 0, tags: { name: 'admin' } } as const;
    const reply = http.request(method, url + path, body === undefined ? null : JSON.stringify(body), params);
    const answer = parsed(reply.body);
    if (reply.status >= 200 && reply.status < 300 && answer !== undefined) return { ok: true, body: answer };
    const detail = memberOf(answer, 'detail');
    const fault = typeof detail === 'string' ? detail : reply.error || `${method} ${path} answered ${reply.status}`;
    return { ok: false, fault };
  };
}

export function memberOf(body: unknown, name: string): unknown {
  return Object(body)[name];
}

/** The list with that name; empty if there is none. */
export function listOf(body: unknown, name: string): readonly unknown[] {
  const list = memberOf(body, name);
  return Array.isArray(list) ? list : [];
}

/** The texts with that name in the objects of a list. */
export function textsOf(list: readonly unknown[], name: string): readonly string[] {
  return list.map((one) => memberOf(one, name)).filter((one) => typeof one === 'string');
}

/** More than a journal has, so that none are sent: the report of the drill shows them, and reading them takes time. */
const ALL_SAMPLES = 1_000_000;

/** Undefined if the service did not answer. */
export function readDrill(admin: Admin, id: string): DrillJournal | undefined {
  const reply = admin(`/admin/drills/${id}?samples=${ALL_SAMPLES}`);
  return reply.ok ? (reply.body as DrillJournal) : undefined;
}

/** @returns whether the drill was aborted; if not, the log has the reason. */
export function abortDrill(admin: Admin, id: string, reason: string): boolean {
  const reply = admin(`/admin/drills/${id}/abort`, { reason });
  if (!reply.ok) say({ kind: 'note', drill: id, text: `could not be ended: ${reply.fault}` });
  return reply.ok;
}

/** The end of the reason of every drill and flush of this run, and of no other. */
export function runMark({ startedAtMs }: { readonly startedAtMs: number }): string {
  return `run of ${new Date(startedAtMs).toISOString()}`;
}
