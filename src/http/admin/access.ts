import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TokenVerdict } from '../transport/client.ts';
import { canonicalAddress, subscriberOf } from '../transport/connections.ts';
import { type Problem, Refusal } from '../transport/problem.ts';
import { mutates } from './audit.ts';
import type { Caller } from './operations.ts';

/** Open to everybody who can reach the admin address: probes and scrapers carry no tokens. */
const OPEN = new Set(['/metrics', '/healthz']);

/** Open as well, since a browser brings no token when it loads a page. They carry no data. */
const PAGES = ['/admin/openapi.json', '/ops', '/ops/'];

export interface AdminAccess {
  /** Judges tokens; undefined: none is set. */
  readonly gate: ((request: IncomingMessage) => TokenVerdict) | undefined;
  /** Names beside addresses and localhost. */
  readonly hosts: readonly string[];
  /** Told of each request whose token was right. */
  readonly onAdmitted: (request: IncomingMessage) => void;
}

/**
 * Who may do what on the admin listener. Without a token reads are free (the configuration then
 * allows loopback only) and every mutating route is off; with one, everything but what is open needs it.
 * A route is mutating unless its method says otherwise, so that a new route is closed by default.
 *
 * Browsers reach loopback on behalf of any page, so what another site sends is refused whatever it carries: a page that
 * is open to all may be navigated to, nothing else. No answer ever allows another origin to read it.
 *
 * While reads are free, Host must be an address, localhost or a configured name: a name that somebody else has pointed
 * at us would make him our origin. With a token the listener may have names that only its network knows, and what needs
 * no token is open to that network anyway; Host is checked there once names are configured.
 */
export function registerAdminAccess(app: FastifyInstance, { gate, hosts, onAdmitted }: AdminAccess): void {
  const named = new Set(hosts.map((host) => host.toLowerCase()));
  const checksHost = gate === undefined || named.size > 0;
  const isOurs = (host: string | undefined): boolean => !checksHost || isOwnName(host, named);

  const refusalOf = (request: FastifyRequest): Problem | undefined => {
    const { method, headers, routeOptions } = request;
    const url = routeOptions.url ?? '';
    const changes = mutates(method) || routeOptions.config.spends === true;
    if (OPEN.has(url) && !changes) return isOurs(headers.host) ? undefined : FOREIGN_HOST;
    if (isCrossSite(headers, changes)) return CROSS_SITE;
    if (gate === undefined && changes) return TOKEN_NOT_SET;
    if (!isOurs(headers.host)) return FOREIGN_HOST;
    if (gate === undefined) return undefined;
    if (!changes && PAGES.some((page) => url === page || (page.endsWith('/') && url.startsWith(page))))
      return undefined;
    const verdict = gate(request.raw);
    switch (verdict) {
      case 'right':
        onAdmitted(request.raw);
        return undefined;
      case 'throttled':
        return TOO_MANY_TOKENS;
      case 'none':
        return UNAUTHORIZED;
      case 'wrong':
        return /^bearer +\S/i.test(headers.authorization ?? '') ? WRONG_TOKEN : UNAUTHORIZED;
    }
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

/** @param named lower case. */
function isOwnName(host: string | undefined, named: ReadonlySet<string>): boolean {
  if (host === undefined) return true;
  const name = host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1');
  return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || named.has(name);
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

const TOO_MANY_TOKENS: Problem = {
  code: 'too-many-tokens',
  detail:
    'This address has sent too many wrong tokens. The one sent now was not looked at, right or wrong: ask again in a second.',
  retryAfterMs: 1000,
};

const CROSS_SITE: Problem = {
  code: 'cross-site',
  detail: 'A page of another site asked for this. Only pages of this address may.',
};

const FOREIGN_HOST: Problem = {
  code: 'cross-site',
  detail:
    'Only an IP address, localhost or a name of admin.hosts may stand in Host. Ask that way, or add the name there.',
  parameter: 'Host',
};

const MAX_NAME = 64;

/**
 * Who asks, once the token has passed: the name an operator gives with `X-Operator`, and the address the connection comes
 * from. Whoever has the token may give any name, so it is for people to read and proves nothing; the address is the
 * connection's own for that reason.
 */
export function callerName({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string {
  const given = headers['x-operator'];
  const name = (typeof given === 'string' ? given : '')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, MAX_NAME);
  return `${name === '' ? 'operator' : name} from ${addressOf(socket)}`;
}

/** Of the connection; that is all that is known of a caller whose token has not passed. */
export function addressOf({ remoteAddress = '' }: Pick<IncomingMessage['socket'], 'remoteAddress'>): string {
  return canonicalAddress(remoteAddress) ?? UNKNOWN;
}

/** Whose lines of refusals are counted together: an address, or the network of one subscriber. */
export function networkOf({ remoteAddress = '' }: Pick<IncomingMessage['socket'], 'remoteAddress'>): string {
  const address = canonicalAddress(remoteAddress);
  return address === undefined ? UNKNOWN : subscriberOf(address);
}

const UNKNOWN = 'an unknown address';

/** @throws Refusal where a reason is due and what was given says nothing. */
export function callerOf(request: FastifyRequest, reason: string): Caller {
  return { by: callerName(request.raw), reason: statedReason(reason) };
}

/** @throws Refusal `reason-required` */
export function statedReason(reason: string | undefined): string {
  const stated = reason?.trim() ?? '';
  if (stated !== '') return stated;
  const detail = 'Say why: the reason is kept with what was done.';
  throw new Refusal({ code: 'reason-required', detail, parameter: '/reason' });
}
