import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_QUERIES, parseQueries } from '../../../loadtest/k6/kit/query-file.ts';

test('a line is a text, or a domain and a text, or these with parameters', () => {
  const file = 'red shoes\ngoods\tкрасные кроссовки\nauto\tcoupé\tfilter=make:seat,kia&sort=-price\n';
  assert.deepEqual(parseQueries(file), [
    { text: 'red shoes', parameters: '' },
    { domain: 'goods', text: 'красные кроссовки', parameters: '' },
    { domain: 'auto', text: 'coupé', parameters: 'filter=make:seat,kia&sort=-price' },
  ]);
});

test('comments, empty lines, a byte order mark and Windows line endings are not part of a search', () => {
  const file = '\ufeff# made today\r\n\r\ngoods\tc# book\t\r\n   \r\n#none\r\nlast';
  assert.deepEqual(parseQueries(file), [
    { domain: 'goods', text: 'c# book', parameters: '' },
    { text: 'last', parameters: '' },
  ]);
});

test('an empty domain is the default, so a search without a domain may have parameters', () => {
  assert.deepEqual(parseQueries('\tshoes\tfacet=brand'), [{ text: 'shoes', parameters: 'facet=brand' }]);
});

test('the list is plain JSON', () => {
  const queries = parseQueries('shoes\ngoods\tshoes\tfacet=brand');
  assert.deepEqual(JSON.parse(JSON.stringify(queries)), queries);
});

const FAULTS: readonly (readonly [line: string, says: RegExp])[] = [
  ['goods\tshoes\tfacet=brand\t12', /^line 2: 4 columns; text, domain⇥text and domain⇥text⇥parameters are allowed$/],
  ['Goods!\tshoes', /^line 2: "Goods!" is no domain; small letters, digits and dashes/],
  ['goods\t \tfacet=brand', /^line 2: a text of 0 characters; 1 to 256 are allowed$/],
  ['x'.repeat(257), /^line 2: a text of 257 characters; 1 to 256 are allowed$/],
  ['red\u0000shoes', /^line 2: a control character in the text; none is allowed$/],
  ['sch\ufffdne', /^line 2: it is not UTF-8$/],
  ['goods\tshoes\tfilter=brand:très chic', /^line 2: the parameters ".+" are not encoded; an encoded part/],
  ['goods\tshoes\tfacet', /^line 2: "facet" is no parameter; name=value, several with & between, is allowed$/],
  ['goods\tshoes\t&facet=brand', /^line 2: "" is no parameter/],
  ['goods\tshoes\tfacet=%zz', /^line 2: "facet=%zz" is no parameter/],
  ['goods\tshoes\tq=boots', /^line 2: the parameter q is not allowed; anything but q, domain, page is$/],
  ['goods\tshoes\tfacet=brand&page=2', /^line 2: the parameter page is not allowed/],
  ['goods\tshoes\tdom%61in=auto', /^line 2: the parameter domain is not allowed/],
];

for (const [line, says] of FAULTS) {
  test(`an error names its line and the allowed values: ${JSON.stringify(line.slice(0, 40))}`, () => {
    assert.throws(() => parseQueries(`fine\n${line}\nfine`), { message: says });
  });
}

test('characters are counted as code points, not as UTF-16 halves', () => {
  assert.equal(parseQueries('🎸'.repeat(256)).length, 1);
  assert.throws(() => parseQueries('🎸'.repeat(257)), /a text of 257 characters/);
});

test('the first errors are reported together, and the rest is counted', () => {
  const file = Array.from({ length: 8 }, () => 'a\tb\tc\td').join('\n');
  assert.throws(() => parseQueries(file), { message: /^line 1: .+\nline 2: .+\n(?:line \d.+\n){3}and 3 more$/ });
});

test('a file without a search is refused', () => {
  assert.throws(() => parseQueries('# nothing\n\n'), /at least one search/);
});

test('the size of a file has a maximum', () => {
  const full = 'a\n'.repeat(MAX_QUERIES);
  assert.equal(parseQueries(full).length, MAX_QUERIES);
  assert.throws(() => parseQueries(`${full}a`), /^Error: line 200001: a query file has at most 200000 searches$/);
});
