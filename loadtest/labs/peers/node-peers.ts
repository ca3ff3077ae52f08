import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Peer, purgeByRequest, type ReplicaSetup, startPeerProcess } from './peer.ts';

export const bareNode: Peer = {
  name: 'bare Node server',
  setUp:
    'node:http and a Map of bodies with a time of expiry: no bound, no coalescing, nothing stale; what it is purged ' +
    'with is a route of its own.',
  parts: [],
  keeps: 'own',
  start: (setup) => startServer(setup, 'bare Node server', 'bare'),
};

/** Two tiers and a bus, as its documentation recommends them. */
export const bentocache = fastifyPeer('bentocache', {
  name: 'Fastify + BentoCache',
  setUp:
    'L1 in memory (serialised: the faster way fails in 1.6 on what came from L2), L2 and bus in Redis, grace, stale ' +
    'pages at once and refreshed behind as it does by default, a hard timeout of 10 s, a lock in the process; purged ' +
    'by clear().',
  keeps: 'shared',
});

/** One storage per function: Redis, so that replicas share pages. */
export const asyncCacheDedupe = fastifyPeer('async-cache-dedupe', {
  name: 'Fastify + async-cache-dedupe',
  setUp:
    'Redis storage, since it stacks no tiers; dedupe in the process, stale pages while refreshing; purged by clear().',
  keeps: 'shared',
});

export const asyncCacheDedupeMemory = fastifyPeer('async-cache-dedupe-memory', {
  name: 'Fastify + async-cache-dedupe (memory)',
  setUp: 'memory storage for 100,000 pages instead of its 1,024; else like the one with Redis; purged by clear().',
  keeps: 'own',
});

function fastifyPeer(file: string, what: Pick<Peer, 'name' | 'setUp' | 'keeps'>): Peer {
  return {
    ...what,
    parts: ['redis'],
    start: async (setup) => {
      await installServers();
      return startServer(setup, what.name, file, { NODE_ENV: 'production' });
    },
  };
}

const FOLDER = join(import.meta.dirname, 'servers');

function startServer(setup: ReplicaSetup, name: string, file: string, env: Readonly<Record<string, string>> = {}) {
  const args = [join(FOLDER, `${file}.mjs`), JSON.stringify(setup)];
  return startPeerProcess(setup, { name, command: process.execPath, args, env, purge: purgeByRequest });
}

const run = promisify(execFile);

/**
 * Installs the packages of the Fastify peers in their own folder: they need another ioredis than the project. Does nothing when
 * they are installed. @throws with the output of npm.
 */
export async function installServers(): Promise<void> {
  if (isInstalled()) return;
  const node = join(process.execPath, '..');
  const env = { ...process.env, PATH: `${node}:${process.env['PATH'] ?? ''}` };
  await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: FOLDER, env, timeout: 240_000 });
}

/** npm's own record of the installed versions. */
function isInstalled(): boolean {
  const [wanted, found] = ['package-lock.json', join('node_modules', '.package-lock.json')].map((name) => {
    const file = join(FOLDER, name);
    const { packages } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { packages: {} };
    return packages as Readonly<Record<string, { readonly version?: string }>>;
  });
  return Object.entries(wanted ?? {}).every(([path, { version }]) => path === '' || found?.[path]?.version === version);
}
