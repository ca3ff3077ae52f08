import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { canonicalAddress, subscriberOf } from '../address.ts';
import { Refusal } from '../problem.ts';
import type { Caller } from './operations.ts';

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
