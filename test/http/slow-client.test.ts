import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { listeningServer, parseAnswer, until } from './serve.ts';

const timeouts = { headersTimeoutMs: 300, requestTimeoutMs: 300, keepAliveTimeoutMs: 300 };

for (const [what, bytes] of [
  ['half a request line', 'GET /sea'],
  ['half a header', 'GET /search?q=a HTTP/1.1\r\nHost: t\r\n'],
  [
    'half a body',
    'POST /msearch HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"s',
  ],
] as const) {
  test(`${what} is given up with 408`, async (context) => {
    const { port, search, lines } = await listeningServer(context, { timeouts });
    const client = connect({ port, host: '127.0.0.1' });
    let text = '';
    client.on('data', (chunk) => {
      text += chunk;
    });
    client.on('error', () => {});
    client.write(bytes);
    await once(client, 'close');
    const answer = parseAnswer(text);
    assert.deepEqual([answer.status, answer.problem.code], [408, 'request-timeout']);
    assert.equal(search.asked.single.length + search.asked.many.length, 0);
    assert.deepEqual(
      lines.filter(({ level }) => Number(level) >= 40),
      [],
    );
  });
}

test('a connection that sends nothing is closed', async (context) => {
  const { port } = await listeningServer(context, { timeouts });
  const client = connect({ port, host: '127.0.0.1' });
  client.on('error', () => {}).resume();
  await once(client, 'close');
});

test('an idle connection is closed after its keep-alive time', async (context) => {
  const { port } = await listeningServer(context, { timeouts });
  const client = connect({ port, host: '127.0.0.1' });
  client.on('error', () => {}).resume();
  client.write('GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n');
  await once(client, 'close');
});

test('connections are bounded', async (context) => {
  const { port } = await listeningServer(context, { maxConnections: 2 });
  const open = (): ReturnType<typeof connect> => connect({ port, host: '127.0.0.1' }).on('error', () => {});
  const [first, second] = [open(), open()];
  await Promise.all([once(first, 'connect'), once(second, 'connect')]);
  let closed = false;
  open().on('close', () => {
    closed = true;
  });
  await until(() => closed, 'the third was turned away');
  first.destroy();
  second.destroy();
});
