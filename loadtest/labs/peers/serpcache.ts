import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO_DOMAINS } from '../../../src/catalogue/demo.ts';
import { newToken } from '../../stack/plan.ts';
import { freePort } from '../../stack/process.ts';
import { operatorAt } from '../../stack/service.ts';
import { type Peer, type ReplicaSetup, startPeerProcess } from './peer.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const TOKEN = newToken();
const REST =
  'asks searchd itself, leases across its replicas; pages are not compressed and requests not logged, as with all others; ' +
  'the rest as it comes; purged by POST /admin/flush (drop) of all keys.';

/** Normal operation: frequent pages are in the process, all pages are in the store. */
export const serpcacheL1 = serpcache('L1', '256MiB', `256 MiB of L1 before one Redis for all replicas; ${REST}`);

/** Pages come from the store when they do not fit into 1 MiB of L1: from a thousand pages on. */
export const serpcacheL2 = serpcache(
  'L2',
  '1MiB',
  `L1 at its smallest (1 MiB, some 200 pages), so that of many pages nearly all come from Redis; ${REST}`,
);

/**
 * A flush is for the whole fleet; the other replicas read it at their next poll, twice a second. Before that, a replica
 * would compute a page that the others refuse as older than the flush.
 */
const HEARD_MS = 1000;

function serpcache(tier: string, memory: string, setUp: string): Peer {
  const name = `serpcache ${tier}`;
  return {
    name,
    setUp,
    parts: ['redis'],
    keeps: 'shared',
    start: async (setup) => {
      const file = join(setup.folder, 'config.json');
      writeFileSync(file, serviceConfig({ ...setup, memory }));
      const adminPort = await freePort();
      const admin = operatorAt(`http://127.0.0.1:${adminPort}`, TOKEN, 'peers');
      return startPeerProcess(setup, {
        name,
        command: process.execPath,
        args: ['src/main.ts'],
        cwd: ROOT,
        env: {
          SERPCACHE_CONFIG: file,
          PORT: String(setup.port),
          ADMIN_PORT: String(adminPort),
          ADMIN_TOKEN: TOKEN,
          LOG_LEVEL: 'warn',
        },
        // The whole store: serpcache answers without it.
        ready: async (url) => (await (await fetch(`${url}/readyz`)).text()).includes('"ready"'),
        purge: async () => {
          await admin.post('/admin/flush', { domain: DOMAIN, mode: 'drop' });
          await sleep(HEARD_MS);
        },
      });
    },
  };
}

interface ServiceConfigOptions extends Pick<ReplicaSetup, 'engine' | 'ttlSeconds' | 'staleSeconds'> {
  /** Absent: pages are kept in the process only. */
  readonly store?: ReplicaSetup['store'];
  readonly memory: string;
}

export const DOMAIN = 'goods';

/**
 * A configuration of serpcache for the domain that all peers serve. The origin of the others uses one as well,
 * so the same search has the same body everywhere, byte for byte.
 */
export function serviceConfig({ engine, store, memory, ttlSeconds, staleSeconds }: ServiceConfigOptions): string {
  const attributes = DEMO_DOMAINS.find(({ name }) => name === DOMAIN)?.attributes ?? [];
  return JSON.stringify({
    memory: { maxBytes: memory },
    // No other peer refuses searches while its event loop is late: they are compared at the same work.
    public: { maxLoopDelay: '1m' },
    // No other peer compresses, and the clients do not accept it.
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
