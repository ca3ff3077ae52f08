import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type Arguments,
  commandLine,
  LOADTEST,
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

test('all errors are reported at once', () => {
  const argv = 'smokey soak --stack remote --seed 1.5 --replicas 9 --bogus --pin=yes --k6='.split(' ');
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
  const found = faults(['flush-survival', ...STAGING, '--base-rps', '50']).join('\n');
  assert.match(found, /^--admin-url \(or ADMIN_URL\) is missing/m);
  assert.match(found, /^ADMIN_TOKEN is missing/m);
  assert.equal(options(['flush-survival']).stack, 'local');
});

test('the token comes from the environment, and no option accepts it', () => {
  assert.equal(options(['smoke'], { ADMIN_TOKEN: 'choose-one' }).adminToken, 'choose-one');
  assert.match(
    faults(['smoke', '--admin-token', 'choose-one'])[0] ?? '',
    /a token on the command line is seen by everybody.*ADMIN_TOKEN/,
  );
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

test('the command to repeat a run contains the values of variables, and never the token', () => {
  const env = { BASE_RPS: '50', ADMIN_TOKEN: 'choose-one', QUERIES: "it's mine.tsv", BASE_URL: 'http://a.example' };
  const command = commandLine(options(['x-load', '--sample', '0.5'], env));
  assert.equal(
    command,
    "npm run loadtest -- x-load --stack none --base-url http://a.example --queries 'it'\\''s mine.tsv' --base-rps 50 --sample 0.5",
  );
});
