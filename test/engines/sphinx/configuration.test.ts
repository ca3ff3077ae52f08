import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { DEMO_DOMAINS } from '../../../src/catalogue/demo.ts';
import { CHARSET_TABLE, IGNORE_CHARS, sphinxConfiguration } from '../../../src/engines/sphinx/configuration.ts';

const FILE = new URL('../../../deploy/sphinx/sphinx.conf', import.meta.url);

function configurationFor(dialect: 'sphinx' | 'manticore'): string {
  return sphinxConfiguration({
    domains: DEMO_DOMAINS.map((domain) => ({ domain: { ...domain, answerProfile: '' }, index: domain.name })),
    searchd: { dialect, host: '127.0.0.1', port: 9306, maxConnections: 64 },
    directory: '/var/lib/searchd',
  });
}

it('deploy/sphinx/sphinx.conf is what sphinx-source writes for the demo domains', async () => {
  const found = await readFile(FILE, 'utf8').catch(() => 'no such file');
  const how = 'run serpcache sphinx-source --out /var/lib/searchd and copy its sphinx.conf';
  assert.equal(found, configurationFor('sphinx'), how);
});

it('connections are bounded by the directive of the server', () => {
  assert.match(configurationFor('sphinx'), /^ {2}max_children = 64$/m);
  assert.match(configurationFor('manticore'), /^ {2}max_connections = 64$/m);
  assert.doesNotMatch(configurationFor('manticore'), /^ *max_children/m);
});

it('the index folds every letter of its charset table like the canonical form of a query', () => {
  const ignored = codes(IGNORE_CHARS.split(', '));
  const table = mapped(CHARSET_TABLE.join(', '));
  for (const [code, target] of table) {
    const folded = [...String.fromCodePoint(code).toLowerCase().replaceAll('ё', 'е')]
      .map((character) => character.codePointAt(0) ?? 0)
      .filter((folding) => !ignored.has(folding));
    assert.deepEqual([target], folded, `U+${code.toString(16)} ${String.fromCodePoint(code)}`);
  }
});

it('the index knows the letters and digits of Russian, English and their neighbours', () => {
  const table = mapped(CHARSET_TABLE.join(', '));
  for (const character of 'AZaz09ЁёЙйЯяІіЇїЄєҐґЎўÄäßŁłĞğİıŒœΩωҚқ') {
    assert.ok(table.has(character.codePointAt(0) ?? 0), character);
  }
  for (const character of ' -_.,!"\'&+#@') assert.ok(!table.has(character.codePointAt(0) ?? 0), character);
});

/** Reads `A`, `A..B`, `A->B`, `A..B->C..D` and `A..B/2` like searchd. */
function mapped(table: string): Map<number, number> {
  const found = new Map<number, number>();
  for (const entry of table.split(', ')) {
    const [, from, to, target, checkered] =
      entry.match(
        /^(U\+[0-9A-F]+|\w)(?:\.\.(U\+[0-9A-F]+|\w))?(?:->(U\+[0-9A-F]+|\w)(?:\.\.(?:U\+[0-9A-F]+|\w))?)?(\/2)?$/,
      ) ?? [];
    assert.ok(from !== undefined, `cannot read ${entry}`);
    const [first, last] = [code(from), code(to ?? from)];
    for (let at = first; at <= last; at += 1) {
      if (checkered !== undefined) found.set(at, first + 2 * Math.floor((at - first) / 2) + 1);
      else found.set(at, target === undefined ? at : code(target) + at - first);
    }
  }
  return found;
}

function codes(ranges: readonly string[]): Set<number> {
  return new Set(ranges.flatMap((range) => [...mapped(range).keys()]));
}

function code(text: string): number {
  return text.startsWith('U+') ? Number.parseInt(text.slice(2), 16) : (text.codePointAt(0) ?? 0);
}
