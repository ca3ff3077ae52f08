import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/runtime.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { until } from '../../until.ts';
import { get } from '../harness.ts';
import { adminHarness, TOKEN } from './harness.ts';

const LIVE = `GET /admin/live HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
const FIELDS = `Authorization: Bearer ${TOKEN}\r\n`;

function watch(context: TestContext, port: number) {
  const socket = connect({ port, host: '127.0.0.1' });
  context.after(() => socket.destroy());
  socket.on('error', () => {});
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.write(LIVE);
  /** The parsed body, untyped. */
  const lines = (): ReturnType<JSON['parse']>[] =>
    text.split('\r\n').flatMap((part) => (part.startsWith('{') ? [JSON.parse(part)] : []));
  return { socket, text: () => text, lines };
}

test('a line comes at once and then one a second, with the figures since the previous one', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const clock = createFakeClock();
  const { listen, post } = adminHarness(context, { clock });
  const { text, lines } = watch(context, await listen());
  await until('the first line', () => lines().length === 1);
  assert.match(text(), /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(text(), /content-type: application\/x-ndjson\r\ncache-control: no-store\r\n/i);
  await post('/admin/drills', { plan: 'canary', domains: ['goods'], reason: 'rehearsal' });
  for (const count of [2, 3]) {
    clock.advance(1000);
    context.mock.timers.tick(1000);
    await until(`line ${count}`, () => lines().length === count);
  }
  const [first, , third] = lines();
  assert.deepEqual([first.domains.length, first.domains[0].figures, first.drills], [2, undefined, []]);
  assert.deepEqual([third.domains[0].domain, third.drills.length, third.drills[0].running], ['goods', 1, true]);
  assert.equal(third.domains[0].figures.seconds, 1);
  assert.equal(third.atMs - first.atMs, 2000);
});

// Each test has a listener of its own and waits for lines, one a second.
describe('the live stream', { concurrency: 3 }, () => {
  test('the seventeenth stream is refused, and a place is free again when a client disconnects', async (context) => {
    const { listen, server } = adminHarness(context);
    const port = await listen();
    const accepted: Socket[] = [];
    server.app.server.on('connection', (socket) => accepted.push(socket));
    const watchers = Array.from({ length: 16 }, () => watch(context, port));
    await until('all streams have a line', () => watchers.every(({ lines }) => lines().length > 0));
    const watching = [...accepted];
    const refused = await get(port, '/admin/live', FIELDS);
    assert.deepEqual([refused.status, refused.problem.code], [503, 'busy']);
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    watchers[0]?.socket.destroy();
    await until('the server has seen one disconnect', () => watching.some(({ closed }) => closed));
    const next = watch(context, port);
    await until('the new stream has a line', () => next.lines().length > 0);
  });

  test('a client that does not read costs one buffered line and delays no other', async (context) => {
    const operations = createFakeOperations({ clock: systemClock });
    const { watch: look } = operations;
    let looks = 0;
    // 4 MB a line: more than a kernel buffers for a client that does not read.
    const padding = 'x'.repeat(4 * 2 ** 20);
    const large: typeof look = () => {
      const watcher = look();
      return {
        look: () => {
          looks += 1;
          return watcher.look().map((each) => ({ ...each, domain: padding }));
        },
      };
    };
    Object.assign(operations, { watch: large, domains: ['goods'] });
    const { listen, server } = adminHarness(context, { operations });
    const port = await listen();
    const accepted: Socket[] = [];
    server.app.server.on('connection', (socket) => accepted.push(socket));
    const stuck = connect({ port, host: '127.0.0.1' }).pause();
    context.after(() => stuck.destroy());
    stuck.on('error', () => {});
    stuck.write(LIVE);
    await until('the first line is being sent', () => looks === 1);
    await until('the line is larger than the kernel’s buffer', () => (accepted[0]?.writableLength ?? 0) > 0);
    const waiting = accepted[0]?.writableLength ?? 0;
    const reading = watch(context, port);
    await until('another client continues to read', () => reading.text().length > 3 * padding.length);
    // A line is made before it arrives; one for the stuck client never does.
    await until('no line was made for the stuck client', () => {
      assert.equal(looks, 1 + reading.text().split('"atMs"').length - 1);
    });
    assert.equal(accepted[0]?.writableLength, waiting);
    const before = looks;
    stuck.resume();
    await until('the stuck client reads and gets lines again', () => looks >= before + 3);
  });

  test('closing ends every stream at once and is not delayed by them', async (context) => {
    const { listen, server } = adminHarness(context, { drainMs: 600_000 });
    const port = await listen();
    const watchers = Array.from({ length: 4 }, () => watch(context, port));
    await until('all streams have a line', () => watchers.every(({ lines }) => lines().length > 0));
    const ended = watchers.map(({ socket }) => once(socket, 'close'));
    assert.deepEqual(await server.close(), { cut: 0 });
    await Promise.all(ended);
    for (const { text } of watchers) assert.ok(text().endsWith('\r\n0\r\n\r\n'), 'to its end');
  });

  test('a list of drills that hangs or fails delays no line', async (context) => {
    const operations = createFakeOperations({ clock: systemClock });
    let calls = 0;
    const list = () => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error('away')) : new Promise<never>(() => {});
    };
    Object.assign(operations.drills, { list });
    const { listen } = adminHarness(context, { operations });
    const { lines } = watch(context, await listen());
    await until('three lines', () => lines().length >= 3);
    assert.equal(calls, 2, 'the list is not requested again while a request is pending');
  });

  test('an internal error ends its stream and no other', async (context) => {
    const operations = createFakeOperations({ clock: systemClock });
    const { watch: sound } = operations;
    let watchers = 0;
    const broken: typeof sound = () => {
      watchers += 1;
      return watchers === 1 ? { look: () => assert.fail('a fault') } : sound();
    };
    Object.assign(operations, { watch: broken });
    const { listen, lines } = adminHarness(context, { operations });
    const port = await listen();
    const first = watch(context, port);
    await until('the first stream has ended', () => first.socket.closed);
    assert.ok(lines.some(({ msg }) => msg === 'a live stream failed'));
    const second = watch(context, port);
    await until('the second stream continues', () => second.lines().length > 0);
  });

  test('sixty-four connections are served and the next one is not', async (context) => {
    const { listen } = adminHarness(context, { drainMs: 100 });
    const port = await listen();
    const streams = Array.from({ length: 16 }, () => watch(context, port));
    await until('all streams have a line', () => streams.every(({ lines }) => lines().length > 0));
    const others = Array.from({ length: 48 }, () =>
      connect({ port, host: '127.0.0.1' })
        .on('error', () => {})
        .resume(),
    );
    for (const socket of others) context.after(() => socket.destroy());
    await Promise.all(others.map((socket) => once(socket, 'connect')));
    const beyond = connect({ port, host: '127.0.0.1' }).on('error', () => {});
    await once(beyond.resume(), 'close');
    // Silent connections make room, and streams stay.
    await until('room is made', () => others.some(({ destroyed, readyState }) => destroyed || readyState === 'closed'));
    assert.equal((await get(port, '/healthz')).status, 200);
    assert.ok(streams.every(({ socket }) => !socket.closed));
  });
});
