import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { wishOf } from '../../../../loadtest/labs/kit/command.ts';
import { FINDING_FILE, keepFinding, readFinding } from '../../../../loadtest/labs/kit/keep.ts';
import { parseArguments } from '../../../../src/commands/arguments.ts';
import { findingOf } from '../../../fakes/finding.ts';
import { temporaryFolder } from '../../../folder.ts';

const one = { varies: '', parts: [], run: () => Promise.reject(new Error('not run')) };
const command = { experiments: { timeouts: one, batch: one, dns: one }, comparing: ['batch'] };
const wish = (...argv: string[]) => {
  const options = ['seconds', 'server', 'out'].map((name) => ({ name, takes: 'n', about: '' }));
  const read = parseArguments(argv, [...options, { name: 'publish', about: '' }]);
  assert.ok(read.kind === 'arguments');
  return wishOf(command, read.arguments);
};

test('experiments run in the order of the list, each once', async () => {
  assert.deepEqual((await wish('dns', 'timeouts', 'dns')).names, ['timeouts', 'dns']);
  const { names, rowSeconds } = await wish('all', '--seconds', '0.5');
  assert.deepEqual([names, rowSeconds], [['timeouts', 'batch', 'dns'], 0.5]);
});

test('all faults are reported at once, and rows of a shortened time are not published', async () => {
  await assert.rejects(wish('bacth', '--server', '/no/such-server', '--seconds', '1', '--publish'), ({ message }) => {
    assert.match(message, /there is no "bacth"; there are timeouts, batch, dns, or all/);
    assert.match(message, /--server: "\/no\/such-server" is not allowed; the path of a program/);
    assert.match(message, /--publish goes without --seconds/);
    return true;
  });
  await assert.rejects(wish('batch', '--seconds', '0'), /--seconds takes a number from 0\.1 to 60/);
});

test('a kept finding is read back unchanged, including missing values', async (t) => {
  const folder = await keepFinding(findingOf(), temporaryFolder(t), Date.UTC(2026, 10, 21, 10, 20, 30));
  assert.deepEqual(readFinding(join(folder, FINDING_FILE)), findingOf());
});
