import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { PROXY_HEADS } from '../../../loadtest/traffic/proxy-heads.ts';
import { createHeadReader } from '../../../src/http/lane/head.ts';
import { createLane } from '../../../src/http/lane/lane.ts';
import type { LaneReply } from '../../../src/http/lane/reply.ts';
import { idle } from '../../fakes/idle.ts';
import { until } from '../../until.ts';
import { countedOf, held, listeningServer, openClient, parseAnswer } from '../harness.ts';

const search = (word: string, fields = ''): string => `GET /search?q=${word} HTTP/1.1\r\nHost: t\r\n${fields}\r\n`;

/** A client that sends, and reads the queries of the pages received, in order. */
function open(context: TestContext, port: number) {
  const { socket, text } = openClient(context, port);
  const pages = () => [...text().matchAll(/"query":"(\w+)"/g)].map(([, word]) => word ?? '');
  /** Sends the bytes, and waits for one more answer. */
  const ask = async (bytes: string): Promise<void> => {
    const before = text().split('HTTP/1.1 ').length;
    socket.write(bytes);
    await until('it is answered', () => text().split('HTTP/1.1 ').length > before && /[}\n]$/.test(text()));
  };
  return { socket, text, pages, ask, send: (bytes: string) => void socket.write(bytes) };
}

test('searches and health checks stay in the lane; anything else leaves it with its connection', async (context) => {
  const { port, server, events } = await listeningServer(context);
  const status = () => server.lane?.status();
  const client = open(context, port);
  for (const word of ['hit', 'other', 'hit']) await client.ask(search(word));
  await client.ask('GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n');
  assert.ok(client.text().endsWith('{"status":"ok"}'));
  assert.deepEqual(status(), { connections: 1, handedOver: 0, searches: 3 });
  client.send(search('away', 'Expect: 100-continue\r\n'));
  await until('it is answered', () => client.pages().includes('away'));
  await client.ask(search('later'));
  assert.deepEqual(status(), { connections: 0, handedOver: 1, searches: 3 });
  assert.deepEqual(client.pages(), ['hit', 'other', 'hit', 'away', 'later']);
  assert.equal(events.length, 5);
});

test('heads of proxies, tracing clients, browsers and crawlers stay in the lane; a token in one is counted as ignored', async (context) => {
  const { port, server, tokens } = await listeningServer(context);
  const client = open(context, port);
  for (const head of Object.values(PROXY_HEADS))
    await client.ask(search('hit', head.map(([name, value]) => `${name}: ${value}\r\n`).join('')));
  const searches = Object.keys(PROXY_HEADS).length;
  assert.equal(client.pages().length, searches);
  assert.deepEqual(server.lane?.status(), { connections: 1, handedOver: 0, searches });
  assert.deepEqual(
    tokens.map(({ listener, result }) => [listener, result]),
    [['public', 'ignored']],
  );
});

test('a header that is part of the key is read in the lane, and joined with a second one as Node does it', async (context) => {
  const { port, server, search: fake } = await listeningServer(context);
  const client = open(context, port);
  for (const fields of ['X-Variant: a', 'X-Variant: b', 'x-variant: b', 'X-Variant: a\r\nX-Variant: b'])
    await client.ask(`GET /search?domain=auto&q=hit HTTP/1.1\r\nHost: t\r\n${fields}\r\n\r\n`);
  assert.deepEqual(server.lane?.status().searches, 4);
  assert.deepEqual(
    [...client.text().matchAll(/cache-status: serpcache-l1; (\w+)/g)].map(([, what]) => what),
    ['fwd', 'fwd', 'hit'],
  );
  assert.equal(fake.asked.single.length, 2);
  assert.match(client.text(), /HTTP\/1\.1 400 (?!.*HTTP\/1\.1 )/s, 'no value is "a, b"');
});

test('without a lane Node gets every connection', async (context) => {
  const { port, server } = await listeningServer(context, { lane: 'off' });
  const client = open(context, port);
  await client.ask(search('hit'));
  assert.deepEqual([client.pages(), server.lane], [['hit'], undefined]);
});

test('requests that arrive while an answer is pending are answered after it, in order', async (context) => {
  const { port, search: fake, server } = await listeningServer(context);
  const accepted: Socket[] = [];
  server.app.server.on('connection', (socket) => accepted.push(socket));
  const release = held(fake);
  const client = open(context, port);
  client.send(search('a') + search('b'));
  await until('the first is asked', () => fake.asked.single.length === 1);
  client.send(search('c'));
  client.send(`${search('d')}BROKEN\r\n\r\n`);
  await until('all bytes are read', () => accepted[0]?.bytesRead === client.socket.bytesWritten);
  await idle();
  assert.equal(fake.asked.single.length, 1, 'nothing else of the connection is asked meanwhile');
  release();
  await once(client.socket, 'close');
  assert.deepEqual(client.pages().slice(0, 2), ['a', 'b']);
  assert.equal(server.lane?.status().handedOver, 1);
});

