import { hash } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { createNetworkTest } from '../../schema/units.ts';
import type { ReadHeaders } from '../lane/head.ts';
import { headerOf } from './request-target.ts';

export interface ClientOptions {
  /** IP addresses and networks (`10.0.0.0/8`). @throws RangeError, TypeError for anything else. */
  readonly trustedProxies: readonly string[];
  /** Lower case. */
  readonly clientHeader?: string;
}

/** The parts of a request that name its client. */
export interface ClientRequest {
  readonly headers: ReadHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** More proxies than any deployment has; a longer list was written by the client. */
const MAX_HOPS = 16;

/**
 * Names the client of a request, at most 64 characters: by the configured header, else by the address that a trusted proxy
 * forwarded, else by the address of the connection. Names are for budgets, not for access control: they prove nothing.
 *
 * `X-Forwarded-For` is read from its end, where the nearest proxy wrote, up to the first address that is not a trusted
 * proxy: any client can send the addresses before it. When trusted proxies are configured, the configured header is
 * accepted only from them: otherwise a crawler that sends a new value with each request would never use up a budget.
 */
export function createClients({ trustedProxies, clientHeader }: ClientOptions): (request: ClientRequest) => string {
  const isProxy = createNetworkTest(trustedProxies);

  return ({ headers, socket }) => {
    const peer = canonicalAddress(socket.remoteAddress ?? '');
    const isForwarded = peer !== undefined && isProxy(peer);
    if (clientHeader !== undefined && (isForwarded || trustedProxies.length === 0)) {
      const key = headerOf(headers, clientHeader)?.trim();
      // The value may be a secret and of any length; its digest is short and reveals nothing.
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
    // A proxy that hides the address of its client is counted as the client.
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

/** Whether a request carries a Bearer token, also one that cannot be parsed: everything that could be a guess. */
export function bringsBearer(authorization: string | undefined): boolean {
  return authorization !== undefined && /^bearer(?:\s|$)/i.test(authorization);
}

/**
 * One spelling per IP address: dotted for IPv4, also when it is IPv4-mapped; eight groups for IPv6, without a zone.
 * Undefined when the text is not an IP address.
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return undefined;
  const groups = groupsOf(text);
  const [high, low] = groups.slice(6);
  if (high === undefined || low === undefined) return undefined;
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  return groups.map((group) => group.toString(16)).join(':');
}

/** The unit that shares one budget: an IPv4 address, or the /64 network of an IPv6 address, which is one subscriber's. */
function subscriberOf(canonical: string): string {
  return canonical.includes(':') ? `${canonical.split(':', 4).join(':')}::/64` : canonical;
}

/** The same of the other end of a connection; undefined when it is closed. */
export function subscriberAt({ remoteAddress = '' }: ClientRequest['socket']): string | undefined {
  const address = canonicalAddress(remoteAddress);
  return address && subscriberOf(address);
}

function groupsOf(ipv6: string): readonly number[] {
  const [bare = ''] = ipv6.split('%', 1);
  // A dotted tail is two groups.
  const hex = bare.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes) => {
    const [a, b, c, d] = bytes.map(Number) as [number, number, number, number];
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = '', tail] = hex.split('::');
  const numbers = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((each) => Number.parseInt(each, 16));
  const left = numbers(head);
  const right = tail === undefined ? [] : numbers(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}
