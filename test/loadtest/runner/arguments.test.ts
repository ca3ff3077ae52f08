import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readMix } from '../../../loadtest/k6/kit/queries.ts';
import {
  type Arguments,
  commandLine,
  LOADTEST,
  RANGES,
  type RunOptions,
  readArguments,
  SCRIPTS,
} from '../../../loadtest/runner/arguments.ts';
import { helpOf } from '../../../src/commands/arguments.ts';

const STAGING = ['--base-url', 'https://a.example,https://b.example/', '--queries', 'q.tsv'];

function read(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Arguments {
  return readArguments(argv, env);
}

function options(argv: readonly string[], env: Readonly<Record<string, string>> = {}): RunOptions {
  const found = read(argv, env);
  assert.equal(found.kind, 'run', found.kind === 'wrong' ? found.faults.join('\n') : found.kind);
  return found.kind === 'run' ? found.options : assert.fail();
}

function faults(argv: readonly string[], env: Readonly<Record<string, string>> = {}): readonly string[] {
  const found = read(argv, env);
  return found.kind === 'wrong' ? found.faults : assert.fail(`${argv.join(' ')} is taken`);
}

test('a script without options runs on the local stack', () => {
  const { stack, baseUrls, replicas, pin, keepStack, numbers } = options(['x-load']);
  assert.deepEqual([stack, baseUrls, replicas, pin, keepStack, numbers], ['local', [], 1, false, false, {}]);
});

test('an address, given by option or variable, means that no local stack is started', () => {
  assert.equal(options(['smoke', ...STAGING]).stack, 'none');
  assert.equal(options(['smoke'], { BASE_URL: 'http://a.example', QUERIES: 'q.tsv' }).stack, 'none');
});

test('the local stack ignores addresses in the environment', () => {
  const found = options(['smoke', '--stack', 'local'], { BASE_URL: 'http://a.example', ADMIN_URL: 'http://b.example' });
  assert.deepEqual([found.stack, found.baseUrls, found.adminUrls], ['local', [], []]);
});

test('several addresses are a list, without trailing slashes', () => {
  assert.deepEqual(options(['smoke', ...STAGING]).baseUrls, ['https://a.example', 'https://b.example']);
});

test('an option overrides its variable, and an empty variable is ignored', () => {
  const env = { SEED: '3', MAX_VUS: '40', SAMPLE: '' };
  assert.deepEqual(options(['smoke', '--seed', '4'], env).numbers, { seed: 4, 'max-vus': 40 });
});

test('an error names the option, the given value and the allowed values', () => {
  assert.deepEqual(faults(['smoke', '--once-share', '1.5']), [
    '--once-share (or ONCE_SHARE): "1.5" is not allowed; a number from 0 to 1 is',
  ]);
});

test('all errors are reported at once', () => {
  const argv = [
    'smokey',
    'soak',
    '--stack',
    'remote',
    '--seed',
    '1.5',
    '--replicas',
    '9',
    '--bogus',
    '--pin=yes',
    '--k6=',
  ];
  const found = faults(argv, { MAX_VUS: 'many' });
  for (const word of [
    '"smokey"',
    'soak is too much',
    '"remote"',
    '"1.5"',
    '"9"',
    'unknown option --bogus',
    '--pin takes no',
    '--k6 needs',
    '"many"',
  ]) {
    assert.equal(found.filter((fault) => fault.includes(word)).length, 1, `${word} in\n${found.join('\n')}`);
  }
});

test('without a local stack the query file and x1 are required', () => {
  const found = faults(['x-load', '--base-url', 'http://a.example']);
  assert.deepEqual(
    found.map((fault) => fault.split(' ')[0]),
    ['--queries', '--base-rps'],
  );
});

test('a script that flushes needs an admin address and a token, unless it has its own stack', () => {
  const found = faults(['flush-survival', ...STAGING, '--base-rps', '50']);
  assert.ok(
    found.some((fault) => fault.startsWith('--admin-url (or ADMIN_URL) is missing')),
    found.join('\n'),
  );
  assert.ok(
    found.some((fault) => fault.startsWith('ADMIN_TOKEN is missing')),
    found.join('\n'),
  );
  assert.equal(options(['flush-survival']).stack, 'local');
});

test('the token comes from the environment, and no option accepts it', () => {
  assert.equal(options(['smoke'], { ADMIN_TOKEN: 'choose-one' }).adminToken, 'choose-one');
  assert.match(
    faults(['smoke', '--admin-token', 'choose-one'])[0] ?? '',
    /a token on the command line is seen by everybody.*ADMIN_TOKEN/,
  );
});

test('an address that contains a name and password is refused', () => {
  assert.match(faults(['smoke', '--base-url', 'http://me:secret@a.example', '--queries', 'q'])[0] ?? '', /--base-url/);
});

test('a Prometheus is an address without a path, and without a name and password', () => {
  assert.equal(options(['smoke', '--prometheus', 'http://127.0.0.1:9090']).prometheus, 'http://127.0.0.1:9090');
  for (const wrong of ['127.0.0.1:9090', 'http://me:secret@a.example', 'http://a.example/api/v1/write']) {
    assert.match(faults(['smoke', '--prometheus', wrong])[0] ?? '', /^--prometheus: /, wrong);
  }
});

test('options of the local stack are refused without it', () => {
  const found = faults(['smoke', ...STAGING, '--replicas', '2', '--keep-stack', '--pin']);
  assert.deepEqual(
    found.map((fault) => fault.split(' ')[0]),
    ['--replicas', '--keep-stack', '--pin'],
  );
});

test('a script named like a member of Object is unknown', () => {
  assert.match(faults(['constructor'])[0] ?? '', /there is no script "constructor"/);
});

test('without arguments the help is shown, and it names every script', () => {
  assert.equal(read([]).kind, 'help');
  assert.equal(read(['smoke', '--help']).kind, 'help');
  for (const name of Object.keys(SCRIPTS)) assert.ok(helpOf(LOADTEST).includes(`  ${name} `), name);
});

test('the table of scripts agrees with the scripts themselves', () => {
  const folder = join(import.meta.dirname, '../../../loadtest/k6');
  const files = readdirSync(folder).flatMap((name) => /^(.+)\.ts$/.exec(name)?.[1] ?? []);
  // `saturation` is not run for a verdict: it finds x1.
  assert.deepEqual(files.filter((name) => name !== 'saturation').sort(), Object.keys(SCRIPTS).sort());
  for (const [name, { base, operates = false }] of Object.entries(SCRIPTS)) {
    const text = readFileSync(join(folder, `${name}.ts`), 'utf8');
    assert.equal(/^ {2}(?:operator|prepare):|drilled\(/m.test(text), operates, `${name} acts as an operator`);
    const own = /^ {2}baseRps: (\d+),/m.exec(text)?.[1];
    assert.equal(base, own === undefined ? 'measured' : Number(own), `x1 of ${name}`);
  }
});

test('the scripts accept the minimum and maximum of each option of the runner', () => {
  const mix = { exponent: 1, offset: 0, onceShare: 0, pages: false };
  for (const end of ['least', 'most'] as const) {
    const env = Object.fromEntries(Object.values(RANGES).map((range) => [range.variable, String(range[end])]));
    assert.doesNotThrow(() => readMix(env, mix));
  }
});

test('the command to repeat a run contains the values of variables, and never the token', () => {
  const env = { BASE_RPS: '50', ADMIN_TOKEN: 'choose-one', QUERIES: "it's mine.tsv", BASE_URL: 'http://a.example' };
  const command = commandLine(options(['x-load', '--sample', '0.5'], env));
  assert.equal(
    command,
    "npm run loadtest -- x-load --stack none --base-url http://a.example --queries 'it'\\''s mine.tsv' --base-rps 50 --sample 0.5",
  );
});
