import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { k6Program } from '../../../loadtest/run/k6-program.ts';
import { goProgram, isAtLeast } from '../../../loadtest/stack/go-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'serpcache-go-'));
after(() => rmSync(folder, { recursive: true }));
const bin = join(folder, 'bin');
const cache = join(folder, 'cache', 'serpcache');
mkdirSync(bin);
process.env['XDG_CACHE_HOME'] = join(folder, 'cache');
// What is found and started here are scripts of this test, and nothing fetches a newer Go.
process.env['PATH'] = `${bin}:/usr/bin:/bin`;
process.env['GOTOOLCHAIN'] = 'local';

const MODULE = { name: 'tool', module: 'example.com/tools/cmd/server', limitMs: 20_000 };

function program(name: string, script: string): string {
  const file = join(bin, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** A Go that builds a program which says what it was built of. */
function fakeGo(version: string, install = 'echo "echo $2" > $GOBIN/server; chmod +x $GOBIN/server'): void {
  program(
    'go',
    `case $1 in version) echo go version go${version} linux/amd64;; env) echo local;; install) ${install};; esac`,
  );
}

test('a program is built into the cache of the user once, under its own name', async () => {
  fakeGo('1.19.8', 'echo x >> $GOBIN/../builds; echo "echo $2" > $GOBIN/server; chmod +x $GOBIN/server');
  const first = await goProgram({ ...MODULE, version: 'v1.0.0' });
  assert.equal(first, join(cache, 'tool-v1.0.0'));
  assert.match(readFileSync(first, 'utf8'), /echo example\.com\/tools\/cmd\/server@v1\.0\.0/);
  assert.equal(await goProgram({ ...MODULE, version: 'v1.0.0' }), first);
  assert.equal(readFileSync(join(cache, 'builds'), 'utf8'), 'x\n');
  assert.deepEqual(
    readdirSync(cache).filter((name) => name.startsWith('build-')),
    [],
  );
});

test('a Go that is too old is named in one line, with the version that is needed', async () => {
  fakeGo('1.19.8');
  const building = goProgram({ ...MODULE, version: 'v2.0.0', leastGo: '99.1' });
  await assert.rejects(building, (error: Error) => {
    assert.match(error.message, /tool is built with Go 99\.1 or newer.*bin\/go is 1\.19\.8/);
    assert.ok(!error.message.includes('\n'));
    return true;
  });
});

test('what Go says when it cannot build is said in one line, and nothing is left', async () => {
  fakeGo('1.26.0', 'echo "no such module" >&2; echo "or no network" >&2; exit 1');
  const building = goProgram({ ...MODULE, version: 'v3.0.0', leastGo: '1.25' });
  await assert.rejects(building, { message: 'cannot build tool: no such module or no network' });
  assert.ok(readdirSync(cache).every((name) => !name.startsWith('build-') && !name.includes('v3.0.0')));
});

test('versions are compared by their numbers', () => {
  const pairs = [
    ['1.9', '1.25'],
    ['1.25', '1.25.0'],
    ['1.26.8', '1.25'],
    ['2.0', '1.25.3'],
    ['1.25.0', '1.25.1'],
  ] as const;
  assert.deepEqual(
    pairs.map(([version, least]) => isAtLeast(version, least)),
    [false, true, true, true, false],
  );
});

test('the k6 in PATH is taken when it is of the pinned version, and only then', async () => {
  const { config } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'));
  const path = program('k6', `echo "k6 ${config.k6} (go1.26.0, linux/amd64)"`);
  const say = (text: string): void => assert.fail(text);
  assert.deepEqual(await k6Program(undefined, say), { path, version: config.k6 });
  program('k6', 'echo "k6 v0.57.0 (go1.24.0, linux/amd64)"');
  fakeGo('1.26.0', 'echo "echo $2" > $GOBIN/k6; chmod +x $GOBIN/k6');
  assert.deepEqual(await k6Program(undefined, say), { path: join(cache, `k6-${config.k6}`), version: config.k6 });
});

test('a k6 that was named is taken whatever its version, with a word when it is another one', async () => {
  const path = program('my-k6', 'echo "k6 v2.0.0 (go1.26.0, linux/amd64)"');
  const said: string[] = [];
  assert.deepEqual(await k6Program(path, (text) => said.push(text)), { path, version: 'v2.0.0' });
  assert.equal(said.length, 1);
});
