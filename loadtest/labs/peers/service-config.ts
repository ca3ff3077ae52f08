import { DEMO_DOMAINS } from '../../../src/catalogue/demo.ts';
import type { PeerScene } from './peer.ts';

export interface ServiceConfigOptions extends Pick<PeerScene, 'engine' | 'ttlSeconds' | 'staleSeconds'> {
  /** Absent: pages are kept nowhere but in the process. */
  readonly store?: PeerScene['store'];
  /** Of L1, as a configuration file has it. */
  readonly memory: string;
}

/** The domain of the demo that all peers serve. */
export const DOMAIN = 'goods';

/**
 * A configuration of serpcache for the domain that all peers serve. The origin of the others is made from one as well:
 * so the same search has the same body everywhere, byte for byte.
 */
export function serviceConfig({ engine, store, memory, ttlSeconds, staleSeconds }: ServiceConfigOptions): string {
  const attributes = DEMO_DOMAINS.find(({ name }) => name === DOMAIN)?.attributes ?? [];
  return JSON.stringify({
    memory: { maxBytes: memory },
    // Nobody else compresses here, and who asks does not accept it.
    compression: { coding: 'identity' },
    domains: {
      [DOMAIN]: {
        store: store === undefined ? { kind: 'none' } : { kind: 'standalone', nodes: [`${store.host}:${store.port}`] },
        engine: { kind: 'sphinx', ...engine, idAttribute: 'doc_id' },
        freshness: {
          ttl: `${ttlSeconds}s`,
          staleWhileRevalidate: `${staleSeconds}s`,
          staleIfError: `${staleSeconds}s`,
        },
        attributes: Object.fromEntries(attributes.map(({ name, ...rest }) => [name, rest])),
      },
    },
  });
}
