import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Peer, type PeerScene, startPeerProcess } from './peer.ts';

const run = promisify(execFile);

/** The cache made for nothing else. */
export const varnish: Peer = {
  name: 'Varnish',
  setUp:
    'malloc storage, one pool of threads (on all processors it is given), grace for as long as pages may be stale, failed background fetches ' +
    'abandoned so that a stale page stays, errors kept for a second so that they coalesce too; purged by a ban of all.',
  parts: ['varnish'],
  keeps: 'own',
  mostCores: Number.POSITIVE_INFINITY,
  start: async (scene) => {
    const file = join(scene.folder, 'search.vcl');
    const directory = join(scene.folder, 'varnish');
    writeFileSync(file, vclOf(scene));
    return startPeerProcess(scene, {
      name: 'Varnish',
      command: 'varnishd',
      args: [...ARGUMENTS, '-n', directory, '-f', file, '-a', `127.0.0.1:${scene.port}`],
      purge: async () => {
        await run('varnishadm', ['-n', directory, 'ban', 'req.url', '~', '.']);
      },
    });
  },
};

/**
 * One pool, which is a lock and a queue and not a processor: its threads take all they are given, where nginx has one
 * worker. And room for a stampede at the door; the rest is as it comes.
 */
const PARAMETERS = ['thread_pools=1', 'listen_depth=4096'];
const ARGUMENTS = [
  '-F',
  // Everything is the caller's: its folder, its user.
  ...['-j', 'none'],
  ...['-s', 'malloc,1g'],
  // The log in shared memory: nobody reads it here, and what it takes is not pages.
  ...['-l', '8m'],
  ...PARAMETERS.flatMap((one) => ['-p', one]),
];

function vclOf({ origin, staleSeconds }: PeerScene): string {
  const { hostname, port } = new URL(origin);
  return `vcl 4.1;

backend origin {
  .host = "${hostname}";
  .port = "${port}";
  .connect_timeout = 2s;
  .first_byte_timeout = 10s;
}

sub vcl_recv {
  set req.http.Host = "search";
  unset req.http.Cookie;
}

sub vcl_backend_response {
  if (beresp.status >= 500) {
    if (bereq.is_bgfetch) {
      return (abandon);
    }
    set beresp.ttl = 1s;
    set beresp.grace = 0s;
    return (deliver);
  }
  set beresp.grace = ${staleSeconds}s;
}
`;
}
