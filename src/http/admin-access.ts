import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mutates } from './admin/audit-desk.ts';
import { createBearerCheck } from './bearer.ts';
import { type Problem, Refusal } from './problem.ts';

/** Open to everybody who can reach the admin address: probes and scrapers carry no tokens. */
const OPEN = new Set(['/metrics', '/healthz']);

/** Open as well, since a browser brings no token when it loads a page. They carry no data. */
const PAGES = ['/admin/openapi.json', '/ops', '/ops/'];

/**
 * Who may do what on the admin listener. Without a token reads are free (the configuration then
 * allows loopback only) and every mutating route is off; with one, everything but what is open needs it.
 * A route is mutating unless its method says otherwise, so that a new route is closed by default.
 *
 * Browsers reach loopback on behalf of any page, so what another site sends is refused whatever it carries: a page that
 * is open to all may be navigated to, nothing else. No answer ever allows another origin to read it. While reads are
 * free, Host must be an address or localhost: a name that somebody else has pointed at us would make him our origin.
 */
export function registerAdminAccess(app: FastifyInstance, token: string | undefined): void {
  const isBearer = createBearerCheck(token);
  const hasToken = token !== undefined && token !== '';

  const refusalOf = (request: FastifyRequest): Problem | undefined => {
    const { method, headers, routeOptions } = request;
    const url = routeOptions.url ?? '';
    const changes = mutates(method);
    if (OPEN.has(url) && !changes) return undefined;
    if (isCrossSite(headers, changes)) return CROSS_SITE;
    if (!hasToken) {
      if (changes) return TOKEN_NOT_SET;
      return isOwnName(headers.host) ? undefined : FOREIGN_HOST;
    }
    if (!changes && PAGES.some((page) => url === page || (page.endsWith('/') && url.startsWith(page))))
      return undefined;
    if (isBearer(headers.authorization)) return undefined;
    return /^bearer +\S/i.test(headers.authorization ?? '') ? WRONG_TOKEN : UNAUTHORIZED;
  };

  app.addHook('onRequest', (request, _reply, done) => {
    const problem = refusalOf(request);
    if (problem === undefined) done();
    else done(new Refusal(problem));
  });
}

/** What a browser says of itself; who is none says nothing, and is judged by his token alone. */
function isCrossSite(headers: IncomingHttpHeaders, changes: boolean): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return false;
    // A link to the console, or to `explain` from the page for people: opened, but not readable where it came from.
    return changes || headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document';
  }
  const { origin, host } = headers;
  if (origin === undefined) return false;
  const from = URL.parse(origin);
  // `null` is what a sandboxed page or a file sends. A default port is left out by some and not by others.
  return from === null || from.host !== URL.parse(`${from.protocol}//${host}`)?.host;
}

function isOwnName(host: string | undefined): boolean {
  if (host === undefined) return true;
  const name = host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1');
  return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost');
}

const TOKEN_NOT_SET: Problem = {
  code: 'token-not-set',
  detail: 'Changes are refused because no admin token is set. Set ADMIN_TOKEN and start again.',
};

const UNAUTHORIZED: Problem = {
  code: 'unauthorized',
  detail: 'Send the admin token: Authorization: Bearer <ADMIN_TOKEN>.',
  headers: { 'www-authenticate': 'Bearer realm="serpcache admin"' },
};

const WRONG_TOKEN: Problem = {
  code: 'wrong-token',
  detail: 'The token sent is not the admin token. Send the value of ADMIN_TOKEN that the service was started with.',
  headers: { 'www-authenticate': 'Bearer realm="serpcache admin", error="invalid_token"' },
};

const CROSS_SITE: Problem = {
  code: 'cross-site',
  detail: 'A page of another site asked for this. Only pages of this address may.',
};

const FOREIGN_HOST: Problem = {
  code: 'cross-site',
  detail: 'Without an admin token only an IP address or localhost may stand in Host. Ask that way, or set ADMIN_TOKEN.',
  parameter: 'Host',
};
