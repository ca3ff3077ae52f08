import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { k6Program } from '../../../loadtest/runner/k6-program.ts';
import { type GoSource, goProgram, isAtLeast } from '../../../loadtest/stack/go-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'serpcache-go-'));
after(() => rmSync(folder, { recursive: true }));
const bin = join(folder, 'bin');
const cache = join(folder, 'cache', 'serpcache');
mkdirSync(bin);
process.env['XDG_CACHE_HOME'] = join(folder, 'cache');
// The programs found and started here are scripts of this test, and none of them downloads Go.
process.env['PATH'] = `${bin}:/usr/bin:/bin`;
process.env['GOTOOLCHAIN'] = 'local';

const MODULE = { name: 'tool', module: 'example.com/tools/cmd/server', limitMs: 20_000 };

function program(name: string, script: string): string {
  const file = join(bin, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** A fake Go that builds a program which prints its build inputs. */
function fakeGo(version: string, install = 'echo "echo $2" > $GOBIN/server; chmod +x $GOBIN/server'): void {
  program(
    'go',
    `case $1 in version) echo go version go${version} linux/amd64;; env) echo local;; install) ${install};; esac`,
  );
}

test("a program is built into the user's cache once, under its own name", async () => {
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

/** A machine with these Go programs, where an installation adds another one or gives the reason of its failure. */
function machine(
  t: TestContext,
  atHand: readonly FakeGo[],
  installed: FakeGo | string,
): GoSource & { asked: string[] } {
  const place = mkdtempSync(join(folder, 'machine-'));
  t.after(() => rmSync(place, { recursive: true }));
  const found: string[] = [];
  const add = ({ version, toolchain }: FakeGo): void => {
    const file = join(place, `go-${version}`);
    const install = 'echo "echo built with $0" > $GOBIN/server; chmod +x $GOBIN/server';
    const answers = `version) echo go version go${version} linux/amd64;; env) echo ${toolchain};; install) ${install};;`;
    writeFileSync(file, `#!/bin/sh\ncase $1 in ${answers} esac\n`, { mode: 0o755 });
    found.push(file);
  };
  atHand.forEach(add);
  const asked: string[] = [];
  const install = async (leastGo: string | undefined): Promise<string | undefined> => {
    asked.push(`install for ${leastGo}`);
    if (typeof installed === 'string') return installed;
    add(installed);
    return undefined;
  };
  return { asked, atHand: async () => found, install };
}

interface FakeGo {
  readonly version: string;
  readonly toolchain: string;
}

const DEBIAN: FakeGo = { version: '1.19.8', toolchain: '' };
const BACKPORTS: FakeGo = { version: '1.23.5', toolchain: 'auto' };
const builtWith = (program: string): string | undefined => /\/go-([\d.]+)$/m.exec(readFileSync(program, 'utf8'))?.[1];

test('the chosen Go is one that is new enough, else one that downloads a newer Go, else an installed one', async (t) => {
  const newEnough = { version: '1.26.0', toolchain: 'local' };
  const kept = { version: '1.24.1', toolchain: 'local' };
  const cases = [
    { atHand: [DEBIAN, kept, BACKPORTS, newEnough], expected: '1.26.0', asked: [] },
    { atHand: [DEBIAN, kept, BACKPORTS], expected: '1.23.5', asked: [] },
    // An old Go downloads nothing, whatever the environment says.
    { atHand: [{ ...DEBIAN, toolchain: 'auto' }, kept], expected: '1.23.5', asked: ['install for 1.25'] },
    { atHand: [], expected: '1.23.5', asked: ['install for 1.25'] },
  ];
  for (const [at, { atHand, expected, asked }] of cases.entries()) {
    const source = machine(t, atHand, BACKPORTS);
    const program = await goProgram({ ...MODULE, version: `v2.${at}.0`, leastGo: '1.25' }, source);
    assert.equal(builtWith(program), expected);
    assert.deepEqual(source.asked, asked);
  }
});

test('any Go builds a program without a minimum version, and Go is installed if it is missing', async (t) => {
  const old = machine(t, [DEBIAN], BACKPORTS);
  assert.equal(builtWith(await goProgram({ ...MODULE, version: 'v2.10.0' }, old)), '1.19.8');
  assert.deepEqual(old.asked, []);
  const none = machine(t, [], BACKPORTS);
  assert.equal(builtWith(await goProgram({ ...MODULE, version: 'v2.11.0' }, none)), '1.23.5');
});

test('when no Go is available, one line lists the Go versions present and the command that helps', async (t) => {
  const kept = { version: '1.23.5', toolchain: 'local' };
  const refused = machine(t, [DEBIAN, kept], 'only root can install: run `sudo install go`');
  await assert.rejects(goProgram({ ...MODULE, version: 'v2.20.0', leastGo: '1.25' }, refused), (error: Error) => {
    assert.match(error.message, /^tool is built with Go 1\.25 or newer, and \S+ is 1\.19\.8, \S+ is 1\.23\.5 and/);
    assert.match(error.message, /GOTOOLCHAIN=local keeps it from fetching another: only root.*`sudo install go`$/);
    return true;
  });
  // An installation that changed nothing is not repeated.
  const useless = machine(t, [], kept);
  await assert.rejects(goProgram({ ...MODULE, version: 'v2.20.0', leastGo: '1.25' }, useless), {
    message: /: install Go 1\.25 or newer$/,
  });
  assert.equal(useless.asked.length, 1);
});

test('nothing is installed where GOTOOLCHAIN prevents an installed Go from downloading the required version', async () => {
  fakeGo('1.19.8');
  await assert.rejects(goProgram({ ...MODULE, version: 'v2.30.0', leastGo: '99.1' }), (error: Error) => {
    assert.match(error.message, /bin\/go is 1\.19\.8.*: unset GOTOOLCHAIN, or install Go 99\.1 or newer$/);
    assert.ok(!error.message.includes('\n'));
    return true;
  });
});

test('a build error of Go is reported in one line, and no files are left', async () => {
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

test('a k6 in PATH is used when it is not too old, with a note when it is not the pinned version', async () => {
  const { config } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'));
  const said: string[] = [];
  const found = (version: string) => {
    program('k6', `echo "k6 ${version} (go1.26.0, linux/amd64)"`);
    said.length = 0;
    return k6Program(undefined, (text) => said.push(text));
  };
  const path = join(bin, 'k6');
  assert.deepEqual(await found(config.k6), { path, version: config.k6 });
  assert.deepEqual(said, []);
  for (const version of ['v1.8.0', 'v1.8.0-rc1', 'v1.10.3', 'v2.2.0']) {
    assert.deepEqual(await found(version), { path, version });
    assert.deepEqual(said, [`${path} is k6 ${version}; the scripts are tried with ${config.k6}`]);
  }
  fakeGo('1.26.0', 'echo "echo $2" > $GOBIN/k6; chmod +x $GOBIN/k6');
  assert.deepEqual(await found('v1.7.9'), { path: join(cache, `k6-${config.k6}`), version: config.k6 });
  assert.deepEqual(said, [`${path} is k6 v1.7.9; the scripts need 1.8 or newer`]);
});

test('when k6 cannot be built, the message names the alternatives', async () => {
  program('k6', 'echo "k6 v0.57.0 (go1.24.0, linux/amd64)"');
  fakeGo('1.26.0', 'echo "no network" >&2; exit 1');
  rmSync(cache, { recursive: true });
  await assert.rejects(
    k6Program(undefined, () => undefined),
    { message: 'cannot build k6: no network; or install k6 1.8 or newer, or name one with --k6 FILE (K6)' },
  );
});

test('a k6 that was named is used whatever its version, with a note when it is not the pinned one', async () => {
  const path = program('my-k6', 'echo "my-k6 v2.0.0 (commit/devel, go1.26.0, linux/amd64)"');
  const said: string[] = [];
  assert.deepEqual(await k6Program(path, (text) => said.push(text)), { path, version: 'v2.0.0' });
  assert.equal(said.length, 1);
});
