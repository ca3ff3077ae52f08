import assert from 'node:assert/strict';
import { test } from 'node:test';
import { column, cpuOf, memoryBytes, numbersAfter } from '../../../loadtest/sample/host.ts';

test('processor times are of all processors; guests are counted once, and waiting for a disk is idle', () => {
  const stat = 'cpu  1000 200 300 5000 70 40 60 80 90 9\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n';
  assert.deepEqual(cpuOf(stat), { busySeconds: 16, idleSeconds: 50.7, stolenSeconds: 0.8 });
});

test('a figure that is missing is no number, and never 0', () => {
  for (const value of [
    ...Object.values(cpuOf('')),
    cpuOf('cpu  1000 200 300 5000 70 40 60\n').stolenSeconds,
    column('Tcp', 'OutSegs', ''),
    column('Tcp', 'OutSegs', 'Tcp: RtoMin InSegs\nTcp: 200 5\n'),
    memoryBytes('MemTotal', 'MemFree: 5 kB\n'),
  ]) {
    assert.ok(Number.isNaN(value), String(value));
  }
  assert.deepEqual(numbersAfter(/^cpu +/m, 'intr 5\n'), []);
});

test('figures of protocols are found by their names', () => {
  const netstat = 'TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 5 70 74\nIpExt: InOctets\nIpExt: 9\n';
  assert.equal(column('TcpExt', 'ListenDrops', netstat), 74);
  assert.equal(column('IpExt', 'InOctets', netstat), 9);
  // Its name ends in that of another protocol.
  assert.equal(column('TcpExt', 'Lost', 'MPTcpExt: Lost\nMPTcpExt: 3\nTcpExt: Lost\nTcpExt: 4\n'), 4);
});

test('memory is in bytes, and a name is a whole one', () => {
  const meminfo = 'MemTotal:       24684096 kB\nSwapCached:            5 kB\nSwapFree:           2000 kB\n';
  assert.equal(memoryBytes('MemTotal', meminfo), 25_276_514_304);
  assert.equal(memoryBytes('SwapFree', meminfo), 2_048_000);
  assert.ok(Number.isNaN(memoryBytes('Swap', meminfo)));
});
