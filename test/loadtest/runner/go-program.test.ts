import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { type GoSource, goProgram } from '../../../loadtest/stack/go-program.ts';

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
