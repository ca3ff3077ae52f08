import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { canonicalAddress, subscriberOf } from './address.ts';

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
