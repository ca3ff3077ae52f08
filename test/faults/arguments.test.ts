import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readArguments } from './arguments.ts';
import { BY_NAME, FAMILIES, select } from './registry.ts';

const wrong: readonly (readonly [argv: readonly string[], fault: RegExp])[] = [
  [['--repeat', '0'], /^--repeat takes a whole number from 1 to 100, not "0"$/],
  [['--repeat', 'x'], /^--repeat takes a whole number from 1 to 100, not "x"$/],
  [['--repeat', '1.5'], /^--repeat takes a whole number from 1 to 100, not "1.5"$/],
  [['--repeat=-1'], /^--repeat takes a whole number from 1 to 100, not "-1"$/],
  [['--repeat', '-1'], /^--repeat takes a whole number from 1 to 100, not "-1"$/],
  [['--seed', '-7'], /^--seed takes a whole number from 0 to 999999999, not "-7"$/],
  [['--repeat'], /^--repeat needs a value: N$/],
  [['--repeat', ''], /^--repeat needs a value: N$/],
  [['--repeat', '101'], /^--repeat takes a whole number from 1 to 100, not "101"$/],
  [['--seed', 'abc'], /^--seed takes a whole number from 0 to 999999999, not "abc"$/],
  [['--seed=-7'], /^--seed takes a whole number from 0 to 999999999, not "-7"$/],
  [['--seed', '0x1'], /^--seed takes a whole number/],
  [['--repat=3'], /^unknown option --repat; did you mean --repeat\? \(allowed: --only, /],
  [['node-killed'], /^"node-killed" is no option; a row is named by --only node-killed$/],
  [['--only', 'node-killed,no-such-row'], /^--only: there is no no-such-row; known: store-nodes, .*node-killed/],
  [['--only', ''], /^--only needs a value: A,B$/],
  [['--only', ','], /^--only takes names/],
  [
    ['--json', join('no', 'such', 'folder', 'out.json')],
    /^--json takes a file that can be written, not "no.such.folder/,
  ],
  [['--json', tmpdir()], /^--json takes a file that can be written/],
  [['--checkout', tmpdir()], /^--checkout takes the folder of a serpcache/],
  [['--engine', 'solr'], /^--engine takes sphinx or manticore, not "solr"$/],
  [['--engine', 'manticore', '--only', 'overload'], /^--engine manticore takes rows, not figures$/],
];
for (const [argv, fault] of wrong) {
  test(`a wrong argument is named, with what is allowed: ${argv.join(' ')}`, () => {
    const read = readArguments(argv);
    assert.ok(read.kind === 'wrong', JSON.stringify(read));
    assert.equal(read.faults.length, 1);
    assert.match(read.faults[0] ?? '', fault);
  });
}

test('every wrong argument is named at once', () => {
  const read = readArguments(['--repeat', '0', '--seed', 'x', '--only', 'nothing']);
  assert.equal(read.kind === 'wrong' && read.faults.length, 3);
});

test('the command ends with status 64 for wrong arguments, before it starts anything', () => {
  const cli = join(import.meta.dirname, 'cli.ts');
  const { status, stderr } = spawnSync(process.execPath, [cli, '--repeat', '0'], { encoding: 'utf8' });
  assert.equal(status, 64);
  assert.match(stderr, /^serpcache: --repeat takes a whole number from 1 to 100, not "0"$/m);
});

test('the defaults are the whole matrix, once, with seed 1', () => {
  const read = readArguments([]);
  assert.ok(read.kind === 'run');
  assert.deepEqual([read.options.repeat, read.options.seed, read.options.jsonFile], [1, 1, undefined]);
  assert.deepEqual(read.selection.rows, Object.values(FAMILIES).flat());
});

test('checking that the JSON file is writable changes no file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-arguments-'));
  try {
    const [old, fresh] = [join(directory, 'old.json'), join(directory, 'new.json')];
    writeFileSync(old, 'what was measured before');
    assert.equal(readArguments(['--json', old]).kind, 'run');
    assert.equal(readArguments(['--json', fresh]).kind, 'run');
    assert.equal(readFileSync(old, 'utf8'), 'what was measured before');
    assert.equal(existsSync(fresh), false);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a row that must be red runs only by its own name', () => {
  const matrix = select([]).rows;
  for (const row of BY_NAME) {
    assert.ok(!matrix.includes(row));
    assert.deepEqual(select([row.name]).rows, [row]);
  }
});

test('a row that is named twice runs once', () => {
  assert.equal(select(['node-killed', 'node-killed']).rows.length, 1);
  assert.equal(select(['overload', 'figures']).figures.length, select(['figures']).figures.length);
});

test('every row has a unique name', () => {
  const names = [...Object.values(FAMILIES).flat(), ...BY_NAME].map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
});
