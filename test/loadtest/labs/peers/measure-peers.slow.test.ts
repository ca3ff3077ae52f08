import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { collectGarbage, isNode } from '../../../../loadtest/labs/peers/collect-garbage.ts';
import { runPeers } from '../../../../loadtest/labs/peers/peers.ts';
import { readProcess } from '../../../../loadtest/sample/host.ts';
import { fakeBackend, fakePeer } from '../../../fakes/peer.ts';
import { quietLab } from './measure-harness.ts';

const SIZES = { pages: 5, memoryPages: 5, knownPages: 3, unseenPages: 2 };

test('a peer that cannot be installed or started is a row without figures, with a note that gives the reason', async () => {
  const peers = [fakePeer({ name: 'gone' }), fakePeer({ name: 'broken', failsToStart: 'its log says no' })];
  const finding = await quietLab((lab) =>
    runPeers(lab, {
      peers,
      sizes: SIZES,
      startBackend: () => fakeBackend(),
      install: async (_, { name }) => {
        if (name === 'gone') throw new Error('no such package');
      },
    }),
  );
  for (const { title, rows } of finding.tables) {
    assert.deepEqual(
      rows.map(({ name, values }) => [name, values.some((value) => value !== undefined)]),
      [
        ['gone', false],
        ['broken', false],
      ],
      title,
    );
  }
  assert.ok(finding.notes.includes('gone: it cannot be installed: no such package'));
  assert.ok(finding.notes.includes('broken: the stampede was not measured: its log says no'));
  assert.ok(finding.notes.includes('broken: the dead engine was not measured: its log says no'));
  assert.equal(finding.verdict, 'no');
});

test('a Node process is made to collect its garbage, and other processes are left alone', async () => {
  const hoard =
    'let all = []; for (let at = 0; at < 60; at += 1) all.push("x".repeat(2 ** 20) + at, Array(100_000).fill(at)); all = 0;';
  const child = spawn(process.execPath, ['-e', `${hoard} console.log('ready'); setInterval(() => {}, 1000)`]);
  const other = spawn('sleep', ['60']);
  try {
    await once(child.stdout, 'data');
    const { pid = 0 } = child;
    const before = readProcess({ name: 'child', pid })?.residentBytes ?? 0;
    await collectGarbage(pid);
    // Its debugger is closed again, otherwise a second request would fail.
    await collectGarbage(pid);
    const after = readProcess({ name: 'child', pid })?.residentBytes ?? 0;
    assert.ok(after < before - 10 * 2 ** 20, `${before} → ${after}`);
    assert.equal(isNode(pid), true);
    assert.equal(isNode(other.pid ?? 0), false);
  } finally {
    child.kill('SIGKILL');
    other.kill('SIGKILL');
  }
});
