import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { until } from '../until.ts';
import { listeningServer } from './harness.ts';

test('a client that disconnects before the answer is counted as aborted and aborts no load', async (context) => {
  const { port, search, server, events, lines } = await listeningServer(context);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const compute = search.answer;
  search.answer = async (prepared, options) => {
    await held;
    return compute(prepared, options);
  };
  let openConnections = 0;
  server.app.server.on('connection', (socket) => {
    openConnections += 1;
    socket.once('close', () => {
      openConnections -= 1;
    });
  });
  const client = connect({ port, host: '127.0.0.1' });
  client.on('error', () => {});
  await once(client, 'connect');
  client.write('GET /search?q=slow HTTP/1.1\r\nHost: t\r\n\r\n');
  await until('the search began', () => search.asked.single.length === 1);
  client.resetAndDestroy();
  await until('the server saw the close', () => openConnections === 0);
  release();
  await until('the request was counted', () => events.length === 1);
  assert.deepEqual(
    events.map(({ outcome, domain, status }) => [outcome, domain, status]),
    [['aborted', 'goods', 499]],
  );
  assert.equal(search.memory.size, 1, 'the page was stored nevertheless');
  assert.deepEqual(
    lines.filter(({ level }) => Number(level) >= 50),
    [],
  );
});

test('each item of a batch whose client disconnects is counted as aborted', async (context) => {
  const { port, search, server, events } = await listeningServer(context);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  search.answer = async (prepared) => {
    await held;
    return search.computed(prepared);
  };
  const gone = new Promise((resolve) => {
    server.app.server.on('connection', (socket) => socket.once('close', resolve));
  });
  const client = connect({ port, host: '127.0.0.1' });
  client.on('error', () => {});
  await once(client, 'connect');
  const body = '{"searches":[{"q":"a"},{"q":"b","domain":"auto"}]}';
  const head = `POST /msearch HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  client.write(`${head}\r\n\r\n${body}`);
  await until('the batch began', () => search.asked.many.length === 2);
  client.resetAndDestroy();
  await gone;
  release();
  await until('both items were counted', () => events.length === 2);
  assert.deepEqual(
    events.map(({ outcome, domain }) => [outcome, domain]),
    [
      ['aborted', 'goods'],
      ['aborted', 'auto'],
    ],
  );
});

test('a client that disconnects in the middle of its body is one aborted request', async (context) => {
  const { port, events, lines, server } = await listeningServer(context);
  const accepted: Socket[] = [];
  server.app.server.on('connection', (socket) => accepted.push(socket));
  const client = connect({ port, host: '127.0.0.1' });
  client.on('error', () => {});
  await once(client, 'connect');
  const bytes =
    'POST /msearch HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"sea';
  client.write(bytes);
  await until('the server has read the bytes', () => accepted[0]?.bytesRead === bytes.length);
  client.resetAndDestroy();
  await until('the request was counted', () => events.length === 1);
  assert.deepEqual(
    events.map(({ outcome, domain }) => [outcome, domain]),
    [['aborted', 'none']],
  );
  assert.deepEqual(
    lines.filter(({ level }) => Number(level) >= 50),
    [],
  );
});
