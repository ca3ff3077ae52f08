import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../clock.ts';
import { createClients } from './client.ts';
import type { TokenEvent } from './events.ts';
import { createMissBudget } from './miss-budget.ts';

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
