import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { until } from '../until.ts';
import { get, held, listeningServer, openClient, parseAnswer } from './harness.ts';

/** Never reached: another limit closes the connection first. */
const LONG_MS = 600_000;
const HIT = 'GET /search?q=hit HTTP/1.1\r\nHost: t\r\n\r\n';

test('a few pipelined requests are answered in order, repeatedly', async (context) => {
  const { port, connections } = await listeningServer(context);
  const { socket, text } = openClient(context, port);
  const words = Array.from({ length: 99 }, (_, i) => `w${i}`);
  for (let sent = 33; sent <= words.length; sent += 33) {
    const ahead = words.slice(sent - 33, sent);
    socket.write(ahead.map((word) => HIT.replace('hit', word)).join(''));
    await until('all requests are answered', () => text().split('"query"').length === sent + 1);
  }
  assert.deepEqual(
    [...text().matchAll(/"query":"(\w+)"/g)].map(([, word]) => word),
    words,
  );
  assert.deepEqual(connections, []);
});

test('a client that pipelines without end behind a refused request is cut', async (context) => {
  const { port, search, connections } = await listeningServer(context, { drainMs: 100 });
  search.answer = () => new Promise(() => {});
  for (const [at, refused] of [HIT.replace('\r\n\r\n', '\r\nExpect: x\r\n\r\n'), 'GET / HTTP/1.1\r\n\r\n'].entries()) {
    openClient(context, port, HIT.replace('hit', `pending${at}`) + refused + HIT.repeat(100));
    await until('it was cut', () => connections.length > at);
  }
  assert.deepEqual(connections, ['ran-ahead', 'ran-ahead']);
});

test('a client that pipelines too many requests is cut, and its answers do not pile up in memory', async (context) => {
  const { port, events, connections } = await listeningServer(context, { drainMs: 100 });
  await get(port, '/search?q=hit');
  const client = openClient(context, port, HIT.repeat(5000)).socket.pause();
  await until('it was cut', () => connections.length > 0);
  await until('it has noticed', () => client.resume().closed);
  assert.deepEqual(connections, ['ran-ahead']);
  assert.equal(events.length, 1 + 33);
});

test('pipelined misses take no more places than may be pipelined', async (context) => {
  const { port, search, server, connections } = await listeningServer(context);
  const release = held(search);
  openClient(context, port, Array.from({ length: 500 }, (_, i) => HIT.replace('hit', `w${i}`)).join(''));
  await until('it was cut', () => connections.length > 0);
  assert.equal(server.pressure.status().inFlight, 33);
  release();
  await until('all places are free again', () => server.pressure.status().inFlight === 0);
});

test('a connection above the maximum is refused and counted', async (context) => {
  const { port, connections } = await listeningServer(context, { maxConnections: 2 });
  const [first, second] = [openClient(context, port).socket, openClient(context, port).socket];
  await Promise.all([once(first, 'connect'), once(second, 'connect')]);
  const third = openClient(context, port);
  await once(third.socket, 'close');
  assert.equal(third.text(), '');
  await until('it is counted', () => connections.includes('refused'));
  assert.deepEqual([first?.readyState, second?.readyState], ['open', 'open']);
});

// Both tests wait for seconds.
describe('near the bound', { concurrency: true }, () => {
  test('idle connections make room for new ones', async (context) => {
    const { port, connections } = await listeningServer(context, {
      maxConnections: 40,
      timeouts: { keepAliveTimeoutMs: LONG_MS },
    });
    const idle = Array.from({ length: 38 }, () => openClient(context, port, HIT).socket);
    await Promise.all(idle.map((client) => once(client, 'data')));
    assert.equal(idle.filter(({ closed }) => closed).length, 0);
    assert.equal((await get(port, '/search?q=new')).status, 200);
    const user = openClient(context, port).socket;
    const asks = (): boolean => {
      user.write(HIT);
      return idle.every(({ closed }) => closed);
    };
    await until('the idle connections are closed', asks, 500);
    assert.equal(user.closed, false, 'a connection that is used from time to time stays');
    assert.deepEqual(
      connections.filter((what) => what !== 'crowded'),
      [],
    );
    await once(openClient(context, port, HIT).socket, 'data');
    const crowded = connections.length;
    assert.equal((await get(port, '/search?q=other')).status, 200);
    assert.equal(connections.length, crowded, 'the listener is not crowded any more');
  });

  test('while crowded, clients that send nothing or a byte a second get little time', async (context) => {
    const { port, connections } = await listeningServer(context, {
      maxConnections: 20,
      drainMs: 100,
      timeouts: { headersTimeoutMs: LONG_MS, requestTimeoutMs: LONG_MS },
    });
    const slow = Array.from({ length: 20 }, () => openClient(context, port).socket);
    for (const client of slow.slice(10)) client.write('GET /search?q=hit HTTP/1.1\r\nX: ');
    const dripping = setInterval(() => {
      for (const client of slow.slice(10)) if (client.writable) client.write('x');
    }, 100);
    context.after(() => clearInterval(dripping));
    const closed = (some: readonly Socket[]): number => some.filter((client) => client.closed).length;
    // Once the listener has room again, maybe after a single close, the remaining clients have the normal time.
    await until('some are closed', () => closed(slow) >= 1);
    await until('it is counted', () => connections.includes('slow'));
    assert.equal((await get(port, '/search?q=hit')).status, 200);
  });
});

test('two thousand idle connections and a slow one do not delay other clients', async (context) => {
  const { port, connections } = await listeningServer(context, { maxConnections: 4000, drainMs: 100 });
  await get(port, '/search?q=hit');
  const idle = Array.from({ length: 2000 }, () => openClient(context, port).socket);
  await Promise.all(idle.map((client) => once(client, 'connect')));
  idle[0]?.write('GET /sea');
  for (let i = 0; i < 20; i += 1) assert.equal((await get(port, '/search?q=hit')).status, 200);
  assert.deepEqual(connections, []);
});

test('too many header fields are refused, not dropped', async (context) => {
  const { port } = await listeningServer(context);
  assert.equal((await get(port, '/search?q=hit', 'a:\r\n'.repeat(126))).status, 200);
  for (const count of [127, 3000]) {
    const { status, problem } = await get(port, '/search?q=hit', 'a:\r\n'.repeat(count));
    assert.deepEqual([status, problem.code], [431, 'headers-too-large']);
  }
});

test('an HTTP/1.0 client is answered and its connection is closed', async (context) => {
  const { port } = await listeningServer(context);
  const { socket, text } = openClient(context, port, 'GET /search?q=old HTTP/1.0\r\n\r\n');
  await once(socket, 'close');
  const { status, headers } = parseAnswer(text());
  assert.deepEqual([status, headers['connection']], [200, 'close']);
});

test('a half-closed connection does not stay open', async (context) => {
  const { port, server } = await listeningServer(context);
  for (const bytes of ['', 'GET /sea', HIT]) {
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    context.after(() => client.destroy());
    client.on('error', () => {}).resume();
    client.end(bytes);
    await once(client, 'end');
  }
  const count = (): Promise<number> =>
    new Promise((resolve) => server.app.server.getConnections((_, open) => resolve(open)));
  let held = await count();
  await until('all are closed', () => {
    void count().then((open) => {
      held = open;
    });
    return held === 0;
  });
});
