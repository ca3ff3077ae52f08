import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { get, listeningServer, until } from './harness.ts';

const MIB = 2 ** 20;

test('bodies that stop before their end are held up to a bound', async (context) => {
  // Four of them, and what the pieces they come in cost beside.
  const timeouts = { maxBufferedBytes: 1.125 * MIB };
  const { port, connections, server } = await listeningServer(context, {
    timeouts,
    maxBodyBytes: 300 * 1024,
    drainMs: 100,
  });
  const size = 256 * 1024;
  const head = `POST /msearch HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`;
  const senders = Array.from({ length: 8 }, () => {
    const client = connect({ port, host: '127.0.0.1' }).on('error', () => {});
    context.after(() => client.destroy());
    client.resume().write(head + ' '.repeat(size - 1));
    return client;
  });
  await until(() => connections.length === 4, 'four gave way');
  await until(() => senders.filter(({ closed }) => closed).length === 4, 'they have noticed');
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

test('answers that nobody reads are held up to a bound, and who reads gets all of his', async (context) => {
  // A page of 7 MB, more than the kernel takes for a connection.
  const { port, connections, events } = await listeningServer(context, {
    drainMs: 100,
    timeouts: { maxBufferedBytes: 12 * MIB },
    fake: { results: 40_000 },
  });
  const whole = (await get(port, '/search?q=big')).body.length;
  assert.ok(whole > 6 * MIB, String(whole));
  const deaf = Array.from({ length: 8 }, () => {
    const client = connect({ port, host: '127.0.0.1' }).on('error', () => {});
    context.after(() => client.destroy());
    client.pause().write('GET /search?q=big HTTP/1.1\r\nHost: t\r\n\r\n');
    return client;
  });
  await Promise.all(deaf.map((client) => once(client, 'connect')));
  await until(() => events.length === 9, 'all were answered');
  assert.ok(connections.length > 0, 'some gave way');
  assert.deepEqual(new Set(connections), new Set(['held']));
  assert.equal((await get(port, '/search?q=big')).body.length, whole);
});

test('a batch answer and a page for people that nobody reads are held to the same bound', async (context) => {
  const { port, connections } = await listeningServer(context, {
    drainMs: 100,
    timeouts: { maxBufferedBytes: MIB / 4 },
    fake: { results: 4000 },
  });
  const body = JSON.stringify({ searches: [{ q: 'big' }] });
  const head = `POST /msearch HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const [batch, page] = [`${head}\r\n\r\n${body}`, `GET /?q=${'%22'.repeat(256)} HTTP/1.1\r\nHost: t\r\n\r\n`];
  // 9 to 14 MB each, of which the kernel takes some. A page shows 100 results, here of quotes, which are longer in HTML.
  for (const bytes of [batch.repeat(20), page.repeat(30)]) {
    connections.length = 0;
    const client = connect({ port, host: '127.0.0.1' }).on('error', () => {});
    context.after(() => client.destroy());
    client.pause().write(bytes);
    await until(() => connections.length > 0, 'it was cut');
    assert.deepEqual(new Set(connections), new Set(['held']));
  }
});
