import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Peer, type ReplicaSetup, startPeerProcess } from './peer.ts';

const run = promisify(execFile);

export const varnish: Peer = {
  name: 'Varnish',
  setUp:
    'malloc storage, one pool of threads (on all processors it is given), grace for as long as pages may be stale, failed background fetches ' +
    'abandoned so that a stale page stays, errors kept for a second so that they coalesce too; purged by a ban of all.',
  parts: ['varnish'],
  keeps: 'own',
  mostCores: Number.POSITIVE_INFINITY,
  start: async (setup) => {
    const file = join(setup.folder, 'search.vcl');
    const directory = join(setup.folder, 'varnish');
    writeFileSync(file, vclOf(setup));
    return startPeerProcess(setup, {
      name: 'Varnish',
      command: 'varnishd',
      args: [...ARGUMENTS, '-n', directory, '-f', file, '-a', `127.0.0.1:${setup.port}`],
      purge: () => run('varnishadm', ['-n', directory, 'ban', 'req.url', '~', '.']),
    });
  },
};

/**
 * One thread pool, which is a lock and a queue: its threads use all the cores they are given, where nginx has one
 * worker. The accept queue has space for a stampede; the rest is the default.
 */
const PARAMETERS = ['thread_pools=1', 'listen_depth=4096'];
const ARGUMENTS = [
  '-F',
  // It runs in the caller's folder, as the caller's user.
  '-j',
  'none',
  '-s',
  'malloc,1g',
  // The shared-memory log is not read here, and its memory would count as pages.
  '-l',
  '8m',
  ...PARAMETERS.flatMap((one) => ['-p', one]),
];

function vclOf({ origin, staleSeconds }: ReplicaSetup): string {
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
