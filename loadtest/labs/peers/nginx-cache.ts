import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startNginx } from './nginx.ts';
import type { Peer, PeerScene } from './peer.ts';
import { processTree } from './process-tree.ts';

const CACHE = 'pages';

/** The cache most people have in front of them already. */
export const nginxCache: Peer = {
  name: 'nginx proxy_cache',
  setUp:
    'one worker, pages in files that the system keeps in memory and nginx keeps open, proxy_cache_lock, background ' +
    'updates, stale pages while updating and on errors; it has no purge, so the files are removed and it is reloaded.',
  parts: ['nginx'],
  keeps: 'own',
  start: (scene) =>
    startNginx(scene, {
      name: 'nginx proxy_cache',
      http: cacheConfig(scene),
      server: '    location / { proxy_pass http://origin; }',
      purge: ({ pid }) => forget(scene, pid),
    }),
};

function cacheConfig({ folder, ttlSeconds, staleSeconds }: PeerScene): string {
  // `inactive` is the only bound on how long a stale page may be served; how long it is fresh the origin says.
  return `  proxy_cache_path ${join(folder, CACHE)} levels=1:2 keys_zone=pages:64m inactive=${ttlSeconds + staleSeconds}s
    max_size=4g use_temp_path=off;
  proxy_cache pages;
  proxy_cache_key $request_uri;
  proxy_cache_lock on;
  proxy_cache_use_stale error timeout updating http_500 http_502 http_503 http_504;
  proxy_cache_background_update on;
  open_file_cache max=50000 inactive=5m;
  open_file_cache_valid 1m;`;
}

const RELOAD_MS = 8000;

/**
 * A page whose file is gone is asked for again, but a worker that has it open would serve it for ever: so there is a new
 * worker. @throws when the old one does not leave.
 */
async function forget({ folder }: PeerScene, pid: number): Promise<void> {
  const old = processTree(pid).slice(1);
  const directory = join(folder, CACHE);
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true });
  process.kill(pid, 'SIGHUP');
  const untilMs = performance.now() + RELOAD_MS;
  while (processTree(pid).some((one) => old.includes(one)) || processTree(pid).length < 2) {
    if (performance.now() > untilMs) throw new Error('nginx was told to reload, and its old worker stays');
    await sleep(20);
  }
}
