import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO_DOMAINS } from '../../../src/catalogue/demo.ts';
import { createAdminClient } from '../../../src/commands/admin-client.ts';
import { newToken } from '../../stack/plan.ts';
import { freePorts } from '../../stack/process.ts';
import { type Peer, type PeerScene, startPeerProcess } from './peer.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const TOKEN = newToken();
const REST =
  'asks searchd itself, leases across its replicas; pages are not compressed and requests not logged, as with all others; ' +
  'the rest as it comes; purged by POST /admin/flush (drop) of all keys.';

/** As it is meant to run: what is asked for often is in the process, everything is in the store. */
export const serpcacheL1 = serpcache('L1', '256MiB', `256 MiB of L1 before one Redis for all replicas; ${REST}`);

/** Only what does not fit into a MiB of L1 comes from the store: ask for a thousand pages and more. */
export const serpcacheL2 = serpcache(
  'L2',
  '1MiB',
  `L1 at its smallest (1 MiB, some 200 pages), so that of many pages nearly all come from Redis; ${REST}`,
);

/**
 * A flush is of the whole fleet; the other replicas hear of it when they next look, twice a second. Asked before that, one
 * that has not heard would compute a page that the others refuse as older than the flush.
 */
const HEARD_MS = 1000;

function serpcache(tier: string, memory: string, setUp: string): Peer {
  const name = `serpcache ${tier}`;
  return {
    name,
    setUp,
    parts: ['redis'],
    keeps: 'shared',
    start: async (scene) => {
      const file = join(scene.folder, 'config.json');
      writeFileSync(file, serviceConfig({ ...scene, memory }));
      const [adminPort = 0] = await freePorts(1);
      const admin = createAdminClient({
        base: new URL(`http://127.0.0.1:${adminPort}`),
        token: TOKEN,
        operator: 'peers',
        signal: new AbortController().signal,
      });
      return startPeerProcess(scene, {
        name,
        command: process.execPath,
        args: ['src/main.ts'],
        cwd: ROOT,
        env: {
          SERPCACHE_CONFIG: file,
          PORT: String(scene.port),
          ADMIN_PORT: String(adminPort),
          ADMIN_TOKEN: TOKEN,
          LOG_LEVEL: 'warn',
        },
        // All of it: a lost store is no reason for serpcache not to answer.
        ready: async (url) => (await (await fetch(`${url}/readyz`)).text()).includes('"ready"'),
        purge: async () => {
          await admin.post('/admin/flush', { domain: DOMAIN, mode: 'drop' });
          await sleep(HEARD_MS);
        },
      });
    },
  };
}

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
