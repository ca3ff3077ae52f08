import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { processSampleOf, readProcess } from '../../../loadtest/sample/host.ts';

test('processor time grows while a process computes, and its memory is that of the whole process', () => {
  const own = { name: 'me', pid: process.pid };
  const before = readProcess(own);
  const burnt = process.cpuUsage();
  while (process.cpuUsage(burnt).user < 300_000);
  const after = readProcess(own);
  if (before === undefined || after === undefined) assert.fail('no sample');

  assert.equal(after.name, 'me');
  const { user, system } = process.cpuUsage();
  // Both values are counted in hundredths of a second.
  assert.ok(Math.abs(after.cpuSeconds - (user + system) / 1e6) < 0.1, `${after.cpuSeconds} of ${user + system} µs`);
  assert.ok(after.cpuSeconds - before.cpuSeconds >= 0.25);
  const rss = process.memoryUsage.rss();
  assert.ok(after.residentBytes > rss / 2 && after.residentBytes < rss * 2, `${after.residentBytes} of ${rss}`);
});

test('a process that has ended is absent', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  const { pid = 0 } = child;
  await once(child, 'exit');
  assert.equal(readProcess({ name: 'gone', pid }), undefined);
});

const FIELDS = `S 1 1 1 0 -1 4194304 98 0 0 0 1234 66 7000 8000 20 0 1 0 3368038 3133440 354`;

test("a program's name may hold spaces and brackets", () => {
  const sample = processSampleOf(
    'odd',
    `42 (my (odd) 1 2 3) ${FIELDS}`,
    'Name:\todd\nVmRSS:\t    2048 kB\nThreads:\t1\n',
  );
  assert.deepEqual(sample, { name: 'odd', cpuSeconds: 13, residentBytes: 2_097_152 });
});

test('a zombie process has no memory any more and is absent', () => {
  assert.equal(processSampleOf('zombie', `42 (searchd) ${FIELDS}`, 'Name:\tsearchd\nState:\tZ (zombie)\n'), undefined);
});
