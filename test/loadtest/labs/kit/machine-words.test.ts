import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { commitOf, machineWords, versionWords } from '../../../../loadtest/labs/kit/machine.ts';

const folder = mkdtempSync(join(tmpdir(), 'serpcache-words-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('it gives cores, memory, system and server versions, and nothing that identifies the machine', async () => {
  const words = await machineWords(['redis-server', 'node', 'redis-server', 'no-such-server']);
  assert.match(words, /^\d+ (?:shared )?cores?, \d+ GiB, \w+ \d+\.\d+, Redis \d+\.\d+\.\d+, Node \d+\.\d+\.\d+$/);
  assert.ok(!words.includes(hostname()));
});

test('addresses, times and texts that identify the machine are not taken as versions', () => {
  assert.equal(versionWords('/opt/odd', 'listening on 10.1.2.3:6379'), undefined);
  assert.equal(versionWords('/opt/odd', '[13:19:09.827] started'), undefined);
  assert.equal(versionWords('/opt/odd', `${hostname()} 4.2.1`), 'odd 4.2.1');
});

test('a commit is marked as modified when code differs from it, but not when only pages, plots or records differ', () => {
  const checkout = mkdtempSync(join(folder, 'checkout-'));
  const git = (...words: readonly string[]): void => {
    const asSomebody = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false'];
    const { status, stderr } = spawnSync('git', ['-C', checkout, ...asSomebody, ...words], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  };
  assert.equal(commitOf(checkout), undefined);
  git('init', '--quiet');
  mkdirSync(join(checkout, 'records'));
  writeFileSync(join(checkout, 'code.ts'), 'one');
  writeFileSync(join(checkout, 'records', 'x.json'), '{}');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  const commit = commitOf(checkout) ?? '';
  assert.match(commit, /^[0-9a-f]{7}$/);
  for (const file of [join('records', 'x.json'), 'README.md', 'faults.json'])
    writeFileSync(join(checkout, file), 'new');
  assert.equal(commitOf(checkout), commit);
  assert.equal(commitOf(join(checkout, 'records')), undefined);
  writeFileSync(join(checkout, 'other.ts'), 'new');
  assert.equal(commitOf(checkout), `${commit}-dirty`);
});
