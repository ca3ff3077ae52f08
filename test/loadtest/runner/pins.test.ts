import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pinsHere, pinsOf } from '../../../loadtest/runner/local-stack.ts';
import { pin } from '../../../loadtest/stack/process.ts';

test('the generator gets the last core that this process may use, the service the first', () => {
  assert.deepEqual(pinsOf('0-1'), { generatorCpus: '1', serviceCpus: '0' });
  assert.deepEqual(pinsOf('2,4-7,10\n'), { generatorCpus: '10', serviceCpus: '2' });
});

test('a running process is pinned to its core with all its threads', async (context) => {
  // A machine with one core has a core for this test too.
  const allowed = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const cpus = (await pinsHere(() => undefined))?.generatorCpus ?? allowed;
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("x"); setInterval(() => {}, 60_000)']);
  context.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  await pin([child.pid ?? 0], cpus);
  const tasks = `/proc/${child.pid}/task`;
  const threads = readdirSync(tasks);
  assert.ok(threads.length > 1);
  for (const thread of threads) {
    const status = readFileSync(`${tasks}/${thread}/status`, 'utf8');
    assert.equal(/^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1], cpus);
  }
});
