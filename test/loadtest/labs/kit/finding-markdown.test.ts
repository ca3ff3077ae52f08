import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FindingTable } from '../../../../loadtest/labs/kit/finding.ts';
import { findingMarkdown } from '../../../../loadtest/labs/kit/markdown.ts';
import { findingOf } from '../../../fakes/finding.ts';
import { HOSTILE } from '../../report/sample-runs.ts';

const MARKUP = [
  HOSTILE,
  '`code` *stars* __lines__ ~struck~ $x$ [a](b) ![c](d) | cell',
  '# heading',
  '1. list',
  '- list',
  '> quotation',
  '```',
  '</details>',
  '<!-- /finding: batch -->',
  '\n\n---\n\n<!-- finding: other -->\n',
];

function hostile(word: string): string {
  const row = { name: word, values: [word], command: `\n${word}`, published: word };
  const table: FindingTable = { title: word, columns: [{ name: word, unit: 'text' }], rows: [row] };
  return findingMarkdown(
    findingOf({
      finding: {
        ...{ title: word, published: word, notes: [word], tables: [table] },
        claims: [{ text: word, figure: 1, unit: 'count', atLeast: 0 }],
        ...{ verdict: 'no', sentence: word },
      },
      record: { machine: word, command: word, startedAt: word },
    }),
  );
}

/** The text without fences and code spans, in which nothing is markup. */
function proseOf(page: string): string {
  return page.replaceAll(/^(`{3,})sh\n[\s\S]*?\n\1$/gm, '').replaceAll(/(?<![\\`])(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '');
}

test('each row of a table has as many cells as the header, and figures are aligned right', () => {
  for (const page of [findingMarkdown(findingOf()), ...MARKUP.map(hostile)]) {
    const tables = proseOf(page)
      .split('\n\n')
      .filter((block) => block.startsWith('|'));
    assert.ok(tables.length > 0);
    for (const table of tables) {
      const cells = table.split('\n').map((row) => row.replaceAll('\\|', '').split('|').length);
      assert.equal(new Set(cells).size, 1, table);
    }
  }
  assert.match(findingMarkdown(findingOf()), /^\|---\|---:\|---:\|---:\|---:\|---\|---\|$/m);
});

test('rows show the published value and the limiting resource', () => {
  const page = findingMarkdown(findingOf());
  assert.match(
    page.replaceAll('\u00a0', ' '),
    /^\| pipeline of 10 \| 402,118\/s \| 2\.1 ms \| 2 MiB \| 52 % \| generator \| 8k\/s, 22 ms \|$/m,
  );
  assert.match(page, /^\| Lua of 10 \| – \| Valkey \|$/m);
});

test('links to plots and to the record are relative to the page', () => {
  const page = findingMarkdown(findingOf());
  assert.match(page, /^!\[Commands a second, by commands in a pipeline\]\(plots\/batch\.svg\)$/m);
  assert.match(page, /\(plots\/batch-asks\.svg\)$/m);
  assert.match(page, /Valkey 8\.0\.1, commit `0123abc` \(\[all figures\]\(records\/batch\.json\)\)\.$/m);
});

test('the verdict is in bold before the sentence and the claims; the command is the last line', () => {
  const page = findingMarkdown(findingOf()).replaceAll('\u00a0', ' ');
  const lines = page.trimEnd().split('\n');
  assert.equal(lines[4], '**Holds here: in part.** Send 100 to 200 commands at once.');
  assert.deepEqual(lines.slice(6, 11), [
    '|  | figure | bound | holds |',
    '|---|---:|---|---|',
    '| rate of a batch of 200 ÷ of single commands | 14 × | ≥ 1.5 × | yes |',
    '| gain of 500 over 200 | −3 % | ≥ 0 %, ≤ 50 % | no |',
    '| rate below 50, limited by the generator | – |  |  |',
  ]);
  assert.match(lines.at(-1) ?? '', /^`npm run experiments -- batch`: measured on 2026-11-21 in .* on 2 shared cores, /);
});

test('commands are folded away, each with the names of its rows; without commands there is no block', () => {
  const page = findingMarkdown(findingOf());
  assert.match(page, /<details><summary>[^\n]*<\/summary>\n\n```sh\n# pipeline of 1\nredis-benchmark [^\n]* -P 1\n#/);
  assert.match(page, /\n```\n\n<\/details>\n/);
  const table = { title: 'one', columns: [], rows: [{ name: 'a', values: [] }] };
  assert.doesNotMatch(findingMarkdown(findingOf({ finding: { tables: [table] } })), /details|```/);
});

test('where rows of several tables have commands, each list has the title of its table', () => {
  const table = (title: string): FindingTable => ({
    title,
    columns: [],
    rows: [{ name: 'a', values: [], command: title }],
  });
  const page = findingMarkdown(findingOf({ finding: { tables: [table('one'), table('two')] } }));
  assert.match(page, /```sh\n## one\n# a\none\n\n## two\n# a\ntwo\n```/);
});

test('measured text never becomes markup, a marker, or the end of a block', () => {
  for (const word of MARKUP) {
    const page = hostile(word);
    assert.doesNotMatch(page, /<!--|\p{Bidi_Control}|[^\P{Cc}\n]/u, word);
    const prose = proseOf(page);
    assert.deepEqual(prose.match(/<[^>]*>/g), ['<details>', '<summary>', '</summary>', '</details>'], word);
    assert.doesNotMatch(prose, /(?<!\\)[~$`_]|(?<![\\!])\[(?!all figures)|(?<!\\)\](?!\((?:plots|records)\/)/, word);
    assert.equal(prose.match(/^(?:#|>|\d+[.)] )/gm)?.length, 1, word);
    assert.equal(prose.match(/^-/gm)?.length, 1, word);
    assert.doesNotMatch(prose, /^- (?:[#>+-]|\d+[.)] )/m, word);
  }
});

test('a fence is longer than any fence in its commands', () => {
  const table = { title: 'one', columns: [], rows: [{ name: 'a', values: [], command: '`````' }] };
  assert.match(findingMarkdown(findingOf({ finding: { tables: [table] } })), /^``````sh\n# a\n`````\n``````$/m);
});

test('without published values the page mentions none', () => {
  assert.doesNotMatch(findingMarkdown(findingOf({ finding: { published: '' } })), /Published/);
});
