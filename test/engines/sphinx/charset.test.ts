import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CHARSET_TABLE, IGNORE_CHARS } from '../../../src/engines/sphinx/configuration.ts';

it('the index folds every letter it knows as the canonical form of a query does', () => {
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

/** searchd's own reading of `A`, `A..B`, `A->B`, `A..B->C..D`, `A..B/2`. */
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
