import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProgram } from '../../../../loadtest/labs/kit/programs.ts';

const node = (code: string, more: { limitMs?: number; signal?: AbortSignal; input?: Iterable<Buffer> } = {}) =>
  runProgram({ command: process.execPath, args: ['-e', code], limitMs: 120_000, ...more });

test('processor time is the time the program used, not its duration', async () => {
  const idle = await node('setTimeout(() => console.log("done"), 600)');
  assert.equal(idle.output, 'done\n');
  assert.ok(idle.processorSeconds < idle.seconds, JSON.stringify(idle));
  // It is read at intervals, so the program lives on for a while.
  const busy = await node(`
    while (process.cpuUsage().user < 400_000) for (let turn = 0; turn < 1e6; turn += 1);
    console.log(process.cpuUsage().user / 1e6);
    setTimeout(() => {}, 300);
  `);
  assert.ok(busy.processorSeconds > Number(busy.output) / 2, JSON.stringify(busy));
});

test('a program that fails, is missing or takes too long is reported', async () => {
  await assert.rejects(node('console.error("no such key"); process.exit(3)'), /ended with 3: no such key/);
  await assert.rejects(
    runProgram({ command: 'no-such-program', args: [], limitMs: 1000 }),
    /no-such-program: there is no no-such-program in PATH; install it/,
  );
  await assert.rejects(node('setInterval(() => 0, 100)', { limitMs: 300 }), /not done after 300 ms/);
});

test('an aborted run does not wait for its program', async () => {
  const stopping = new AbortController();
  const running = node('setInterval(() => 0, 100)', { signal: stopping.signal });
  stopping.abort();
  await assert.rejects(running, /stopped/);
});
