import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createReplyCounter } from '../../../../../loadtest/labs/kit/driver/connection.ts';
import { drive } from '../../../../../loadtest/labs/kit/driver/drive.ts';

const commands = { kind: 'fixed', words: ['PING'] } as const;

/**
 * Answers every command at once, but stalls before its first answer.
 * @returns the commands of each connection, in the order they were opened, and the duration of the stall.
 */
async function answering(t: TestContext, standstillMs = 0) {
  let stalledMs: number | undefined;
  const each: number[] = [];
  const server = createServer((socket) => {
    const at = each.push(0) - 1;
    // A command is encoded as a list, like a reply.
    const counter = createReplyCounter();
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      const beganMs = performance.now();
      if (stalledMs === undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, standstillMs);
      stalledMs ??= performance.now() - beganMs;
      const { replies } = counter.push(bytes);
      each[at] = (each[at] ?? 0) + replies;
      socket.write('+PONG\r\n'.repeat(replies));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const targets = [{ host: '127.0.0.1', port: (server.address() as AddressInfo).port }];
  return { targets, each, stalledMs: () => stalledMs ?? 0 };
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
  const lives = { connections: 5, commandsPerConnection: 5, isSettled: true } as const;
  await drive({ targets, seconds: 0.5, commands, seed: 1, ...lives });
  assert.deepEqual(each.slice(0, 5).toSorted(), [1, 2, 3, 4, 5]);
  assert.deepEqual(each.slice(5, 10), [5, 5, 5, 5, 5]);
});

test('a store that stalls delays the commands that came due during the stall', async (t) => {
  // The driver runs in this process and stalls with it: it can send only afterwards.
  const { targets, stalledMs } = await answering(t, 200);
  const { latencyMs } = await drive({ targets, connections: 4, seconds: 1, ratePerSecond: 100, commands, seed: 1 });
  // At least a fifth of all was due during the stall, and half of these waited for longer than half of it.
  assert.ok(latencyMs.p95 > stalledMs() / 2, `${latencyMs.p95} of ${stalledMs()} ms`);
});
