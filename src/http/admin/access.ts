import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../runtime.ts';
import { bringsBearer, canonicalAddress, createClients } from '../transport/client.ts';
import type { TokenEvent } from '../transport/events.ts';
import { type Problem, Refusal } from '../transport/problem.ts';
import { createTokenBuckets } from '../transport/token-bucket.ts';

/** Open to every client that can reach the admin address: probes and scrapers carry no tokens. */
const OPEN = new Set(['/metrics', '/healthz']);

/** Open too, because a browser sends no token when it loads a page. They contain no data. */
const PAGES = ['/admin/openapi.json', '/ops', '/ops/'];

interface AdminAccess {
  /** Judges tokens; undefined: no token is set. */
  readonly gate: ((request: IncomingMessage) => TokenVerdict) | undefined;
  /** Accepted Host names beside addresses and localhost. */
  readonly hosts: readonly string[];
  /** Called for each request with the right token. */
  readonly onAdmitted: (request: IncomingMessage) => void;
}

/**
 * Access control of the admin listener. Without a configured token reads are free (the configuration then allows loopback
 * only) and every route that changes something is off. With a token every route needs it, except the open ones. A route
 * counts as changing unless its method says otherwise, so that a new route is closed by default.
 *
 * A browser reaches loopback on behalf of any page, so a request from another site is refused whatever it carries. The
 * exception is navigation to a page that is open to all. No answer allows another origin to read it.
 *
 * While reads are free, Host must be an address, localhost or a configured name: otherwise the owner of a foreign name
 * could point it at this listener and become its origin (DNS rebinding). With a token the listener may have names that only
 * its network knows, and the open routes are open to that network anyway; Host is then checked once names are configured.
 */
export function registerAdminAccess(app: FastifyInstance, { gate, hosts, onAdmitted }: AdminAccess): void {
  const named = new Set(hosts.map((host) => host.toLowerCase()));
  const checksHost = gate === undefined || named.size > 0;
  const isOwnHost = (host: string | undefined): boolean => !checksHost || isOwnName(host, named);

  const refusalOf = (request: FastifyRequest): Problem | undefined => {
    const { method, headers, routeOptions } = request;
    const url = routeOptions.url ?? '';
    const changes = mutates(method) || routeOptions.config.callsEngine === true;
    if (OPEN.has(url) && !changes) return isOwnHost(headers.host) ? undefined : FOREIGN_HOST;
    if (isCrossSite(headers, changes)) return CROSS_SITE;
    if (gate === undefined && changes) return TOKEN_NOT_SET;
    if (!isOwnHost(headers.host)) return FOREIGN_HOST;
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

/** Whether a method may change something. An unknown method may. */
export function mutates(method: string | undefined): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

/** Judged by the fields that browsers send. Other clients do not send them, and only their token counts. */
function isCrossSite(headers: IncomingHttpHeaders, changes: boolean): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return false;
    // A link to the console, or from the search page to `explain`: the browser opens it, the other site cannot read it.
    return changes || headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document';
  }
  const { origin, host } = headers;
  if (origin === undefined) return false;
  const from = URL.parse(origin);
  // A sandboxed page or a file sends `null`. Some clients write a default port and others do not.
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

/** `none`: no Bearer token came. `throttled`: one came and was not compared. */
type TokenVerdict = 'right' | 'none' | 'wrong' | 'throttled';

interface TokenGateOptions {
  readonly token: string;
  readonly clock: Clock;
  /** Proxies whose `X-Forwarded-For` is accepted, see client.ts. */
  readonly trustedProxies: readonly string[];
  /** Gets one event per Bearer token that gave no access. */
  readonly observe: (event: TokenEvent) => void;
}

/** Maximum rate of wrong tokens of one address: ten at once after a quiet time, then one a second. */
const PER_CLIENT = { burst: 10, perMinute: 60 };
/**
 * Maximum rate of wrong tokens through one trusted proxy, from all its clients together. A whole network may be
 * trusted, and each machine in it can invent a new client for each guess.
 */
const PER_PROXY = { burst: 100, perMinute: 600 };
/** Maximum number of addresses. The one that was quiet longest is dropped and has a full burst again. */
const MAX_ADDRESSES = 10_000;

/**
 * Judges the token of a request and slows down guessing: once an address has used up its wrong tokens, its tokens are
 * not compared. The right token is then refused too. If it were accepted, guessing would go on at full speed, and only
 * the answers to wrong guesses would change. The price: a guesser locks out other clients of the same address while it
 * guesses and for a second after. From another address (the machine's own, for example) they get in meanwhile.
 */
export function createTokenGate(options: TokenGateOptions): (request: IncomingMessage) => TokenVerdict {
  const { token, clock, trustedProxies, observe } = options;
  const isRight = createBearerCheck(token);
  const clientOf = createClients({ trustedProxies });
  const peerOf = createClients({ trustedProxies: [] });
  const perClient = createTokenBuckets({ ...PER_CLIENT, maxKeys: MAX_ADDRESSES, clock });
  const perProxy = createTokenBuckets({ ...PER_PROXY, maxKeys: MAX_ADDRESSES, clock });
  return (request) => {
    const { authorization } = request.headers;
    if (!bringsBearer(authorization)) return 'none';
    const [address, peer] = [clientOf(request), peerOf(request)];
    const isForwarded = address !== peer;
    // A client that a proxy names must not pay for the proxy's guesses when it asks without the proxy.
    const client = isForwarded ? `forwarded ${address}` : address;
    const refused = (result: TokenEvent['result']): void =>
      observe({ kind: 'token', listener: 'admin', result, address });
    if (!perClient.take(client) || (isForwarded && !perProxy.take(peer))) {
      refused('throttled');
      return 'throttled';
    }
    if (isRight(authorization)) {
      perClient.refund(client, 1);
      if (isForwarded) perProxy.refund(peer, 1);
      return 'right';
    }
    refused('wrong');
    return 'wrong';
  };
}

/**
 * Whether an `Authorization` field carries the token. Digests are compared, so that the time taken shows neither the
 * position of the first wrong character nor the length of the token.
 */
function createBearerCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = hash('sha256', token, 'buffer');
  return (authorization) => {
    const given = /^bearer +([^\s]+)$/i.exec(authorization ?? '')?.[1];
    if (given === undefined) return false;
    return timingSafeEqual(hash('sha256', given, 'buffer'), expected);
  };
}

const MAX_NAME = 64;

/**
 * Names an operator whose token was right: the name in `X-Operator`, and the address of the connection. An operator may
 * give any name, so it is for readers and proves nothing; that is why the address is the connection's own.
 */
export function callerName({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string {
  const given = headers['x-operator'];
  const name = (typeof given === 'string' ? given : '')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, MAX_NAME);
  return `${name === '' ? 'operator' : name} from ${addressOf(socket)}`;
}

/** The address of the connection: nothing else is known of a caller without the right token. */
export function addressOf({ remoteAddress = '' }: Pick<IncomingMessage['socket'], 'remoteAddress'>): string {
  return canonicalAddress(remoteAddress) ?? UNKNOWN_ADDRESS;
}

export const UNKNOWN_ADDRESS = 'an unknown address';

/** @throws Refusal `reason-required` */
export function statedReason(reason: string | undefined): string {
  const stated = reason?.trim() ?? '';
  if (stated !== '') return stated;
  const detail = 'Say why: the reason is kept with what was done.';
  throw new Refusal({ code: 'reason-required', detail, parameter: '/reason' });
}
