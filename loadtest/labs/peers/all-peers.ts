import { bareNode } from './bare-node.ts';
import { asyncCacheDedupe, asyncCacheDedupeMemory, bentocache } from './fastify-peers.ts';
import { nginxCache } from './nginx-cache.ts';
import { nginxLua } from './nginx-lua.ts';
import type { Peer } from './peer.ts';
import { serpcacheL1, serpcacheL2 } from './serpcache.ts';
import { varnish } from './varnish.ts';

/** In the order they are measured and shown. */
export const PEERS: readonly Peer[] = [
  nginxCache,
  varnish,
  nginxLua,
  bareNode,
  bentocache,
  asyncCacheDedupe,
  asyncCacheDedupeMemory,
  serpcacheL1,
  serpcacheL2,
];
