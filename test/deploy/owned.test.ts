import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { endOwned, findOwned, signalOwned } from '../../loadtest/stack/process.ts';

async function start(
  t: TestContext,
  command: string,
  args: readonly string[],
): Promise<{ folder: string; pid: number }> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'serpcache-owned-')));
  const child = spawn(command, args, { cwd: folder, stdio: 'ignore' });
  t.after(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  await once(child, 'spawn');
  return { folder, pid: child.pid ?? 0 };
}

test('a process is found by its program together with its folder', async (t) => {
  const { folder, pid } = await start(t, 'sleep', ['60']);
  assert.deepEqual(
    findOwned({ program: 'sleep', folder }).map((one) => one.pid),
    [pid],
  );
  assert.deepEqual(findOwned({ program: 'redis-server', folder }), []);
  assert.deepEqual(findOwned({ program: 'sleep', folder: tmpdir() }), []);
});

test('a process that ignores SIGTERM is killed', async (t) => {
  const { folder } = await start(t, 'bash', ['-c', 'trap "" TERM; while :; do sleep 1; done']);
  const found = findOwned({ program: 'bash', folder });
  // The forked `sleep` is also a bash for a moment, before exec.
  assert.ok(found.length >= 1);
  await endOwned(found, 300);
  assert.deepEqual(findOwned({ program: 'bash', folder }), []);
});

test('a process that reuses the pid of an earlier one is not killed', async (t) => {
  const { folder, pid } = await start(t, 'sleep', ['60']);
  const [now] = findOwned({ program: 'sleep', folder });
  assert.ok(now !== undefined);
  const earlier = { pid, startTicks: now.startTicks - 1 };
  signalOwned([earlier], 'SIGKILL');
  await endOwned([earlier], 100);
  assert.deepEqual(findOwned({ program: 'sleep', folder }), [now]);
});
