import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { type AddressInfo, connect as connectPlain, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { type ConnectionOptions, connect } from 'node:tls';
import pino from 'pino';
import { type Certificates, makeCertificates } from '../../../loadtest/stack/redis-node.ts';
import { createClientErrorHandler } from '../../../src/http/transport/client-error.ts';
import { createListener, DEFAULT_LIMITS, type ListenerTls } from '../../../src/http/transport/listener.ts';
import { until } from '../../until.ts';
import { adminHarness, bearer } from './harness.ts';

let directory = '';
let certificates: Certificates;
let tls: ListenerTls;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'serpcache-admin-tls-'));
  certificates = await makeCertificates(directory);
  const { certFile, keyFile } = certificates;
  tls = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
});
after(() => rmSync(directory, { recursive: true, force: true }));

async function listening(t: TestContext): Promise<{ readonly url: string; readonly port: number; server: Server }> {
  const harness = adminHarness(t, { tls });
  const url = await harness.server.listen({ host: '127.0.0.1', port: 0 });
  const { server } = harness.server.app;
  return { url, port: (server.address() as AddressInfo).port, server };
}

/** @returns the status, or the code of the error. */
function get(port: number, options: { readonly path?: string; readonly ca?: string }): Promise<number | string> {
  const { promise, resolve } = Promise.withResolvers<number | string>();
  const { path = '/admin/domains', ca } = options;
  const asking = request({ host: '127.0.0.1', port, path, headers: bearer, agent: false, ...(ca && { ca }) });
  asking.on('response', (response) => resolve(response.resume().statusCode ?? 0));
  asking.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  asking.end();
  return promise;
}

/** @returns the text that came until the connection ended. */
async function ended(socket: Socket): Promise<string> {
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    text += chunk;
  });
  if (!socket.closed) await once(socket, 'close');
  return text;
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => server.getConnections((error, n) => (error ? reject(error) : resolve(n))));
}

test('with a certificate the admin listener speaks HTTPS and has an https URL', async (t) => {
  const { url, port } = await listening(t);
  assert.equal(url, `https://127.0.0.1:${port}`);
  assert.equal(await get(port, { ca: certificates.ca }), 200);
  assert.equal(await get(port, {}), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  // A target in raw UTF-8 is given to the parser a second time, with TLS too.
  assert.equal(await get(port, { ca: certificates.ca, path: encodeURI('/admin/explain?q=кроссовки') }), 200);
  const raw = connect({ port, host: '127.0.0.1', ca: certificates.ca });
  raw.write('GET /admin/explain?q=кроссовки HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n');
  assert.match(await ended(raw), /^HTTP\/1\.1 401 /);
});

test('plain HTTP to the HTTPS listener gets no answer and keeps no connection', async (t) => {
  const { port, server } = await listening(t);
  const client = connectPlain({ port, host: '127.0.0.1' });
  client.write('GET /metrics HTTP/1.1\r\nHost: t\r\n\r\n');
  assert.doesNotMatch(await ended(client), /HTTP/);
  await until('no connection', async () => (await connections(server)) === 0);
});

/** A listener whose metrics are answered when `measured` is called; `asked` resolves when they were requested. */
async function slowMetrics(t: TestContext) {
  const { promise: metrics, resolve: measured } = Promise.withResolvers<{ contentType: string; body: string }>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const harness = adminHarness(t, {
    tls,
    metricsText: () => {
      ask();
      return metrics;
    },
    drainMs: 600_000,
  });
  await harness.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = harness.server.app.server.address() as AddressInfo;
  return { harness, port, asked, measured };
}

test('a busy connection over TLS is not given up for a new one', async (t) => {
  const { port, asked, measured } = await slowMetrics(t);
  const answer = get(port, { ca: certificates.ca, path: '/metrics' });
  await asked;
  // One more than the rest of the maximum of an address.
  const idle = Array.from({ length: 32 }, () => connectPlain({ port, host: '127.0.0.1' }).on('error', () => {}));
  t.after(() => idle.forEach((socket) => void socket.destroy()));
  await Promise.race(idle.map((socket) => once(socket, 'close')).concat([answer as Promise<never>]));
  measured({ contentType: 'text/plain', body: 'up 1' });
  assert.equal(await answer, 200);
});

test('TLS 1.1 is refused', async (t) => {
  const { port } = await listening(t);
  const { ca } = certificates;
  const options = (version: 'TLSv1.1' | 'TLSv1.2'): ConnectionOptions => ({
    ...{ port, host: '127.0.0.1', ca, minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' },
  });
  const [old, least] = [connect(options('TLSv1.1')), connect(options('TLSv1.2'))];
  t.after(() => least.destroy());
  const [error] = await once(old, 'error');
  assert.match(error.message, /alert protocol version/);
  await once(least, 'secureConnect');
});

test('a handshake that never ends is cut after the header timeout', async (t) => {
  const limits = { ...DEFAULT_LIMITS, headersTimeoutMs: 100, maxConnections: 10, maxUrlBytes: 8192 };
  const server = createListener({
    limits,
    handle: () => assert.fail(),
    refuse: () => () => assert.fail(),
    observe: () => {},
    tls,
  });
  // The service has this handler too: it answers unreadable requests, but cannot answer before the handshake.
  const log = pino({ level: 'silent' });
  server.on(
    'clientError',
    createClientErrorHandler({ log, random: Math.random, connect: () => assert.fail(), onSlow: () => assert.fail() }),
  );
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const silent = connectPlain({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  assert.equal(await ended(silent), '');
});

test('closing waits for an answer in progress over TLS, sends Connection: close, and closes idle connections', async (t) => {
  const { harness, port, asked, measured } = await slowMetrics(t);
  const agent = new Agent({ keepAlive: true, ca: certificates.ca });
  t.after(() => agent.destroy());
  const ask = (path: string) => request({ host: '127.0.0.1', port, path, agent }).end();
  const [idle, busy] = [ask('/healthz'), ask('/metrics')];
  const [first] = await once(idle, 'response');
  await once(first.resume(), 'end');
  await asked;
  const closed = harness.server.close();
  await until('the listener to close', () => !harness.server.app.server.listening);
  measured({ contentType: 'text/plain', body: 'up 1' });
  const [answer] = await once(busy, 'response');
  assert.deepEqual([answer.statusCode, answer.headers.connection], [200, 'close']);
  answer.resume();
  assert.deepEqual(await closed, { cut: 0 });
});
