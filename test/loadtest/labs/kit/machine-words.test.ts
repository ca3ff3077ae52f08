import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { commitOf, machineWords, versionWords } from '../../../../loadtest/labs/kit/machine.ts';

const folder = mkdtempSync(join(tmpdir(), 'serpcache-words-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function programThat(name: string, script: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

test('it gives cores, memory, system and server versions, and nothing that identifies the machine', async () => {
  const words = await machineWords(['redis-server', 'node', 'redis-server', 'no-such-server']);
  assert.match(words, /^\d+ (?:shared )?cores?, \d+ GiB, \w+ \d+\.\d+, Redis \d+\.\d+\.\d+, Node \d+\.\d+\.\d+$/);
  assert.ok(!words.includes(hostname()));
});

test('a server with an unknown file name is called by the name it reports, and its path is not given', async () => {
  const server = programThat('keydb-server', 'echo "KeyDB server v=6.3.4 sha=0 build=ab12"');
  const words = await machineWords([server]);
  assert.match(words, /, KeyDB 6\.3\.4$/);
  assert.ok(!words.includes(folder));
});

test('a program that gives no version, or does not end, is left out', async () => {
  const silent = programThat('silent', 'exit 3');
  const sleeper = programThat('sleeper', 'exec sleep 600');
  const words = await machineWords([silent, sleeper]);
  assert.match(words, /GiB, \w+ \d+\.\d+$/);
});

test('the version is found in the output format of each server', () => {
  for (const [program, said, words] of [
    ['redis-server', 'Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64', 'Redis 7.0.15'],
    ['valkey-server', 'Valkey server v=8.0.1 sha=00000000:0', 'Valkey 8.0.1'],
    ['nginx', 'nginx version: nginx/1.22.1\n', 'nginx 1.22.1'],
    ['varnishd', 'varnishd (varnish-7.1.1 revision 7cee1c5)\nCopyright', 'Varnish 7.1.1'],
    ['searchd', '\nSphinx 2.2.11-id64-release (95ae9a6)\nCopyright (c) 2001-2016', 'Sphinx 2.2.11'],
    ['/opt/dragonfly', 'dragonfly v1.27.1-6def0bd\nbuild time: 2025', 'dragonfly 1.27.1'],
    ['/opt/x/garnet', '/opt/x/garnet: build 1.0.44', 'garnet 1.0.44'],
  ] as const) {
    assert.equal(versionWords(program, said), words);
  }
});

test('addresses, times and texts that identify the machine are not taken as versions', () => {
  assert.equal(versionWords('/opt/odd', 'listening on 10.1.2.3:6379'), undefined);
  assert.equal(versionWords('/opt/odd', '[13:19:09.827] started'), undefined);
  assert.equal(versionWords('/opt/odd', `${hostname()} 4.2.1`), 'odd 4.2.1');
});

test('a very long line is shortened, and its control characters are removed', () => {
  const words = versionWords('/opt/odd', `${'a'.repeat(500)} 1.${'2'.repeat(500)}`) ?? assert.fail();
  assert.ok(words.length < 100, String(words.length));
  assert.doesNotMatch(versionWords('/opt/odd', '\u001b[31mred\u0007 1.2.3') ?? '', /\p{Cc}/u);
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
