import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { listeningServer, sendBytes, until } from './harness.ts';

const head = (line: string, last = ''): string =>
  `${line} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${last}\r\n`;
const CLOSE = 'Connection: close\r\n';
/** JSON in chunks of one byte each. */
const chunked = (text: string): string => `${[...text].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`;
const BODY = JSON.stringify({ searches: [{ q: 'a' }] });

test('a body in more pieces than anybody needs is refused, and says so', async (context) => {
  const { port, events, server } = await listeningServer(context);
  const most = await sendBytes(port, head('POST /msearch', CLOSE) + chunked(BODY.padEnd(4096)));
  assert.equal(most.status, 200);
  const more = await sendBytes(port, head('POST /msearch', CLOSE) + chunked(BODY.padEnd(20_000)));
  assert.deepEqual([more.status, more.problem.code], [413, 'body-too-large']);
  assert.match(more.problem.detail ?? '', /at most 4096 chunks or packets/);
  assert.equal(events.at(-1)?.outcome, 'rejected');
  assert.equal(server.pressure.status().state, 'ok');
});

test('where no body is expected its pieces cost the connection and nothing else', async (context) => {
  const { port, server } = await listeningServer(context);
  const client = connect({ port, host: '127.0.0.1' }).on('error', () => {});
  client.resume().write(head('GET /') + chunked(' '.repeat(20_000)));
  await until(() => client.closed, 'it was cut or answered');
  assert.equal((await server.app.inject('/healthz')).statusCode, 200);
});

test('a byte that comes alone is held for what it costs', async (context) => {
  const { port, connections } = await listeningServer(context, {
    drainMs: 100,
    timeouts: { maxBufferedBytes: 2 ** 20 },
  });
  const unfinished = head('POST /msearch') + '1\r\n \r\n'.repeat(1000);
  for (let i = 0; i < 4; i += 1) {
    const client = connect({ port, host: '127.0.0.1' }).on('error', () => {});
    context.after(() => client.destroy());
    client.resume().write(unfinished);
  }
  await until(() => connections.includes('held'), 'one gave way');
});
