import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { createReplyCounter, createTally } from '../../../../../loadtest/labs/kit/driver/connection.ts';
import { drive } from '../../../../../loadtest/labs/kit/driver/drive.ts';

const commands = { kind: 'fixed', words: ['PING'] } as const;

/** Answers every command at once. @returns the commands of each connection, in the order they were opened. */
async function answering(t: TestContext) {
  const each: number[] = [];
  const server = createServer((socket) => {
    const at = each.push(0) - 1;
    // A command is encoded as a list, like a reply.
    const counter = createReplyCounter();
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      const { replies } = counter(bytes);
      each[at] = (each[at] ?? 0) + replies;
      socket.write('+PONG\r\n'.repeat(replies));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { targets: [{ host: '127.0.0.1', port: (server.address() as AddressInfo).port }], each };
}

test('rates are per second, and processor time includes system time', async (t) => {
  const { targets } = await answering(t);
  // The load lasts half a second: a value that is not divided by the time is half of the right one. The process reads
  // its own usage, so both ways to read processor time must agree; /proc counts both parts in steps of 10 ms.
  const seconds = 0.5;
  const beganMs = performance.now();
  const result = await drive({ targets, connections: 4, seconds, commands, seed: 1, watched: [process.pid] });
  const tookSeconds = (performance.now() - beganMs) / 1000;
  assert.ok(result.answered >= 4, JSON.stringify(result));
  assert.ok(result.seconds > 0.98 * seconds && result.seconds <= tookSeconds, `${result.seconds} of ${tookSeconds} s`);
  assert.ok(Math.abs(result.perSecond * result.seconds - result.answered) < 1, JSON.stringify(result));
  const watchedSeconds = (result.watchedCores[0] ?? 0) * result.seconds;
  const ratio = (watchedSeconds + 0.02) / (result.processorSeconds + 0.02);
  assert.ok(ratio > 0.5 && ratio < 2, `${watchedSeconds} ${result.processorSeconds}`);
});

test('settled connections are at different points of their life when the measurement begins', async (t) => {
  const { targets, each } = await answering(t);
  await drive({ targets, seconds: 0.5, commands, seed: 1, connections: 5, commandsPerConnection: 5 });
  assert.deepEqual(each.slice(0, 5).toSorted(), [1, 2, 3, 4, 5]);
  assert.deepEqual(each.slice(5, 10), [5, 5, 5, 5, 5]);
});

const simple = fc.constantFrom('+OK\r\n', ':12\r\n', '$-1\r\n', '*-1\r\n', '*0\r\n', '$0\r\n\r\n', '+\r\n');
const bulk = fc.string({ maxLength: 40 }).map((text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    simple,
    bulk,
    fc.array(tie('value'), { maxLength: 4 }).map((list) => `*${list.length}\r\n${list.join('')}`),
  ),
}));

test('only complete replies are counted, however the chunks are split', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 30 })), (replies, cuts) => {
      const bytes = Buffer.from(replies.join(''));
      const counter = createReplyCounter();
      let [counted, at] = [0, 0];
      for (const cut of [...cuts, bytes.length]) {
        counted += counter(bytes.subarray(at, at + cut)).replies;
        at += cut;
      }
      if (at < bytes.length) counted += counter(bytes.subarray(at)).replies;
      assert.equal(counted, replies.length);
    }),
  );
});

test('errors are counted separately, and errors inside a list are not counted', () => {
  const counter = createReplyCounter();
  assert.deepEqual(counter(Buffer.from('-OOM no\r\n+OK\r\n-ERR $3\r\n')), { replies: 3, errors: 2 });
  assert.deepEqual(counter(Buffer.from('*1\r\n-ERR inside\r\n')), { replies: 1, errors: 0 });
});

test('for latencies of 1 to 1000 ms each percentile has the right value', () => {
  const tally = createTally(5000, () => 5000);
  for (let ms = 1; ms <= 1000; ms += 1) tally.answered(ms);
  const { answered, meanMs, p50Ms, p99Ms, maxMs } = tally.end();
  assert.equal(answered, 1000);
  for (const [ms, wanted] of [
    [meanMs, 500.5],
    [p50Ms, 500],
    [p99Ms, 990],
    [maxMs, 1000],
  ] as const)
    assert.ok(Math.abs(ms - wanted) <= wanted / 100, `${ms} ms, not ${wanted}`);
});

test('every second has its own entry; a connection that could not be opened is not a command', () => {
  const clock = { ms: 0 };
  const tally = createTally(0, () => clock.ms);
  tally.answered(1);
  clock.ms = 999;
  tally.answered(1);
  clock.ms = 2000;
  tally.answered(50);
  tally.failed('broken', 3);
  tally.failed('refused');
  tally.failed('unconnected', 7);
  clock.ms = 3000;
  const { errors, eachSecond } = tally.end();
  assert.deepEqual(errors, { late: 0, broken: 3, refused: 1, unsent: 0, unconnected: 7 });
  assert.deepEqual(eachSecond, [
    { answered: 2, failed: 0 },
    { answered: 0, failed: 0 },
    { answered: 1, failed: 4 },
  ]);
});
