import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withOverview } from '../../../../loadtest/labs/kit/markdown.ts';
import { findingOf } from '../../../fakes/finding.ts';

const NAMES = ['timeouts', 'batch', 'dns'];
const page = (rows: readonly string[]): string =>
  ['# Page', '<!-- overview -->', '| | does it hold here? |', '|---|---|', ...rows, '<!-- /overview -->', 'rest'].join(
    '\n',
  );
const record = (sentence: string) =>
  findingOf({ finding: { title: 'Batches | of', lesson: { holds: 'partly', sentence } } });

test('the row of a finding is placed in page order, and the other rows stay', () => {
  const rows = [
    '| `dns` Names | **yes**: kept |',
    '| `timeouts` Times | **no**: kept |',
    '| `gone` | not on the page |',
  ];
  const shown = withOverview(page(rows), record('Holds in part: 50 at once do 4 ×; the rest is long.'), NAMES);
  assert.equal(
    shown,
    page([
      '| `timeouts` Times | **no**: kept |',
      '| `batch` Batches \\| of | **in part**: 50 at once do 4 × |',
      '| `dns` Names | **yes**: kept |',
    ]),
  );
  assert.equal(withOverview(shown, record('Holds in part: 50 at once do 4 ×; other.'), NAMES), shown);
});

test('the overview shows the first clause of a lesson and does not say twice whether it holds', () => {
  const gist = (sentence: string): string =>
    /\*\*: (.*) \|$/m.exec(withOverview(page([]), record(sentence), NAMES))?.[1] ?? '';
  assert.equal(gist('It holds: 3 of 4 were lost. And more.'), '3 of 4 were lost');
  assert.equal(gist('It does not hold here: nothing was.'), 'nothing was');
  assert.equal(gist('It could not be seen here: half was lost. Why.'), 'half was lost');
  assert.equal(gist('It holds in part, replicas stay away: 1.5 s.'), 'replicas stay away: 1.5 s');
  assert.equal(
    gist('It holds here: 8 of 9 did not finish (from x1; 9 begun); x3 was held.'),
    '8 of 9 did not finish (from x1; 9 begun)',
  );
  assert.equal(gist('From 200 to 2,000 nothing fell; p99 rose.'), 'From 200 to 2,000 nothing fell');
});

test('a table with one marker missing, or an edited one, is refused: it would stay outdated', () => {
  for (const edited of [
    page([]).replace('<!-- overview -->', '<!-- overview: -->'),
    page([]).replace('<!-- /overview -->', '<!--/overview-->'),
    page([]).replace('<!-- /overview -->', ''),
    `${page([])}\n<!-- overview -->`,
    '<!-- /overview -->\n<!-- overview -->',
    '<!-- Overview -->',
  ]) {
    assert.throws(() => withOverview(edited, record('x'), NAMES), /one line "<!-- overview -->" and one/, edited);
  }
});

test('a page without a table of findings stays unchanged', () => {
  assert.equal(withOverview('# Page\n', record('x'), NAMES), '# Page\n');
});