test('a client that goes while its answer is pending is counted, and its search is not sent', async (context) => {
  const { port, search: fake, events, server } = await listeningServer(context);
  const release = held(fake);
  const [gone, half] = [open(context, port), open(context, port)];
  for (const client of [gone, half]) client.send(search('slow'));
  await until('both are asked', () => fake.asked.single.length === 2);
  gone.socket.destroy();
  half.socket.end();
  await until('both are noticed', () => server.lane?.status().connections === 0);
  release();
  await until('both are counted', () => events.length === 2);
  assert.deepEqual(countedOf(events), ['aborted 499 goods', 'aborted 499 goods']);
  assert.equal(half.text(), '');
});

test('a client that does not read is not answered further, and gets every answer whole once it reads', async (context) => {
  const { port, events, server } = await listeningServer(context, { fake: { results: 4000 } });
  const accepted: Socket[] = [];
  server.app.server.on('connection', (socket) => accepted.push(socket));
  const words = Array.from({ length: 30 }, (_, i) => `w${i % 5}`);
  const client = open(context, port);
  client.socket.pause();
  client.send(words.map((word) => search(word)).join(''));
  await until('bytes wait for the client', () => (accepted[0]?.writableLength ?? 0) > 0);
  await idle();
  const seen = events.length;
  assert.ok(seen < words.length, `${seen} of ${words.length} were answered to a client that reads nothing`);
  client.socket.resume();
  await until('all are answered', () => events.length === words.length && client.text().endsWith('}'));
  await until('all have arrived', () => client.pages().length === words.length);
  assert.deepEqual(client.pages(), words);
});

test('the bytes that wait for slow clients count against the limit, and the connection that held them longest is cut', async (context) => {
  const limits = { timeouts: { maxBufferedBytes: 300_000 }, fake: { results: 4000 } };
  const { port, connections, server } = await listeningServer(context, limits);
  for (let i = 0; i < 4; i += 1) {
    const client = open(context, port);
    client.socket.pause();
    client.send(Array.from({ length: 30 }, () => search('hit')).join(''));
  }
  await until('one is cut', () => connections.includes('held'));
  await until('it has gone', () => (server.lane?.status().connections ?? 9) < 4);
});

test('closing answers what is pending with Connection: close, and closes idle connections', async (context) => {
  const { port, search: fake, server } = await listeningServer(context, { drainMs: 600_000 });
  const release = held(fake);
  const [idle, busy] = [open(context, port), open(context, port)];
  idle.send('GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n');
  busy.send(search('slow'));
  await until('both were read', () => idle.text() !== '' && fake.asked.single.length === 1);
  const closing = server.close();
  await once(idle.socket, 'close');
  release();
  await once(busy.socket, 'close');
  assert.deepEqual([parseAnswer(busy.text()).headers['connection'], busy.pages()], ['close', ['slow']]);
  assert.deepEqual(await closing, { cut: 0 });
});

test('a reply that ends while another connection is served goes to its own client', async (context) => {
  const server = createServer();
  const early: LaneReply[] = [];
  const replyWith = (reply: LaneReply, text: string): void => {
    reply.writeHead(200, ['content-length', String(text.length)]);
    reply.end(text);
  };
  createLane({
    server,
    readHead: createHeadReader({ paths: ['/search'], maxTargetBytes: 1000, fields: { context: [] } }),
    handle: ({ target }, reply) => {
      if (target.endsWith('wait')) early.push(reply);
      else {
        for (const waiting of early.splice(0)) replyWith(waiting, 'for the first');
        replyWith(reply, 'for the second');
      }
    },
    drain: { closesConnections: false },
    monotonicMs: () => performance.now(),
    buffers: { hold: () => {}, release: () => {} },
  });
  server.listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const [first, second] = [open(context, port), open(context, port)];
  first.send(search('wait'));
  await until('the first waits', () => early.length === 1);
  second.send(search('a') + search('b'));
  await until('the second is answered twice', () => second.text().split('for the second').length === 3);
  await until('the first is answered', () => first.text().endsWith('for the first'));
  assert.doesNotMatch(second.text(), /first/);
  assert.doesNotMatch(first.text(), /second/);
});
