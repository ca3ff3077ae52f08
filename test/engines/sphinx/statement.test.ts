import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { createMarks } from '../../../src/engines/sphinx/rows.ts';
import {
  createSphinxStatements,
  matchText,
  quote,
  type StatementOptions,
} from '../../../src/engines/sphinx/statement.ts';
import type { SearchDomain, SearchRequest } from '../../../src/search/domain.ts';
import { anyCharacter } from '../../any-character.ts';
import { ask } from '../../contract/engine-truth.ts';

const domain: SearchDomain = {
  name: 'd',
  attributes: [
    { name: 'city', type: 'string', facet: true, sort: true },
    { name: 'rooms', type: 'integer', facet: true, sort: true },
    { name: 'price', type: 'number', facet: false, sort: true },
    { name: 'posted', type: 'date', facet: true, sort: true },
  ],
  context: [],
  answerProfile: '',
};
const OPTIONS: StatementOptions = {
  domain,
  index: 'd',
  ranker: 'sph04',
  maxMatches: 1000,
  snippetLength: 200,
  marks: createMarks(() => 0),
  dialect: 'sphinx',
};

function statement(
  rest: Partial<SearchRequest> = {},
  { traceparent, ...options }: Partial<StatementOptions> & { readonly traceparent?: string } = {},
): string | undefined {
  const text = matchText('кот');
  assert.ok(text);
  const request = ask('кот', { highlight: false, ...rest });
  return createSphinxStatements({ ...OPTIONS, ...options })(request, text, { maxQueryTimeMs: 900.7, traceparent });
}

it('one round trip has the results and each facet, each followed by SHOW META', () => {
  const filters = [{ kind: 'numbers', attribute: 'price', values: [1.5, 2] }] as const;
  const statements = (statement({ facets: ['city', 'posted'], filters }) ?? '').split('; ');
  assert.deepEqual(
    statements.map((sql) => sql.replace(/ FROM .*/, '')),
    [
      'SELECT id, WEIGHT() AS _weight, title, description, city, rooms, price, posted, (price=1.5 OR price=2) AS _x0',
      'SHOW META',
      'SELECT city, COUNT(*) AS _count, (price=1.5 OR price=2) AS _x0',
      'SHOW META',
      'SELECT IDIV(posted,86400) AS _day, COUNT(*) AS _count, (price=1.5 OR price=2) AS _x0',
      'SHOW META',
    ],
  );
  for (const sql of statements.filter((each) => each.startsWith('SELECT'))) {
    assert.match(sql, / FROM d WHERE MATCH\('кот'\) AND _x0=1 .* OPTION max_matches=1000, max_query_time=900, ranker=/);
  }
});

it('a search in a trace says so in each of its queries, where the query log shows it', () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const statements = (statement({ facets: ['city'] }, { traceparent }) ?? '').split('; ');
  const selects = statements.filter((each) => each.startsWith('SELECT'));
  assert.equal(selects.length, 2);
  for (const sql of selects)
    assert.ok(sql.includes(`max_query_time=900, comment='traceparent=${traceparent}', ranker=`));
});

it('never asks for results beyond max_matches, for any configuration', () => {
  assert.match(statement({}, { maxMatches: 200_000_000 }) ?? '', /max_matches=1000,/);
  assert.match(statement({}, { maxMatches: 0 }) ?? '', /max_matches=1,/);
  const small = { maxMatches: 100 };
  assert.match(statement({ page: 5, limit: 20 }, small) ?? '', /LIMIT 80, 20 OPTION/);
  assert.match(statement({ page: 6, limit: 20 }, small) ?? '', /LIMIT 0 OPTION/);
  assert.match(statement({ page: 2, limit: 70 }, small) ?? '', /LIMIT 70, 30 OPTION/);
});

it('tells only Manticore to count all matches', () => {
  assert.match(statement({}, { dialect: 'manticore' }) ?? '', /cutoff=0/);
  assert.doesNotMatch(statement() ?? '', /cutoff/);
});

it('a highlighted title is a column besides the title, because SNIPPET cuts it', () => {
  assert.match(
    statement({ highlight: true }) ?? '',
    /^SELECT id, WEIGHT\(\) AS _weight, title, SNIPPET\(description, 'кот', [^)]*\) AS _description, city, rooms, price, posted, SNIPPET\(title, 'кот', [^)]*\) AS _title FROM/,
  );
});

it('a request that cannot match anything has no statement', () => {
  assert.equal(statement({ filters: [{ kind: 'numbers', attribute: 'rooms', values: [1.5] }] }), undefined);
  assert.equal(statement({ filters: [{ kind: 'strings', attribute: 'city', values: [''] }] }), undefined);
  assert.equal(statement({ filters: [{ kind: 'range', attribute: 'price', from: 2, to: 1 }] }), undefined);
});

it('numbers are written in the syntax of searchd', () => {
  const where = (filter: SearchRequest['filters'][number]) =>
    statement({ filters: [filter] })?.match(/ AND (.*) ORDER/)?.[1] ?? statement({ filters: [filter] });
  assert.match(
    String(where({ kind: 'range', attribute: 'rooms', from: -1e300, to: 1e300 })),
    /rooms>=-9223372036854775807 AND rooms<=9223372036854775807 AND/,
  );
  assert.match(String(where({ kind: 'range', attribute: 'price', from: 1e-9 })), /price>=0\.00000000100000000000 /);
  assert.match(String(where({ kind: 'range', attribute: 'posted', from: -1, to: 0 })), />=-86400 AND posted<=86399 /);
});

it('a name that cannot stand in a statement is refused at creation', () => {
  const named = (name: string) => ({
    ...domain,
    attributes: [{ name, type: 'integer' as const, facet: true, sort: true }],
  });
  for (const name of ['a`b', 'a b', "a'b", '_x0', 'weight', 'Order', 'count', '1a', '']) {
    assert.throws(() => statement({}, { domain: named(name) }), /Sphinx (takes|keeps)/, name);
  }
  for (const index of ['a; DROP', '', 'a,', 'a b']) assert.throws(() => statement({}, { index }), /index names/, index);
  for (const ranker of ['x; y', "expr('a;b')", ''])
    assert.throws(() => statement({}, { ranker }), /not a ranker/, ranker);
  assert.doesNotThrow(() => statement({}, { index: 'a, b_2', ranker: "expr('sum(lcs)*1000+bm25')" }));
});

it('a string literal ends at its own quote for any content', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const literal = quote(text);
      assert.match(literal, /^'(?:[^'\\\0]|\\['\\])*'$/);
    }),
  );
});
