import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../../loadtest/labs/kit/finding.ts';
import { withOverview } from '../../../../loadtest/labs/kit/markdown.ts';
import { findingOf } from '../../../fakes/finding.ts';

const NAMES = ['timeouts', 'batch', 'dns'];
const page = (rows: readonly string[]): string =>
  ['# Page', '<!-- overview -->', '| | does it hold here? |', '|---|---|', ...rows, '<!-- /overview -->', 'rest'].join(
    '\n',
  );
const record = (sentence: string, claims: Finding['claims'] = []) =>
  findingOf({ finding: { title: 'Batches | of', claims, verdict: 'partly', sentence } });

test('the row of a finding is placed in page order, and the other rows stay', () => {
  const rows = [
    '| `dns` Names | **yes**: kept |',
    '| `timeouts` Times | **no**: kept |',
    '| `gone` | not on the page |',
  ];
  const shown = withOverview(page(rows), record('Send 50 at once.'), NAMES);
  assert.equal(
    shown,
    page([
      '| `timeouts` Times | **no**: kept |',
      '| `batch` Batches \\| of | **in part**: Send 50 at once. |',
      '| `dns` Names | **yes**: kept |',
    ]),
  );
  assert.equal(withOverview(shown, record('Send 50 at once.'), NAMES), shown);
});

test('the overview counts the claims that hold among those that could be seen', () => {
  const claim = (figure: number | undefined, atLeast?: number) =>
    ({ text: 'x', figure, unit: 'count', ...(atLeast !== undefined && { atLeast }) }) as const;
  const shown = withOverview(
    page([]),
    record('Why.', [claim(1, 1), claim(0, 1), claim(undefined, 1), claim(5)]),
    NAMES,
  );
  assert.match(shown, /\*\*in part\*\*, 1 of 2 claims: Why\. \|$/m);
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
