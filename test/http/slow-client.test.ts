import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { until } from '../until.ts';
import { listeningServer, openClient, parseAnswer } from './harness.ts';

const SHORT_MS = 300;
/** Never reached: another limit closes the connection first. */
const LONG_MS = 600_000;
const slow = { headersTimeoutMs: SHORT_MS, requestTimeoutMs: SHORT_MS, keepAliveTimeoutMs: LONG_MS };
const idle = { headersTimeoutMs: LONG_MS, requestTimeoutMs: LONG_MS, keepAliveTimeoutMs: SHORT_MS };

/** @returns with `ended`: how the server ended the connection, as the client saw it; undefined while it is open */
function open(context: TestContext, port: number) {
  const client = openClient(context, port);
  let ended: 'closed' | 'broken' | undefined;
  client.socket.on('end', () => {
    ended = 'closed';
  });
  client.socket.on('error', () => {
    ended = 'broken';
  });
  return { ...client, ended: () => ended };
}

for (const [what, bytes] of [
  ['nothing at all', ''],
  ['half a request line', 'GET /sea'],
  ['half a header', 'GET /search?q=a HTTP/1.1\r\nHost: t\r\n'],
  [
    'half a body',
    'POST /msearch HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"s',
  ],
] as const) {
  test(`a connection that sends ${what} gets 408 and is closed, by the request timeout`, async (context) => {
    const { port, search, lines, connections } = await listeningServer(context, { timeouts: slow });
    const patient = await listeningServer(context, { timeouts: idle, drainMs: 100 });
    const [other, client] = [open(context, patient.port), open(context, port)];
    await Promise.all([once(other.socket, 'connect'), once(client.socket, 'connect')]);
    for (const { socket } of [other, client]) socket.write(bytes);
    await until('the server closes the connection', () => client.socket.closed);
    const answer = parseAnswer(client.text());
    assert.deepEqual([client.ended(), answer.status, answer.problem.code], ['closed', 408, 'request-timeout']);
    assert.deepEqual(connections, ['slow']);
    assert.equal(search.asked.single.length + search.asked.many.length, 0);
    assert.deepEqual(
      lines.filter(({ level }) => Number(level) >= 40),
      [],
    );
    assert.deepEqual(
      [other.ended(), other.text()],
      [undefined, ''],
      'the listener on which only the other timeout is short keeps the connection',
    );
  });
}

test('an idle connection is closed after its keep-alive time without an answer', async (context) => {
  const { port, connections } = await listeningServer(context, { timeouts: idle });
  const patient = await listeningServer(context, { timeouts: slow, drainMs: 100 });
  const [other, client] = [open(context, patient.port), open(context, port)];
  for (const { socket } of [other, client]) socket.write('GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n');
  await until('both requests are answered', () => [other, client].every(({ text }) => text().endsWith('}')));
  const answered = client.text();
  await until('the server closes the connection', () => client.socket.closed);
  assert.deepEqual([client.ended(), client.text()], ['closed', answered]);
  const { status, headers } = parseAnswer(answered);
  assert.equal(status, 200);
  assert.notEqual(headers['connection'], 'close');
  assert.deepEqual(connections, []);
  assert.equal(
    other.ended(),
    undefined,
    'the listener on which only the other timeouts are short keeps the connection',
  );
});
