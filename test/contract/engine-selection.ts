import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Filter } from '../../src/search/domain.ts';
import { FACET_VALUES } from '../../src/search/engine.ts';
import { COMMON } from './engine-documents.ts';
import { ask, counted, days, matching, type Searching } from './engine-truth.ts';

const strings = (attribute: string, ...values: string[]): Filter => ({ kind: 'strings', attribute, values });
const numbers = (attribute: string, ...values: number[]): Filter => ({ kind: 'numbers', attribute, values });
const range = (attribute: string, from?: number, to?: number): Filter => ({ kind: 'range', attribute, from, to });

const SELECTIONS: readonly (readonly [fact: string, filters: readonly Filter[]])[] = [
  ['no filter', []],
  ['one text, its case folded', [strings('category', 'обувь')]],
  ['several texts', [strings('category', 'обувь', 'books')]],
  ['a text with markup characters', [strings('category', 'спорт & отдых')]],
  ['a text with quotes', [strings('category', `o'neil "pro"`)]],
  ['a text with ё, given as е', [strings('city', 'орел')]],
  ['upper case in the document', [strings('brand', 'asus', 'lego')]],
  ['a part of a text is not the text', [strings('city', 'моск')]],
  ['a text that no document has', [strings('city', 'атлантида')]],
  ['one number', [numbers('rooms', 3)]],
  ['several numbers', [numbers('rooms', 0, 1, 5)]],
  ['negative numbers', [numbers('views', -5, -1)]],
  ['zero in either spelling', [numbers('rooms', -0)]],
  ['a number beyond 32 bits', [numbers('views', 5_000_000_000, 5_000_000_050)]],
  ['a fraction for a whole-number attribute', [numbers('rooms', 1.5)]],
  ['a fraction', [numbers('price', 79.19, 158.38)]],
  ['a date', [numbers('posted', days('1969-07-25'), days('1970-06-10'))]],
  ['a closed range', [range('price', 1000, 2500.5)]],
  ['a range open above', [range('price', 5000.01)]],
  ['a range open below', [range('price', undefined, 99.99)]],
  ['a range whose ends count', [range('rooms', 2, 3)]],
  ['a range of fractions over whole numbers', [range('rooms', 1.5, 3.5)]],
  ['a range below zero', [range('views', -5, -1)]],
  ['a range beyond 32 bits', [range('views', 2 ** 32)]],
  ['a range the wrong way round', [range('rooms', 4, 2)]],
  ['a range of extremes', [range('views', -(2 ** 53) + 1, 2 ** 53 - 1)]],
  ['a closed range of dates', [range('posted', days('1975-01-01'), days('1990-12-31'))]],
  ['dates before 1970', [range('posted', undefined, -1)]],
  ['dates from a day on', [range('posted', days('2000-02-29'))]],
  ['one text of a list, its case folded', [strings('sizes', 'xl')]],
  ['several texts of lists, each document once', [strings('sizes', 'xl', 'one, size', 'eu 3')]],
  [
    'texts of lists with quotes, separators and emoji',
    [strings('sizes', `6" & 1'`, '🚲 👩‍👩‍👧', 'c:\\', 'a|b', '["x"]')],
  ],
  ['a text of a list with ё, given as е', [strings('sizes', 'елка')]],
  ['a text of a list whose accent counts', [strings('sizes', 'a')]],
  ['a part of a text of a list is not the text', [strings('sizes', 'one')]],
  ['one number of a list', [numbers('years', 1995)]],
  ['several numbers of lists, negative and beyond 32 bits', [numbers('years', -7, 5_000_000_000, 1990.5)]],
  ['a range in which one number of a list lies', [range('years', 1994, 1996)]],
  ['a range between the numbers of each list', [range('years', 2007, 4_999_999_999)]],
  ['a range of fractions without a whole number', [range('years', 1994.2, 1994.8)]],
  ['a range of lists open above', [range('years', 2005)]],
  ['a range of lists open below', [range('years', undefined, -1)]],
  ['dates of lists', [numbers('days', days('1969-12-29'), days('1997-05-19'))]],
  ['a range of dates of lists', [range('days', -3, -2)]],
  [
    'texts and numbers of lists together with others',
    [strings('sizes', 'm', 'ä'), numbers('rooms', 2, 3), range('years', 1995, 2001)],
  ],
  [
    'several filters, which all must hold',
    [strings('brand', 'adidas', 'bosch'), range('price', 500), numbers('rooms', 2, 3)],
  ],
];

/** Filters and facets, compared with the known answers. */
export function selectionContract(search: Searching): void {
  for (const [fact, filters] of SELECTIONS) {
    it(`filters by ${fact}, and facets count the filtered documents`, async () => {
      for (const text of [COMMON, 'велосипед']) {
        const expected = matching(text, filters);
        const facets = ['category', 'city', 'days', 'posted', 'rooms', 'sizes', 'years'];
        const page = await search(ask(text, { filters, facets, limit: 100, highlight: false }));
        assert.equal(page.total, expected.length);
        const ids = new Set(expected.map(({ id }) => id));
        assert.deepEqual(
          page.results.filter(({ id }) => !ids.has(id)),
          [],
        );
        assert.equal(page.results.length, Math.min(100, expected.length));
        assert.deepEqual(Object.keys(page.facets).sort(), facets);
        for (const facet of facets) assert.deepEqual(plain(page.facets[facet]), counted(expected, facet), facet);
      }
    });
  }

  it('facets have at most `FACET_VALUES` values, by falling count and then by value', async () => {
    const { facets } = await search(ask(COMMON, { facets: ['city', 'posted'] }));
    assert.equal(facets['city']?.length, FACET_VALUES);
    assert.equal(facets['posted']?.length, FACET_VALUES);
  });

  it('facets are the same on every page', async () => {
    const first = await search(ask(COMMON, { facets: ['city'] }));
    const far = await search(ask(COMMON, { facets: ['city'], page: 50 }));
    const past = await search(ask('гитара', { facets: ['city'], page: 50 }));
    assert.deepEqual(far.facets, first.facets);
    assert.deepEqual(plain(past.facets['city']), counted(matching('гитара'), 'city'));
  });

  it('a filter with many and unusual values is not an error', async () => {
    const odd = ['', "'", '"', '\\', "\\'", '%', '_', '*', 'null', 'a'.repeat(256), '😀', '\ue000', 'орел'];
    const many = Array.from({ length: 100 }, (_, index) => `value ${index}`);
    const page = await search(ask(COMMON, { filters: [strings('city', ...odd, ...many)] }));
    assert.equal(page.total, matching(COMMON, [strings('city', 'орел')]).length);
    const counts = Array.from({ length: 100 }, (_, index) => index);
    const byNumber = await search(ask(COMMON, { filters: [numbers('rooms', ...counts)] }));
    assert.equal(byNumber.total, matching(COMMON).length);
  });
}

/** Rows may have no prototype. */
function plain<T extends object>(rows: readonly T[] | undefined): readonly T[] | undefined {
  return rows?.map((row) => ({ ...row }));
}
