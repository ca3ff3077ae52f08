import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { BENCHES } from '../../../loadtest/bench/benches.ts';
import {
  COMMITTED_STARTS,
  committedOf,
  figureOf,
  readCommitted,
  writeCommitted,
} from '../../../loadtest/bench/verdict.ts';

const STARTS = [0.61234, 0.58, 0.65];
const MEASURED = { name: 'l1', commit: '066071a', starts: STARTS, seconds: 6, startedAt: '2026-11-22T12:00:00.000Z' };

function file(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-committed-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'committed.json');
}

test('a committed figure says how it was measured, and replaces only that of its own bench', async (t) => {
  const path = file(t);
  assert.deepEqual(readCommitted(path), {});
  const first = await committedOf(MEASURED);
  assert.deepEqual([first.figure, first.noise, first.starts], [0.6123, 0.0323, [0.6123, 0.58, 0.65]]);
  assert.equal(first.command, 'npm run bench -- l1 --commit');
  assert.deepEqual([first.commit, first.seconds, first.startedAt], ['066071a', 6, MEASURED.startedAt]);
  assert.match(first.machine, /cores?, \d+ GiB/);
  writeCommitted('l1', first, path);
  const other = { ...first, figure: 0.9 };
  writeCommitted('l2', other, path);
  writeCommitted('l2', { ...other, noise: 0.1 }, path);
  assert.deepEqual(readCommitted(path), { l1: first, l2: { ...other, noise: 0.1 } });
  assert.deepEqual(readdirSync(join(path, '..')), ['committed.json']);
});

test('a file of another kind is refused, not read as an empty one', (t) => {
  const path = file(t);
  for (const text of ['{', '{}', '{"version":2,"benches":{}}', '{"version":1,"benches":{"l1":{"figure":0.6}}}']) {
    writeFileSync(path, text);
    assert.throws(() => readCommitted(path), /committed\.json cannot be read/, text);
  }
});

test('committed figures come from their own starts, of a bench that exists', () => {
  for (const [name, { starts, figure, noise }] of Object.entries(readCommitted())) {
    assert.ok(name in BENCHES, name);
    assert.equal(starts.length, COMMITTED_STARTS);
    assert.deepEqual(figureOf(starts), { figure, noise });
  }
});
