import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../../stack/process.ts';
import {
  flushStore,
  type Peer,
  type PeerProcessOptions,
  processTree,
  type ReplicaSetup,
  type RunningPeer,
  startPeerProcess,
} from './peer.ts';

interface NginxOptions extends Pick<PeerProcessOptions, 'name' | 'purge'> {
  /** Debian modules, in load order. */
  readonly modules?: readonly string[];
  /** Inside `http`. */
  readonly http: string;
  /** Inside `server`. */
  readonly server: string;
}

const MODULES = '/usr/lib/nginx/modules';

/** nginx with one worker and everything it writes in the setup's folder, in front of the setup's origin. */
function startNginx(setup: ReplicaSetup, options: NginxOptions): Promise<RunningPeer> {
  const file = join(setup.folder, 'nginx.conf');
  writeFileSync(file, nginxConfig(setup, options));
  const args = ['-p', setup.folder, '-e', 'stderr', '-c', file];
  return startPeerProcess(setup, { ...options, command: 'nginx', args });
}

function nginxConfig({ folder, port, origin }: ReplicaSetup, options: NginxOptions): string {
  // The worker of a master that runs as root would drop to a user that may not read the folder.
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  const load = (options.modules ?? []).map((name) => `load_module ${MODULES}/${name}.so;\n`).join('');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `  ${kind}_temp_path ${join(folder, `${kind}-temp`)};`)
    .join('\n');
  return `${load}${user}daemon off;
pid ${join(folder, 'nginx.pid')};
error_log stderr warn;
worker_processes 1;
worker_rlimit_nofile 65536;
worker_shutdown_timeout 5s;
events { worker_connections 8192; }
http {
${temporary}
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  upstream origin {
    server ${new URL(origin).host};
    keepalive 64;
    keepalive_requests 1000000;
  }
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  proxy_connect_timeout 2s;
  proxy_read_timeout 10s;
  proxy_buffers 16 8k;
${options.http}
  server {
    listen 127.0.0.1:${port} backlog=4096;
${options.server}
  }
}
`;
}

const CACHE = 'pages';

/** The cache that most sites already run. */
export const nginxCache: Peer = {
  name: 'nginx proxy_cache',
  setUp:
    'one worker, pages in files that the system keeps in memory and nginx keeps open, proxy_cache_lock, background ' +
    'updates, stale pages while updating and on errors; it has no purge, so the files are removed and it is reloaded.',
  parts: ['nginx'],
  keeps: 'own',
  start: (setup) =>
    startNginx(setup, {
      name: 'nginx proxy_cache',
      http: cacheConfig(setup),
      server: '    location / { proxy_pass http://origin; }',
      purge: ({ pid }) => forget(setup, pid),
    }),
};

function cacheConfig({ folder, ttlSeconds, staleSeconds }: ReplicaSetup): string {
  // `inactive` is the only bound of stale serving; the origin's headers say how long a page is fresh.
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
 * A worker that has a removed file open would serve it for ever, so the purge starts a new
 * worker. @throws when the old one does not leave.
 */
async function forget({ folder }: ReplicaSetup, pid: number): Promise<void> {
  const old = processTree(pid).slice(1);
  const directory = join(folder, CACHE);
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true });
  process.kill(pid, 'SIGHUP');
  const isReloaded = (): boolean => !processTree(pid).some((one) => old.includes(one)) && processTree(pid).length >= 2;
  if (await waitUntil(isReloaded, RELOAD_MS, 20)) return;
  throw new Error('nginx was told to reload, and its old worker stays');
}

/** A common set-up where nginx runs already and replicas share pages. */
export const nginxLua: Peer = {
  name: 'nginx-lua + Redis',
  setUp:
    'content_by_lua with a pool of connections to Redis; a page carries its expiry, one request per nginx loads it ' +
    'under a lock in shared memory while the others wait; a stale page is sent to every client, then loaded again; purged by ' +
    'FLUSHDB.',
  parts: ['nginx-lua', 'redis'],
  keeps: 'shared',
  start: (setup) =>
    startNginx(setup, {
      name: 'nginx-lua + Redis',
      modules: ['ndk_http_module', 'ngx_http_lua_module'],
      http: '  lua_shared_dict locks 8m;\n  lua_socket_log_errors off;',
      server: serverConfig(setup),
      purge: () => flushStore(setup.store),
    }),
};

/** Longer than the deadline of the origin; an abandoned lock expires by itself. */
const LOCK_SECONDS = 12;

function serverConfig({ store, ttlSeconds, staleSeconds, headers = {} }: ReplicaSetup): string {
  const { 'content-type': type = 'application/json; charset=utf-8', ...added } = headers;
  const fields = Object.entries(added).map(([name, value]) => `      add_header ${name} ${JSON.stringify(value)};\n`);
  return `    location /origin/ { internal; proxy_ignore_client_abort on; proxy_pass http://origin/; }
    location = /search {
      default_type ${JSON.stringify(type)};
${fields.join('')}      content_by_lua_block {
        local redis = require "nginx.redis"
        local locks = ngx.shared.locks
        local key = ngx.var.request_uri

        local function with_store(command, ...)
          local store = redis:new()
          store:set_timeout(1000)
          if not store:connect("${store.host}", ${store.port}) then return nil end
          local reply = store[command](store, ...)
          if reply ~= nil then store:set_keepalive(60000, 256) end
          return reply
        end

        local function read()
          local value = with_store("get", key)
          if not value or value == ngx.null then return nil, false end
          return value:sub(11), tonumber(value:sub(1, 10)) > ngx.time()
        end

        local function load()
          local answer = ngx.location.capture("/origin" .. key)
          if answer.status ~= 200 then return nil, answer.status end
          with_store("setex", key, ${ttlSeconds + staleSeconds}, (ngx.time() + ${ttlSeconds}) .. answer.body)
          return answer.body
        end

        local function send(body)
          ngx.header.content_length = #body
          ngx.print(body)
        end

        local body, is_fresh = read()
        local is_mine = not is_fresh and locks:add(key, true, ${LOCK_SECONDS})
        local waited, step = 0, 0.002
        while not body and not is_mine and waited < ${LOCK_SECONDS} do
          ngx.sleep(step)
          waited, step = waited + step, math.min(2 * step, 0.05)
          body, is_fresh = read()
          is_mine = not body and locks:add(key, true, ${LOCK_SECONDS})
        end
        -- Another request may have stored the page between our reading and our lock.
        if is_mine and not body then body, is_fresh = read() end
        local status = 503
        if is_mine and not body then
          local ok, loaded, failed = pcall(load)
          body = ok and loaded
          status = ok and failed or status
        elseif is_mine and not is_fresh then
          -- The owner of the lock sends the stale page as well, and then loads a new one.
          send(body)
          ngx.eof()
          pcall(load)
          return locks:delete(key)
        end
        if is_mine then locks:delete(key) end
        if not body then return ngx.exit(status) end
        send(body)
      }
    }`;
}
