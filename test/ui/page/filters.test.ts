import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Attribute } from '../../../src/search/domain.ts';
import { parseFilter } from '../../../src/search/query.ts';
import { pageAddress } from '../../../src/ui/page/assets/address.ts';
import { numberPattern, readFilter, typedNumber, valuesOf, withValues } from '../../../src/ui/page/assets/filters.ts';
import { formatNumber } from '../../../src/ui/page/assets/locale.ts';
import { CITY, PRICE, SITE } from './harness.ts';

describe('bounds typed into the form', () => {
  const COUNT: Attribute = { name: 'count', type: 'integer', facet: false, sort: true };
  const DAY: Attribute = { name: 'day', type: 'date', facet: false, sort: true };
  const domain = { name: 'goods', attributes: [PRICE, COUNT, DAY], context: [] };
  const filterOf = (preferred: 'en' | 'ru', given: Record<string, string>) =>
    pageAddress(new URLSearchParams({ q: '1', ...given }), { ...SITE, preferred, domains: [domain] }).filters;

  it('may have a comma or a dot before the fraction and spaces of any width between thousands', () => {
    for (const preferred of ['en', 'ru'] as const) {
      for (const [typed, meant] of Object.entries({
        '10,5': '10.5',
        '10.50': '10.50',
        ' 7 200 000 ': '7200000',
        '7\u00a0200\u202f000,25': '7200000.25',
        '7\u2009200': '7200',
        '-3,5': '-3.5',
      })) {
        assert.deepEqual(filterOf(preferred, { 'price.from': typed }), [`price:${meant}..`], `${preferred} ${typed}`);
      }
    }
    assert.deepEqual(filterOf('en', { 'price.from': '7,200,000', 'price.to': '7,200,000.5' }), [
      'price:7200000..7200000.5',
    ]);
    assert.deepEqual(filterOf('en', { 'count.from': '7,200' }), ['count:7200..']);
    assert.deepEqual(filterOf('ru', { 'price.from': '7,200' }), ['price:7.200..']);
  });

  it('can be typed as the page prints them', () => {
    const printed = fc.tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.constantFrom(0, 0.25, 0.5));
    fc.assert(
      fc.property(printed, fc.constantFrom('en', 'ru'), ([whole, part], language) => {
        assert.equal(Number(typedNumber(formatNumber(whole + part, language), 'number', language)), whole + part);
        assert.equal(Number(typedNumber(formatNumber(whole, language), 'integer', language)), whole);
      }),
    );
  });

  it('that match the input’s pattern are never refused, in either order', () => {
    const characters = fc.string({ maxLength: 24, unit: fc.constantFrom('0', '1', '9', '200', '.', ',', ' ', '-') });
    const attributes = new Map(domain.attributes.map((attribute) => [attribute.name, attribute]));
    for (const language of ['en', 'ru'] as const) {
      for (const { name, type } of [PRICE, COUNT]) {
        if (type !== 'integer' && type !== 'number') continue;
        const shape = numberPattern(type, language);
        const fitting = new RegExp(`^(?:${shape})$`, 'v');
        const typed = fc.oneof(
          characters.filter((text) => fitting.test(text)),
          fc.stringMatching(new RegExp(`^(?:${shape})$`)),
        );
        fc.assert(
          fc.property(typed, typed, (from, to) => {
            const filters = filterOf(language, { [`${name}.from`]: from, [`${name}.to`]: to });
            for (const filter of filters) parseFilter(filter, attributes);
          }),
        );
      }
    }
    assert.deepEqual(filterOf('en', { 'day.from': '2026-05-03', 'day.to': '2026-01-01' }), [
      'day:2026-01-01..2026-05-03',
    ]);
  });

  it('that are no numbers reach the service unchanged, which refuses them', () => {
    for (const typed of ['ten', '.', '-', '1.2.3', '5.']) {
      assert.deepEqual(filterOf('en', { 'price.from': typed }), [`price:${typed}..`]);
    }
    assert.doesNotMatch('10,5', new RegExp(`^(?:${numberPattern('integer', 'ru')})$`, 'v'));
  });
});

describe('filters', () => {
  const text = fc
    .string({ unit: fc.constantFrom('a', 'Б', ',', '\\', ' ', '..', ':', '-') })
    .map((value) => value.trim());

  it('written by the page are read by the search as the same values', () => {
    const attributes = new Map([['city', CITY]]);
    const values = fc.uniqueArray(
      text.filter((value) => value.replaceAll(/\s+/g, ' ') === value && value !== ''),
      {
        minLength: 1,
        maxLength: 4,
        selector: (value) => value.toLowerCase(),
      },
    );
    fc.assert(
      fc.property(values, (chosen) => {
        const [filter = ''] = withValues([], 'city', chosen);
        const parsed = parseFilter(filter, attributes);
        const expected = chosen.map((value) => value.toLowerCase()).sort();
        assert.deepEqual(parsed.kind === 'strings' && parsed.values, expected);
        assert.deepEqual(valuesOf([filter], [CITY], 'city'), chosen);
      }),
    );
  });

  it('keep a backslash at the end of a value and a comma within one', () => {
    const filters = withValues([], 'city', ['хвост\\', 'a,b']);
    assert.deepEqual(filters, ['city:хвост\\\\,a\\,b']);
    assert.deepEqual(valuesOf(filters, [CITY], 'city'), ['хвост\\', 'a,b']);
  });

  it('that cannot be read are left unchanged', () => {
    assert.equal(readFilter('nope:1', [CITY]), undefined);
    assert.equal(readFilter('city', [CITY]), undefined);
    assert.deepEqual(withValues(['nope:1', 'city:A'], 'city', []), ['nope:1']);
  });
});
