import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ResultSets } from '../../../src/engines/sphinx/connection.ts';
import { beginning, createMarks, highlighted, pageOf, withoutFloat32Noise } from '../../../src/engines/sphinx/rows.ts';
import type { SearchDomain } from '../../../src/search/domain.ts';
import { ask } from '../../contract/engine-truth.ts';
import { pluck } from '../../pluck.ts';

const domain: SearchDomain = {
  name: 'd',
  attributes: [
    { name: 'n', type: 'integer', facet: true, sort: true },
    { name: 'price', type: 'number', facet: true, sort: true },
    { name: 'day', type: 'date', facet: true, sort: true },
  ],
  context: [],
  answerProfile: '',
};
const marks = createMarks(() => 0.5);
const request = ask('кот', { facets: ['day'], highlight: false });
const page = (sets: ResultSets) => pageOf(sets, request, { domain, marks, snippetLength: 40 });
const META = [['total_found', '1']];

it('numbers, dates and ids are returned as they were indexed', () => {
  const { results, facets } = page([
    [['9007199254740993', '2751', 'Кот', '', '9007199254740993', '81.529999', '-86400']],
    META,
    [
      ['-1', '3'],
      ['0', '5'],
      ['-53375995583651', '9'],
      ['18262', '5'],
    ],
    META,
  ]);
  assert.deepEqual(results, [
    {
      id: '9007199254740993',
      title: 'Кот',
      snippet: 'Кот',
      score: 2751,
      attributes: { n: '9007199254740993', price: 81.53, day: '1969-12-31' },
    },
  ]);
  assert.deepEqual(facets, {
    day: [
      { value: '1970-01-01', count: 5 },
      { value: '2020-01-01', count: 5 },
      { value: '1969-12-31', count: 3 },
    ],
  });
});

it('a list is the texts of its JSON, a text that is no list is one value, and an empty one is missing', () => {
  const list = (name: string, type: 'string' | 'date') =>
    ({ name, type, facet: true, sort: false, multiple: true }) as const;
  const lists = { ...domain, attributes: [list('sizes', 'string'), list('days', 'date')] };
  const read = (sizes: string, days: string) =>
    pageOf(
      [[['1', '2', 'Кот', '', sizes, days]], META],
      { ...request, facets: [] },
      { domain: lists, marks, snippetLength: 40 },
    ).results[0]?.attributes;
  assert.deepEqual(read('["S","a,b"]', '-86400,-5,0'), { sizes: ['S', 'a,b'], days: ['1969-12-31', '1970-01-01'] });
  assert.deepEqual(read('S, M', ''), { sizes: ['S, M'] });
  assert.deepEqual(read('["S', '1'), { sizes: ['["S'], days: ['1970-01-01'] });
  assert.deepEqual(read('[]', ''), {});
});

it('with highlights the title is the indexed one, and its marks are in the snippet', () => {
  const title = `${'длинное '.repeat(80)}17" кот`;
  const marked = `17" ${marks.open}кот${marks.close}`;
  const row = ['1', '2', title, 'без слова', '0', '0', '0', marked];
  const { results } = pageOf(
    [[row], META],
    { ...request, facets: [], highlight: true },
    { domain, marks, snippetLength: 40 },
  );
  assert.deepEqual([results[0]?.title, results[0]?.snippet], [title, '17&quot; <em>кот</em> … без слова']);
});

it("zero is a value, and the index's value for missing is not", () => {
  const missing = '-4611686018427387904';
  const { results } = page([
    [
      ['1', '1', 'а', 'б', '0', '0.000000', '0'],
      ['2', '1', 'а', 'б', missing, `${missing}.000000`, missing],
    ],
    META,
    [],
    META,
  ]);
  assert.deepEqual(pluck(results, 'attributes'), [{ n: 0, price: 0, day: '1970-01-01' }, {}]);
});

it('a warning makes a page partial, and a wrong number of result sets is an engine error', () => {
  assert.equal(page([[], [['warning', 'cut'], ...META], [], META]).partial, 'cut');
  assert.equal(page([[], META, [], [['warning', 'a facet cut'], ...META]]).partial, 'a facet cut');
  assert.equal(page([[], [['total_relation', 'gte'], ...META], [], META]).totalRelation, 'gte');
  for (const sets of [[], [[], META], [[], META, []], [[], [], [], META]]) {
    assert.throws(() => page(sets), { name: 'SearchError', reason: 'engine-unavailable' });
  }
});

describe('withoutFloat32Noise', () => {
  for (const value of [0, 81.53, 0.1, -3.99, 1e6, 9999.99, 123456, 16_777_216, 12_500_000]) {
    it(`gives ${value}`, () => {
      assert.equal(withoutFloat32Noise(Number(Math.fround(value).toFixed(6))), value);
    });
  }
});

describe('a snippet', () => {
  const mark = (text: string) => text.replaceAll('[', marks.open).replaceAll(']', marks.close);
  for (const [title, description, snippet] of [
    ['Кот', 'рыжий [кот] & <b>', 'рыжий <em>кот</em> &amp; &lt;b&gt;'],
    ['[Кот]', 'рыжий "зверь"', '<em>Кот</em> … рыжий &quot;зверь&quot;'],
    ['[Кот]', '', '<em>Кот</em>'],
    ['Кот', '', 'Кот'],
    ['', '[C][++.] and [wi][-fi]', '<em>C++</em>. and <em>wi-fi</em>'],
    ['', '[Nintendo Switch], [L/R] 17"', '<em>Nintendo</em> <em>Switch</em>, <em>L/R</em> 17&quot;'],
    ['', `[Type C4'. type: .NET]`, '<em>Type</em> <em>C4</em>&#39;. <em>type</em>: <em>.NET</em>'],
    ['', 'open [only', 'open only'],
    ['', 'close] only', 'close only'],
    ['', '[] [a]', ' <em>a</em>'],
  ] as const) {
    it(`of ${title} / ${description} is ${snippet}`, () => {
      assert.equal(highlighted(mark(title), mark(description), marks, 40).trim(), snippet.trim());
    });
  }

  it('without highlights is cut between words, counting whole characters', () => {
    assert.equal(beginning('раз  два\nтри', 40), 'раз два три');
    assert.equal(beginning('первое слово и второе', 15), 'первое слово и…');
    assert.equal(beginning('первое слово', 10), 'первое…');
    assert.equal(beginning('😀'.repeat(10), 4), `${'😀'.repeat(4)}…`);
  });
});
