import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { createBufferBudget } from '../../src/http/transport/buffer-budget.ts';
import { until } from '../until.ts';
import { get, listeningServer, openClient, sendBytes } from './harness.ts';

test('above the limit the connections that have held bytes longest are cut, and no more than needed', () => {
  const { held, cuts } = start(100);
  const [first, second, third] = connections();
  held.hold(first, 40);
  held.hold(second, 40);
  held.hold(first, 10);
  assert.deepEqual([held.total(), cuts()], [90, 0]);
  held.hold(third, 30);
  assert.deepEqual(
    [first, second, third].map(({ destroyed }) => destroyed),
    [true, false, false],
  );
  assert.deepEqual([held.total(), cuts()], [70, 1]);
});

test('a connection that released all its bytes counts as new', () => {
  const { held } = start(100);
  const [first, second, third] = connections();
  held.hold(first, 50);
  held.hold(second, 40);
  held.release(first, 50);
  held.hold(first, 50);
  held.hold(third, 50);
  assert.deepEqual(
    [first, second, third].map(({ destroyed }) => destroyed),
    [false, true, false],
  );
});

test('a connection that exceeds the limit alone is cut', () => {
  const { held } = start(100);
  const [first] = connections();
  held.hold(first, 101);
  assert.deepEqual([first.destroyed, held.total()], [true, 0]);
});

test('a closed connection holds nothing, and later calls for it change nothing', async () => {
  const { held } = start(100);
  const [first, second] = connections();
  held.hold(first, 60);
  held.hold(second, 30);
  first.destroy();
  await once(first, 'close');
  assert.equal(held.total(), 30);
  held.release(first, 60);
  held.hold(first, 60);
  assert.equal(held.total(), 30);
});

test('ten thousand answers over one connection leave no event listener behind', () => {
  const { held } = start(100);
  const [connection] = connections();
  for (let i = 0; i < 10_000; i += 1) {
    held.hold(connection, 50);
    held.release(connection, 50);
  }
  assert.ok(connection.listenerCount('close') <= 2);
  assert.equal(held.total(), 0);
});

function start(maxBytes: number) {
  let count = 0;
  const onCut = (): void => {
    count += 1;
  };
  return { held: createBufferBudget({ maxBytes, onCut }), cuts: () => count };
}

function connections(): [PassThrough, PassThrough, PassThrough] {
  return [new PassThrough(), new PassThrough(), new PassThrough()];
}

const MIB = 2 ** 20;

test('unfinished bodies are buffered up to the limit', async (context) => {
  // Four bodies, and the overhead of their pieces.
  const timeouts = { maxBufferedBytes: 1.125 * MIB };
  const limits = { timeouts, maxBodyBytes: 300 * 1024, drainMs: 100 };
  const { port, connections, server } = await listeningServer(context, limits);
  const size = 256 * 1024;
  const head = `POST /msearch HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`;
  const unfinished = head + ' '.repeat(size - 1);
  const senders = Array.from({ length: 8 }, () => openClient(context, port, unfinished).socket);
  await until('four gave way', () => connections.length === 4);
  await until('four clients have seen the close', () => senders.filter(({ closed }) => closed).length === 4);
  const last = senders.find(({ closed }) => !closed);
  assert.equal(server.pressure.status().state, 'ok');
  const payload = JSON.stringify({ searches: [{ q: 'a' }] });
  const answered = await fetch(`http://127.0.0.1:${port}/msearch`, {
    method: 'POST',
    body: payload,
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(answered.status, 200);
  last?.destroy();
  assert.deepEqual(new Set(connections), new Set(['held']));
});

test('unread answers are buffered up to the limit, and a client that reads gets its whole answer', async (context) => {
  // A page of 7 MB, more than the kernel buffers for one connection.
  const { port, connections, events } = await listeningServer(context, {
    drainMs: 100,
    timeouts: { maxBufferedBytes: 12 * MIB },
    fake: { results: 40_000 },
  });
  const whole = (await get(port, '/search?q=big')).body.length;
  assert.ok(whole > 6 * MIB, String(whole));
  const search = 'GET /search?q=big HTTP/1.1\r\nHost: t\r\n\r\n';
  const deaf = Array.from({ length: 8 }, () => openClient(context, port, search).socket.pause());
  await Promise.all(deaf.map((client) => once(client, 'connect')));
  await until('all were answered', () => events.length === 9);
  assert.ok(connections.length > 0, 'some connections were cut');
  assert.deepEqual(new Set(connections), new Set(['held']));
  assert.equal((await get(port, '/search?q=big')).body.length, whole);
});

test('an unread batch answer and an unread page count towards the same limit', async (context) => {
  const { port, connections } = await listeningServer(context, {
    drainMs: 100,
    timeouts: { maxBufferedBytes: MIB / 4 },
    fake: { results: 4000 },
  });
  const body = JSON.stringify({ searches: [{ q: 'big' }] });
  const head = `POST /msearch HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const [batch, page] = [`${head}\r\n\r\n${body}`, `GET /?q=${'%22'.repeat(256)} HTTP/1.1\r\nHost: t\r\n\r\n`];
  // 9 to 14 MB each; the kernel buffers a part. A page shows 100 results, here of quotes, which are longer in HTML.
  for (const bytes of [batch.repeat(20), page.repeat(30)]) {
    connections.length = 0;
    openClient(context, port, bytes).socket.pause();
    await until('it was cut', () => connections.length > 0);
    assert.deepEqual(new Set(connections), new Set(['held']));
  }
});

const head = (line: string, last = ''): string =>
  `${line} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${last}\r\n`;
const CLOSE = 'Connection: close\r\n';
/** JSON in chunks of one byte each. */
const chunked = (text: string): string => `${[...text].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`;
const BODY = JSON.stringify({ searches: [{ q: 'a' }] });

test('a body in too many pieces is refused with the reason', async (context) => {
  const { port, events, server } = await listeningServer(context);
  const most = await sendBytes(port, head('POST /msearch', CLOSE) + chunked(BODY.padEnd(4096)));
  assert.equal(most.status, 200);
  const more = await sendBytes(port, head('POST /msearch', CLOSE) + chunked(BODY.padEnd(20_000)));
  assert.deepEqual([more.status, more.problem.code], [413, 'body-too-large']);
  assert.match(more.problem.detail ?? '', /at most 4096 chunks or packets/);
  assert.equal(events.at(-1)?.outcome, 'rejected');
  assert.equal(server.pressure.status().state, 'ok');
});

test('too many pieces of an unexpected body cost only their connection', async (context) => {
  const { port, server } = await listeningServer(context);
  const { socket } = openClient(context, port, head('GET /') + chunked(' '.repeat(20_000)));
  await until('the connection was cut or answered', () => socket.closed);
  assert.equal((await server.app.inject('/healthz')).statusCode, 200);
});

test('a single byte is counted with the overhead of its piece', async (context) => {
  const { port, connections } = await listeningServer(context, {
    drainMs: 100,
    timeouts: { maxBufferedBytes: 2 ** 20 },
  });
  const unfinished = head('POST /msearch') + '1\r\n \r\n'.repeat(1000);
  for (let i = 0; i < 4; i += 1) openClient(context, port, unfinished);
  await until('one gave way', () => connections.includes('held'));
});
