import { flushStore } from './flush-store.ts';
import { startNginx } from './nginx.ts';
import type { Peer, PeerScene } from './peer.ts';

/** What people build when nginx is there and pages shall be shared. */
export const nginxLua: Peer = {
  name: 'nginx-lua + Redis',
  setUp:
    'content_by_lua with a pool of connections to Redis; a page carries its expiry, one request per nginx loads it ' +
    'under a lock in shared memory while the others wait; a stale page is sent to everybody, then loaded anew; purged by ' +
    'FLUSHDB.',
  parts: ['nginx-lua', 'redis'],
  keeps: 'shared',
  start: (scene) =>
    startNginx(scene, {
      name: 'nginx-lua + Redis',
      modules: ['ndk_http_module', 'ngx_http_lua_module'],
      http: '  lua_shared_dict locks 8m;\n  lua_socket_log_errors off;',
      server: serverConfig(scene),
      purge: () => flushStore(scene.store),
    }),
};

/** Longer than the origin may take; a lock that is left behind ends by itself. */
const LOCK_SECONDS = 12;

function serverConfig({ store, ttlSeconds, staleSeconds }: PeerScene): string {
  return `    location /origin/ { internal; proxy_ignore_client_abort on; proxy_pass http://origin/; }
    location = /search {
      default_type "application/json; charset=utf-8";
      content_by_lua_block {
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
        -- Somebody may have stored it between our reading and our lock.
        if is_mine and not body then body, is_fresh = read() end
        local status = 503
        if is_mine and not body then
          local ok, loaded, failed = pcall(load)
          body = ok and loaded
          status = ok and failed or status
        elseif is_mine and not is_fresh then
          -- Who has the lock gets the stale page too; nothing keeps him while a new one is loaded.
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
