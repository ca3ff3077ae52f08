import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { createDrain } from '../../src/http/transport/drain.ts';
import { systemClock } from '../../src/runtime.ts';
import { until } from '../until.ts';
import { held, listeningServer, openClient } from './harness.ts';

/** Never reached. */
const LONG_MS = 600_000;

test('closing under keep-alive load loses no request', async (context) => {
  const { server, search, port, events } = await listeningServer(context, { lameDuckMs: 200, drainMs: LONG_MS });
  const compute = search.answer;
  search.answer = async (prepared) => {
    await sleep(Math.random() * 60);
    return compute(prepared);
  };
  const tally = { answered: 0, refused: 0, lost: [] as string[] };
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  let id = 0;
  const one = async (): Promise<boolean> => {
    id += 1;
    // Every third request is a slow miss, the others are hits.
    const request = get({ port, host: '127.0.0.1', agent, path: `/search?q=${id % 3 === 0 ? `new+${id}` : 'hit'}` });
    try {
      const [response]: IncomingMessage[] = await once(request, 'response');
      response?.resume();
      if (response !== undefined) await once(response, 'end');
      if (response?.statusCode === 200) tally.answered += 1;
      else tally.lost.push(String(response?.statusCode));
      return true;
    } catch (error) {
      // The server has stopped listening: the connection was never accepted, and a balancer sends it elsewhere.
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') tally.refused += 1;
      else tally.lost.push(String(error));
      return false;
    }
  };
  const clients = Array.from({ length: 16 }, async () => {
    while (await one());
  });
  await until('the load runs', () => tally.answered > 300);
  // Nothing was cut: the close was over before the drain time.
  const { cut } = await server.close();
  await Promise.all(clients);
  agent.destroy();
  assert.deepEqual(tally.lost, []);
  assert.equal(cut, 0);
  assert.equal(events.length, tally.answered);
});

test('a connection that the HTTP server has released is cut with the others', async (context) => {
  const server = createServer();
  const drain = createDrain({ server, clock: systemClock, lameDuckMs: 0, drainMs: 50 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  openClient(context, port, 'CONNECT t:1 HTTP/1.1\r\nHost: t\r\n\r\n');
  await once(server, 'connect');
  assert.deepEqual(await drain.close(), { cut: 1 });
});

test('a request in flight is answered, and its idle connection does not delay the close', async (context) => {
  const { server, search, port } = await listeningServer(context, { drainMs: LONG_MS });
  const release = held(search);
  const idle = openClient(context, port, 'GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n').socket;
  await once(idle, 'data');
  const unused = openClient(context, port).socket;
  await once(unused, 'connect');
  const busy = openClient(context, port, 'GET /search?q=slow HTTP/1.1\r\nHost: t\r\n\r\n');
  await until('the search began', () => search.asked.single.length === 1);
  const closed = server.close();
  await Promise.all([once(idle, 'close'), once(unused, 'close')]);
  assert.equal(busy.text(), '');
  release();
  await once(busy.socket, 'close');
  assert.deepEqual(await closed, { cut: 0 });
  assert.match(busy.text(), /^HTTP\/1\.1 200 OK\r\n.*\r\nConnection: close\r\n/is);
});

for (const lane of ['auto', 'off'] as const) {
  test(`lane ${lane}: a request that came in while the event loop was blocked is answered, although idle connections are being closed`, async (context) => {
    const { server, port } = await listeningServer(context, { lane, drainMs: LONG_MS });
    const { socket, text } = openClient(context, port, 'GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n');
    await until('the first answer', () => text().endsWith('}'));
    const first = text();
    const closed = server.close();
    // From here the next phase of the event loop is the timers.
    while (server.app.server.listening) await turn();
    socket.write('GET /search?q=a HTTP/1.1\r\nHost: t\r\n\r\n');
    // Longer than an idle connection may live.
    const untilMs = performance.now() + 400;
    while (performance.now() < untilMs);
    await once(socket, 'close');
    assert.match(text().slice(first.length), /^HTTP\/1\.1 200 OK\r\n/);
    assert.deepEqual(await closed, { cut: 0 });
  });
}

test('a request that never ends is cut at the drain time', async (context) => {
  const { server, search, port } = await listeningServer(context, { drainMs: 300 });
  search.answer = () => new Promise(() => {});
  openClient(context, port, 'GET /search?q=stuck HTTP/1.1\r\nHost: t\r\n\r\n');
  await until('the search began', () => search.asked.single.length === 1);
  assert.deepEqual(await server.close(), { cut: 1 });
});

test('closing is idempotent', async (context) => {
  const { server } = await listeningServer(context);
  const results = await Promise.all([server.close(), server.close()]);
  assert.deepEqual(results, [{ cut: 0 }, { cut: 0 }]);
});
