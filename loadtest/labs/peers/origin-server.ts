/** `origin-server.ts <port> <configuration> <ttl seconds>`: the origin of the peers as a process of its own. */
import { createServer } from 'node:http';
import { loadSettings } from '../../../src/config/load.ts';
import { createAdapters, searchDomainOf } from '../../../src/engines/create-engines.ts';
import { systemClock } from '../../../src/runtime.ts';
import { createOrigin } from './origin.ts';

/** Several bursts of several hundred. */
const MOST_WAITING = 8192;

const [, , port = '0', file = '', ttlSeconds = '60'] = process.argv;
const [settings] = loadSettings({ env: { SERPCACHE_CONFIG: file }, cwd: process.cwd() }).domains;
if (settings === undefined) throw new Error('a configuration without a domain');
const domain = searchDomainOf(settings);
const given = { clock: systemClock, random: Math.random, observe: () => {} };
const [engine] = await createAdapters(settings.engine, domain, given);
if (engine === undefined) throw new Error('a domain without an engine');

const origin = createOrigin({
  engine,
  domain,
  ttlSeconds: Number(ttlSeconds),
  // As many and as long as one serpcache allows itself.
  atOnce: settings.engine.maxConcurrent,
  deadlineMs: settings.engine.hardDeadlineMs,
  mostWaiting: MOST_WAITING,
});
const server = createServer(origin);
// Caches keep their connections; whoever closes first loses a request on its way.
server.keepAliveTimeout = 300_000;
server.listen({ port: Number(port), host: '127.0.0.1', backlog: 4096 });
