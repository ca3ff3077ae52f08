import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import type { Clock } from '../../runtime.ts';
import { canonicalAddress, subscriberOf } from './connections.ts';
import type { TokenEvent } from './events.ts';

export interface ClientOptions {
  /** IP addresses and networks (`10.0.0.0/8`). @throws RangeError, TypeError for anything else. */
  readonly trustedProxies: readonly string[];
  /** Lower case. */
  readonly clientHeader?: string;
}

/** More proxies than stand in front of anything; a longer list is somebody's own text. */
const MAX_HOPS = 16;

/**
 * Names the client of a request, at most 64 characters: by the configured header, else by the address a trusted proxy
 * forwarded, else by the address of the connection. Names are for budgets, not for access: nothing here is proof.
 *
 * `X-Forwarded-For` is read from its end, where the proxy next to us wrote, up to the first address that is no proxy of
 * ours: what stands before it anybody may have sent. For the same reason, where trusted proxies are configured the
 * header is believed from them alone: a crawler that made up a new key for each request would never spend a budget.
 */
export function createClients(options: ClientOptions): (request: IncomingMessage) => string {
  const { trustedProxies, clientHeader } = options;
  const proxies = blockListOf(trustedProxies);
  const isProxy = (address: string): boolean => proxies.check(address, address.includes(':') ? 'ipv6' : 'ipv4');

  return ({ headers, socket }) => {
    const peer = canonicalAddress(socket.remoteAddress ?? '');
    const isForwarded = peer !== undefined && isProxy(peer);
    if (clientHeader !== undefined && (isForwarded || trustedProxies.length === 0)) {
      const given = headers[clientHeader];
      const key = (Array.isArray(given) ? given.join(', ') : given)?.trim();
      // Keys may be secrets of any length; what is kept is neither.
      if (key) return `key:${hash('sha256', key, 'base64url')}`;
    }
    if (peer === undefined) return 'address:unknown';
    const address = isForwarded ? forwardedFor(headers['x-forwarded-for'], peer, isProxy) : peer;
    return `address:${subscriberOf(address)}`;
  };
}

