import http from 'k6/http';
import { parsed } from './json.ts';
import type { Target } from './target.ts';

/** The admin API of one process. What one process is told, all of the fleet follow. */
export interface Admin {
  readonly get: (path: string) => AdminReply;
  readonly post: (path: string, body: object) => AdminReply;
}

/** `fault`: why there is no answer, in the service's own words where it had some. */
export type AdminReply =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly status: number; readonly fault: string };

const BOUND = '10s';

export function createAdmin({ adminUrls, token = '' }: Target): Admin {
  const [url = ''] = adminUrls;
  const ask = (method: string, path: string, body?: object): AdminReply => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-operator': 'loadtest' };
    const params = { headers, responseType: 'text', timeout: BOUND, redirects: 0, tags: { name: 'admin' } } as const;
    const reply = http.request(method, url + path, body === undefined ? null : JSON.stringify(body), params);
    const answer = parsed(reply.body);
    if (reply.status >= 200 && reply.status < 300 && answer !== undefined) return { ok: true, body: answer };
    const said = memberOf(answer, 'detail');
    const fault = typeof said === 'string' ? said : reply.error || `${method} ${path} answered ${reply.status}`;
    return { ok: false, status: reply.status, fault };
  };
  return { get: (path) => ask('GET', path), post: (path, body) => ask('POST', path, body) };
}

/** Undefined where there is none. */
export function memberOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null
    ? Object.entries(body).find(([key]) => key === name)?.[1]
    : undefined;
}

/** The list under that name; empty where there is none. */
export function listOf(body: unknown, name: string): readonly unknown[] {
  const list = memberOf(body, name);
  return Array.isArray(list) ? list : [];
}

/** The texts that objects of a list have under that name. */
export function textsOf(list: readonly unknown[], name: string): readonly string[] {
  return list.map((one) => memberOf(one, name)).filter((one) => typeof one === 'string');
}
