import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { DEMO_DOMAINS } from '../../../src/catalogue/demo.ts';
import { foldText } from '../../../src/engines/analysis/words.ts';
import { charsetTable, sphinxConfiguration } from '../../../src/engines/sphinx/configuration.ts';

const FOLDER = new URL('../../../deploy/sphinx/', import.meta.url);

function configurationFor(dialect: 'sphinx' | 'manticore', realtime = false): string {
  return sphinxConfiguration({
    realtime,
    domains: DEMO_DOMAINS.slice(0, realtime ? 1 : undefined).map((domain) => ({
      domain: { ...domain, answerProfile: '' },
      index: domain.name,
    })),
    searchd: { dialect, host: '127.0.0.1', port: 9306, maxConnections: 64 },
    directory: '/var/lib/searchd',
  });
}

for (const [file, words] of [
  ['sphinx.conf', '--out /var/lib/searchd'],
  ['realtime.conf', '--realtime --out /var/lib/searchd goods=<its catalogue>'],
] as const) {
  it(`deploy/sphinx/${file} is what sphinx-source writes for the demo domains`, async () => {
    const found = await readFile(new URL(file, FOLDER), 'utf8').catch(() => 'no such file');
    const how = `run serpcache sphinx-source ${words} and copy its sphinx.conf`;
    assert.equal(found, configurationFor('sphinx', file === 'realtime.conf'), how);
  });
}

it('connections are bounded by the directive of the server', () => {
  assert.match(configurationFor('sphinx'), /^ {2}max_children = 64$/m);
  assert.match(configurationFor('manticore'), /^ {2}max_connections = 64$/m);
  assert.doesNotMatch(configurationFor('manticore'), /^ *max_children/m);
});

it('the index folds each letter of its charset table as the analysis folds it in a query', () => {
  for (const [code, target] of table()) {
    const character = String.fromCodePoint(code);
    const folded = foldText(character);
    const expected = [...folded].length === 1 ? folded : character.toLowerCase();
    assert.equal(String.fromCodePoint(target), expected, `U+${code.toString(16)} ${character}`);
  }
});

it('the index knows letters and digits, and separates words at other characters', () => {
  for (const character of 'AZaz09ЁёЙйЯяІіЇїЄєҐґЎўÄäßŁłĞğİıŒœΩωҚқẾếĐđ') {
    assert.ok(table().has(character.codePointAt(0) ?? 0), character);
  }
  for (const character of ' -_.,!"\'&+#@手ก가') assert.ok(!table().has(character.codePointAt(0) ?? 0), character);
});

const table = (): Map<number, number> => mapped(charsetTable().join(', '));

/** Reads `A`, `A..B`, `A->B` and `A..B->C..D` like searchd. */
function mapped(table: string): Map<number, number> {
  const found = new Map<number, number>();
  for (const entry of table.split(', ')) {
    const [, from, to, target] = entry.match(/^U\+([0-9A-F]+)(?:\.\.U\+([0-9A-F]+))?(?:->U\+([0-9A-F]+).*)?$/) ?? [];
    assert.ok(from !== undefined, `cannot read ${entry}`);
    const [first, last, mappedTo] = [from, to ?? from, target ?? from].map((digits) => Number.parseInt(digits, 16));
    for (let at = first ?? 0; at <= (last ?? 0); at += 1) found.set(at, (mappedTo ?? 0) + at - (first ?? 0));
  }
  return found;
}
