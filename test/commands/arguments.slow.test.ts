import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { EXIT, numberOf, type Option, parseArguments } from '../../src/commands/arguments.ts';
import { temporaryFolder } from '../folder.ts';

const OPTIONS: readonly Option[] = [
  { name: 'rate', takes: 'N', about: 'a number' },
  { name: 'domain', takes: 'D', about: 'several', repeats: true },
  { name: 'dry-run', about: 'a switch' },
];

const read = (...argv: readonly string[]) => parseArguments(argv, OPTIONS);

function faults(...argv: readonly string[]): readonly string[] {
  const found = read(...argv);
  return found.kind === 'wrong' ? found.faults : assert.fail(`${argv.join(' ')} is ${found.kind}`);
}

test('options are parsed in both forms, between positional arguments', () => {
  const found = read('one', '--rate=-3', '--domain', 'a', '--domain=b', '--dry-run', '--', '--two');
  assert.ok(found.kind === 'arguments');
  const { positionals, has, text, texts, number } = found.arguments;
  assert.deepEqual(
    [positionals, texts('domain'), has('dry-run'), has('rate')],
    [['one', '--two'], ['a', 'b'], true, true],
  );
  assert.deepEqual([text('rate'), number('rate'), text('domain')], ['-3', -3, 'a']);
  const negative = read('--rate', '-3');
  assert.ok(negative.kind === 'arguments' && negative.arguments.number('rate') === -3, 'a negative number is a value');
});

test('--help and --version take precedence over every fault, unless they stand after --', () => {
  for (const word of ['--help', '-h']) assert.equal(read('--bogus', '--rate', word).kind, 'help');
  assert.equal(read('x', '--version', '--bogus').kind, 'version');
  assert.equal(read('--', '--help').kind, 'arguments');
});

test('all faults are reported at once, each with what is allowed', () => {
  assert.deepEqual(faults('--rat=1', '-x', '--dry-run=yes', '--rate', '--dry-run'), [
    'unknown option --rat; did you mean --rate? (allowed: --rate, --domain, --dry-run, --help, --version)',
    'unknown option -x (allowed: --rate, --domain, --dry-run, --help, --version)',
    '--dry-run takes no value',
    '--rate needs a value: N',
  ]);
  assert.deepEqual(faults('--rate', '1', '--rate=2'), ['--rate is given 2 times; allowed: once']);
  assert.deepEqual(faults('--rate='), ['--rate needs a value: N']);
  assert.match(faults('--constructor').join(), /unknown option --constructor/);
});

test('a value that is not a number of the range is refused', () => {
  const range = { least: 1, most: 10, whole: true };
  assert.deepEqual([numberOf('--n', '10', range), numberOf('--n', '1e1', range), numberOf('--n', '.5')], [10, 10, 0.5]);
  for (const text of ['0', '11', '1.5', '0x1', '', ' 1', 'Infinity', 'ten']) {
    assert.throws(() => numberOf('--n', text, range), {
      message: `--n takes a whole number from 1 to 10, not "${text}"`,
    });
  }
});

const root = join(import.meta.dirname, '..', '..');
const empty = temporaryFolder({ after });

function programs(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const own = Object.values<string>(scripts).flatMap((script) => / exec node (\S+)$/.exec(script)?.[1] ?? []);
  const others = ['labs/limits/cli.ts', 'publish.ts', 'stack/install.ts', 'labs/peers/repeat.ts'].map(
    (file) => `loadtest/${file}`,
  );
  return [...own, ...others, 'test/faults/publish.ts'];
}

// With an empty folder as PATH nothing can be started or installed; the folder must stay empty.
for (const [at, program] of programs().entries()) {
  test(`${program} reads --help and an unknown option before it starts anything`, () => {
    const call = (argument: string) =>
      spawnSync(process.execPath, [join(root, program), argument], {
        ...{ cwd: empty, encoding: 'utf8' },
        // The compiled modules of the test run are used; without them each start takes twice as long.
        env: { PATH: empty, NODE_TEST_CONTEXT: undefined, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
      });
    const help = call('--help');
    assert.deepEqual([help.status, help.stderr], [EXIT.passed, '']);
    assert.match(help.stdout, /^usage:[\s\S]*exit status:\n/);
    // The version is read as the help is: a few programs stand for all, because each start costs a fifth of a second.
    if (at < 3) {
      const version = call('--version');
      assert.deepEqual([version.status, version.stderr], [EXIT.passed, '']);
      assert.match(version.stdout, /^serpcache \d+\.\d+\.\d+\n$/);
    }
    const wrong = call('--no-such-option');
    assert.equal(wrong.status, EXIT.usage, wrong.stderr);
    assert.match(wrong.stderr, /--no-such-option/);
    assert.equal(wrong.stdout, '');
  });
}
