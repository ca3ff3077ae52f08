import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { commitOf, machineWords } from '../../../../loadtest/labs/kit/machine.ts';
import { temporaryFolder } from '../../../folder.ts';

test('it gives cores, memory, system and server versions, and nothing that identifies the machine', async () => {
  const words = await machineWords(['redis-server', 'node', 'redis-server', 'no-such-server']);
  assert.match(words, /^\d+ (?:shared )?cores?, \d+ GiB, \w+ \d+\.\d+, Redis \d+\.\d+\.\d+, Node \d+\.\d+\.\d+$/);
  assert.ok(!words.includes(hostname()));
});

test('a commit is marked as modified when code differs from it, but not when only pages, plots or records differ', (t) => {
  const checkout = temporaryFolder(t);
  const git = (...words: readonly string[]): void => {
    const asSomebody = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false'];
    const { status, stderr } = spawnSync('git', ['-C', checkout, ...asSomebody, ...words], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  };
  assert.equal(commitOf(checkout), undefined);
  git('init', '--quiet');
  writeFileSync(join(checkout, 'code.ts'), 'one');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  const commit = commitOf(checkout) ?? '';
  assert.match(commit, /^[0-9a-f]{7}$/);
  for (const file of ['README.md', 'faults.json']) writeFileSync(join(checkout, file), 'new');
  assert.equal(commitOf(checkout), commit);
  writeFileSync(join(checkout, 'other.ts'), 'new');
  assert.equal(commitOf(checkout), `${commit}-dirty`);
});
