import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { clientOf, searchPath, startFleet, startFront } from '../../deploy/check/nginx-service.ts';
import { loadSettings } from '../../src/config/load.ts';
import { DEFAULT_LIMITS } from '../../src/http/transport/listener.ts';
import { temporaryFolder } from '../folder.ts';

const root = join(import.meta.dirname, '..', '..');
const text = readFileSync(join(root, 'deploy', 'nginx', 'serpcache.conf'), 'utf8');
const settings = loadSettings({ env: {}, cwd: root });

/** Every value of a directive, in the order of the file. */
function valuesOf(directive: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^ *${directive} ([^;]+);`, 'gm'))].map(([, value = '']) => value);
}

function secondsOf(directive: string): readonly number[] {
  const values = valuesOf(directive).map((value) => Number(/^(\d+)s$/.exec(value)?.[1]));
  assert.ok(values.length > 0 && values.every(Number.isInteger), `${directive}: ${valuesOf(directive).join()}`);
  return values;
}

test('nginx starts with its file in deploy, and answers the second search out of its cache', async (t) => {
  const folder = temporaryFolder(t);
  const fleet = await startFleet(folder);
  t.after(fleet.stop);
  const front = await startFront({ folder, upstreamPorts: fleet.ports });
  t.after(front.stop);
  const client = clientOf(front, '127.0.0.1');
  t.after(client.close);
  const path = searchPath('alpha');
  const first = await client.ask({ path });
  const second = await client.ask({ path });
  assert.deepEqual([first.status, second.status], [200, 200]);
  assert.match(first.cacheStatus, /^serpcache-l1; fwd=[^,]+, nginx; fwd=miss$/);
  assert.match(second.cacheStatus, /^serpcache-l1; fwd=[^,]+, nginx; hit$/);
  const closed = await client.ask({ path: '/metrics' });
  assert.equal(closed.status, 404);
});

test('no server of the file is an admin listener', () => {
  const servers = valuesOf('server').flatMap((value) => /^[\d.]+:\d+/.exec(value)?.[0] ?? []);
  assert.equal(servers.length, 5);
  for (const server of servers) assert.doesNotMatch(server, new RegExp(`:${settings.admin.port}$`));
});

test('nginx waits longer than a client of serpcache, and its edge longer than its balancer', () => {
  const [edge = 0, balancer = 0] = secondsOf('proxy_read_timeout');
  const patienceMs = Math.max(...settings.domains.map((domain) => domain.patienceMs));
  assert.ok(balancer * 1000 > patienceMs, `${balancer} s, and a patience of ${patienceMs} ms`);
  const [tries = 0] = secondsOf('proxy_next_upstream_timeout');
  assert.ok(tries < balancer, 'a search that was slow is asked again');
  assert.ok(edge > balancer + secondsOf('proxy_connect_timeout').reduce((sum, seconds) => sum + seconds, 0));
});

test('nginx closes idle connections to serpcache before serpcache does', () => {
  const pools = secondsOf('keepalive_timeout').filter((seconds) => seconds === 60);
  assert.ok(pools.length >= 3);
  assert.ok(60_000 < DEFAULT_LIMITS.keepAliveTimeoutMs);
});

test('nginx lets requests through up to the limits of serpcache', () => {
  const bodies = valuesOf('client_max_body_size').map((value) => Number(/^(\d+)k$/.exec(value)?.[1]) * 1024);
  assert.equal(Math.max(...bodies), settings.public.maxBodyBytes);
  const [, buffer = ''] = /^\d+ (\d+)k$/.exec(valuesOf('large_client_header_buffers')[0] ?? '') ?? [];
  assert.ok(Number(buffer) * 1024 > settings.public.maxUrlBytes + 'HEAD  HTTP/1.1'.length);
  const waiting = [...text.matchAll(/max_conns=(\d+)/g)].map(([, count]) => Number(count));
  // Each process is in both pools.
  assert.ok(Math.max(...waiting) + Math.min(...waiting) < settings.public.maxConnections);
});

test('nothing of a client that serpcache would believe, or that would weaken a limit, is passed on', () => {
  const [, edge = '', balancer = ''] = text.split(/\n# --- (?:edge|balancer) -+\n/);
  for (const line of [
    'proxy_set_header Authorization "";',
    'proxy_set_header Cookie "";',
    'proxy_set_header Forwarded "";',
    'proxy_set_header X-Api-Key "";',
    'proxy_set_header X-Forwarded-For $remote_addr;',
    'proxy_set_header X-Forwarded-Proto https;',
    'proxy_set_header traceparent $serpcache_traceparent;',
    'proxy_hide_header traceresponse;',
    'limit_conn serpcache_connections 64;',
    'max_ranges 0;',
    'ssl_session_tickets off;',
    'client_header_timeout 10s;',
    'client_body_timeout 10s;',
    'send_timeout 10s;',
  ]) {
    assert.ok(edge.includes(`    ${line}\n`), line);
  }
  assert.match(text, /map \$serpcache_is_own \$serpcache_traceparent \{\n {4}default "";\n/);
  // An IPv6 client is its first 8 bytes, a /64.
  assert.match(text, /\^\(\?<serpcache_network>\.\{8\}\)\.\{8\}\$/);
  assert.match(balancer, /location = \/readyz \{[^}]*proxy_next_upstream error timeout http_503;/);
});