function forwardedFor(
  field: string | readonly string[] | undefined,
  peer: string,
  isProxy: (address: string) => boolean,
): string {
  let rest = typeof field === 'string' ? field : (field ?? []).join(',');
  let nearest = peer;
  for (let hop = 0; hop < MAX_HOPS && rest !== ''; hop += 1) {
    const comma = rest.lastIndexOf(',');
    const address = canonicalAddress(withoutPort(rest.slice(comma + 1).trim()));
    // A proxy that hides whom it speaks for answers for them itself.
    if (address === undefined) return nearest;
    nearest = address;
    if (!isProxy(address)) return address;
    rest = comma < 0 ? '' : rest.slice(0, comma);
  }
  return nearest;
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  const parsed = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(text);
  return parsed?.[1] ?? parsed?.[2] ?? text;
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/**
 * Whether an `Authorization` field carries the token. Compared as digests, so that neither the position of the first
 * wrong character nor the token's length shows in the time it takes.
 */
function createBearerCheck(token: string | undefined): (authorization: string | undefined) => boolean {
  if (token === undefined || token === '') return () => false;
  const expected = hash('sha256', token, 'buffer');
  return (authorization) => {
    const given = /^bearer +([^\s]+)$/i.exec(authorization ?? '')?.[1];
    if (given === undefined) return false;
    return timingSafeEqual(hash('sha256', given, 'buffer'), expected);
  };
}

/** Whether a request brings a Bearer, readable or not: everything that could be a guess. */
export function bringsBearer(authorization: string | undefined): boolean {
  return authorization !== undefined && /^bearer(?:\s|$)/i.test(authorization);
}

/** `none`: no Bearer came. `throttled`: one came and was not looked at. */
export type TokenVerdict = 'right' | 'none' | 'wrong' | 'throttled';

export interface TokenGateOptions {
  readonly token: string | undefined;
  readonly clock: Clock;
  /** Whose `X-Forwarded-For` is believed, see client.ts. */
  readonly trustedProxies: readonly string[];
  /** Gets one event per Bearer that let nobody in. */
  readonly observe: (event: TokenEvent) => void;
}

/** Tokens of one address that may be refused at once after a quiet time, and one a second from then on. */
const OF_CLIENT = { burst: 10, perMinute: 60 };
/**
 * And of one trusted proxy, whoever they are from. A whole network may be trusted, and each machine of it can name a new
 * client with each guess.
 */
const OF_PROXY = { burst: 100, perMinute: 600 };
/** The address that has been quiet longest is forgotten, and has a full burst again. */
const MAX_ADDRESSES = 10_000;

/**
 * Judges the token of a request, and slows down who guesses: an address that has spent its refusals is not looked at.
 * The right token is then refused as well. If it was let in, guessing would go on at full speed and only the answers to
 * wrong guesses would change. The price is that somebody who guesses keeps others of the same address out while he does,
 * and for a second after; from another address (the machine's own, say) they get in meanwhile.
 */
export function createTokenGate(options: TokenGateOptions): (request: IncomingMessage) => TokenVerdict {
  const { token, clock, trustedProxies, observe } = options;
  const isRight = createBearerCheck(token);
  const clientOf = createClients({ trustedProxies });
  const peerOf = createClients({ trustedProxies: [] });
  const ofClient = createMissBudget({ ...OF_CLIENT, maxClients: MAX_ADDRESSES, clock });
  const ofProxy = createMissBudget({ ...OF_PROXY, maxClients: MAX_ADDRESSES, clock });
  return (request) => {
    const { authorization } = request.headers;
    if (!bringsBearer(authorization)) return 'none';
    const [address, peer] = [clientOf(request), peerOf(request)];
    const isForwarded = address !== peer;
    // Whom a proxy names must not pay for its guesses when he asks without it.
    const client = isForwarded ? `forwarded ${address}` : address;
    const refused = (result: TokenEvent['result']): void =>
      observe({ kind: 'token', listener: 'admin', result, address });
    if (!ofClient.mayMiss(client) || (isForwarded && !ofProxy.mayMiss(peer))) {
      refused('throttled');
      return 'throttled';
    }
    if (isRight(authorization)) {
      ofClient.refund(client, 1);
      if (isForwarded) ofProxy.refund(peer, 1);
      return 'right';
    }
    refused('wrong');
    return 'wrong';
  };
}

/** What each client may cost the engines: a token bucket per client. */
export interface MissBudget {
  /** Spends one miss of this client's; false: it has none left. */
  readonly mayMiss: (client: string) => boolean;
  /** Gives misses back that cost the engine nothing. */
  readonly refund: (client: string, misses: number) => void;
}

export interface MissBudgetOptions {
  /** In the long run. */
  readonly perMinute: number;
  /** Saved up at most, and what a client not known begins with. */
  readonly burst: number;
  /** Remembered at most; the one that has been quiet longest is forgotten. */
  readonly maxClients: number;
  readonly clock: Clock;
}

interface Bucket {
  misses: number;
  atMs: number;
}

/**
 * Forgetting a client gives it a full bucket again, and whoever has been quiet for `burst ÷ perMinute` minutes has that
 * anyway: so the bound costs nothing as long as fewer clients than it are active in that time.
 */
export function createMissBudget({ perMinute, burst, maxClients, clock }: MissBudgetOptions): MissBudget {
  // In order of last use: a Map iterates in order of insertion.
  const buckets = new Map<string, Bucket>();

  const filled = (client: string): Bucket => {
    const nowMs = clock.monotonicMs();
    const known = buckets.get(client);
    if (known === undefined) return { misses: burst, atMs: nowMs };
    const earned = ((nowMs - known.atMs) * perMinute) / 60_000;
    return { misses: Math.min(burst, known.misses + earned), atMs: nowMs };
  };

  const remember = (client: string, bucket: Bucket): void => {
    buckets.delete(client);
    buckets.set(client, bucket);
    if (buckets.size <= maxClients) return;
    const quietest = buckets.keys().next();
    if (!quietest.done) buckets.delete(quietest.value);
  };

  return {
    mayMiss: (client) => {
      const bucket = filled(client);
      const allowed = bucket.misses >= 1;
      if (allowed) bucket.misses -= 1;
      remember(client, bucket);
      return allowed;
    },
    refund: (client, misses) => {
      const bucket = filled(client);
      remember(client, { ...bucket, misses: Math.min(burst, bucket.misses + misses) });
    },
  };
}
