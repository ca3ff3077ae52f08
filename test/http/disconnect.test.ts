import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { until } from '../until.ts';
import { countedOf, errorsIn, held, listeningServer, openClient } from './harness.ts';

test('a client that disconnects before the answer is counted as aborted and aborts no load', async (context) => {
  const { port, search, server, events, lines } = await listeningServer(context);
  const release = held(search);
  let openConnections = 0;
  server.app.server.on('connection', (socket) => {
    openConnections += 1;
    socket.once('close', () => {
      openConnections -= 1;
    });
  });
  const client = openClient(context, port, 'GET /search?q=slow HTTP/1.1\r\nHost: t\r\n\r\n').socket;
  await until('the search began', () => search.asked.single.length === 1);
  client.resetAndDestroy();
  await until('the server saw the close', () => openConnections === 0);
  release();
  await until('the request was counted', () => events.length === 1);
  assert.deepEqual(countedOf(events), ['aborted 499 goods']);
  assert.equal(search.memory.size, 1, 'the page was stored nevertheless');
  assert.deepEqual(errorsIn({ lines }), []);
});

test('each item of a batch whose client disconnects is counted as aborted', async (context) => {
  const { port, search, server, events } = await listeningServer(context);
  const release = held(search);
  const gone = new Promise((resolve) => {
    server.app.server.on('connection', (socket) => socket.once('close', resolve));
  });
  const body = '{"searches":[{"q":"a"},{"q":"b","domain":"auto"}]}';
  const head = `POST /msearch HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const client = openClient(context, port, `${head}\r\n\r\n${body}`).socket;
  await until('the batch began', () => search.asked.many.length === 2);
  client.resetAndDestroy();
  await gone;
  release();
  await until('both items were counted', () => events.length === 2);
  assert.deepEqual(countedOf(events), ['aborted 499 goods', 'aborted 499 auto']);
});

test('a client that disconnects in the middle of its body is one aborted request', async (context) => {
  const { port, events, lines, server } = await listeningServer(context);
  const accepted: Socket[] = [];
  server.app.server.on('connection', (socket) => accepted.push(socket));
  const bytes =
    'POST /msearch HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"sea';
  const client = openClient(context, port, bytes).socket;
  await until('the server has read the bytes', () => accepted[0]?.bytesRead === bytes.length);
  client.resetAndDestroy();
  await until('the request was counted', () => events.length === 1);
  assert.deepEqual(countedOf(events), ['aborted 499 none']);
  assert.deepEqual(errorsIn({ lines }), []);
});
