import { join } from 'node:path';
import { installServers } from './install-servers.ts';
import type { Peer } from './peer.ts';
import { startPeerProcess } from './peer-process.ts';
import { purgeByRequest } from './purge-by-request.ts';

/** Two tiers and a bus, as its documentation recommends them. */
export const bentocache = fastifyPeer('bentocache', {
  name: 'Fastify + BentoCache',
  setUp:
    'L1 in memory (serialised: the faster way fails in 1.6 on what came from L2), L2 and bus in Redis, grace, stale ' +
    'pages at once and refreshed behind as it does by default, a hard timeout of 10 s, a lock in the process; purged ' +
    'by clear().',
  keeps: 'shared',
});

/** One storage per function: Redis where replicas shall share pages. */
export const asyncCacheDedupe = fastifyPeer('async-cache-dedupe', {
  name: 'Fastify + async-cache-dedupe',
  setUp:
    'Redis storage, since it stacks no tiers; dedupe in the process, stale pages while refreshing; purged by clear().',
  keeps: 'shared',
});

/** The same with its default storage. */
export const asyncCacheDedupeMemory = fastifyPeer('async-cache-dedupe-memory', {
  name: 'Fastify + async-cache-dedupe (memory)',
  setUp: 'memory storage for 100,000 pages instead of its 1,024; else like the one with Redis; purged by clear().',
  keeps: 'own',
});

function fastifyPeer(file: string, what: Pick<Peer, 'name' | 'setUp' | 'keeps'>): Peer {
  return {
    ...what,
    parts: ['redis'],
    start: async (scene) => {
      await installServers();
      return startPeerProcess(scene, {
        name: what.name,
        command: process.execPath,
        args: [join(import.meta.dirname, 'servers', `${file}.mjs`), JSON.stringify(scene)],
        env: { NODE_ENV: 'production' },
        purge: purgeByRequest,
      });
    },
  };
}
