import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { endOwned, findOwned, signalOwned } from '../../loadtest/stack/process.ts';

test('a process is found by its program and folder, and one that reuses the pid of an earlier one is not killed', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'serpcache-owned-')));
  const child = spawn('sleep', ['60'], { cwd: folder, stdio: 'ignore' });
  t.after(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  await once(child, 'spawn');
  const [now] = findOwned({ program: 'sleep', folder });
  assert.equal(now?.pid, child.pid);
  assert.ok(now !== undefined);
  assert.deepEqual(findOwned({ program: 'sleep', folder: tmpdir() }), []);
  const earlier = { pid: now.pid, startTicks: now.startTicks - 1 };
  signalOwned([earlier], 'SIGKILL');
  await endOwned([earlier], 100);
  assert.deepEqual(findOwned({ program: 'sleep', folder }), [now]);
});
