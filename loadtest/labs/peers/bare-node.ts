import { join } from 'node:path';
import type { Peer } from './peer.ts';
import { startPeerProcess } from './peer-process.ts';
import { purgeByRequest } from './purge-by-request.ts';

/** The least a Node server with a cache can be. */
export const bareNode: Peer = {
  name: 'bare Node server',
  setUp:
    'node:http and a Map of bodies with a time of expiry: no bound, no coalescing, nothing stale; what it is purged ' +
    'with is a route of its own.',
  parts: [],
  keeps: 'own',
  start: (scene) =>
    startPeerProcess(scene, {
      name: 'bare Node server',
      command: process.execPath,
      args: [join(import.meta.dirname, 'servers', 'bare.mjs'), JSON.stringify(scene)],
      purge: purgeByRequest,
    }),
};
