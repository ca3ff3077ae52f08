import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claim, Finding, FindingRecord } from '../../../../loadtest/labs/kit/finding.ts';
import { findingMarkdown } from '../../../../loadtest/labs/kit/markdown.ts';
import { printFinding } from '../../../../loadtest/labs/kit/print.ts';
import { findingOf } from '../../../fakes/finding.ts';
import { HOSTILE } from '../../report/sample-runs.ts';

const MARKUP = [
  HOSTILE,
  `${HOSTILE}\u001b[31m`,
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

function hostile(word: string): FindingRecord {
  const finding: Partial<Finding> = {
    title: word,
    published: word,
    notes: [word],
    tables: [
      {
        title: word,
        columns: [{ name: word, unit: 'text' }],
        rows: [{ name: word, values: [word], published: word }],
      },
    ],
    claims: [{ text: word, figure: 1, unit: 'count', atLeast: 0 }],
    verdict: 'no',
    sentence: word,
  };
  return findingOf({ finding, record: { machine: word, command: word, startedAt: word } });
}

test('measured text never becomes markup or a marker of a page, nor a control character of a terminal', () => {
  for (const word of MARKUP) {
    const page = findingMarkdown(hostile(word));
    assert.doesNotMatch(page, /<!--|\p{Bidi_Control}|[^\P{Cc}\n]/u, word);
    /** The text without code spans, in which nothing is markup. */
    const prose = page.replaceAll(/(?<![\\`])(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '');
    assert.doesNotMatch(prose, /<[^>]*>/, word);
    assert.doesNotMatch(prose, /(?<!\\)[~$`_]|(?<![\\!])\[(?!all figures)|(?<!\\)\](?!\((?:plots|records)\/)/, word);
    assert.equal(prose.match(/^(?:#|>|\d+[.)] )/gm)?.length, 1, word);
    assert.equal(prose.match(/^-/gm)?.length, 1, word);
    assert.doesNotMatch(prose, /^- (?:[#>+-]|\d+[.)] )/m, word);
    assert.doesNotMatch(printFinding(hostile(word)).replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}]/u, word);
  }
});

test('a value that could not be measured is a dash, never `undefined` or `NaN`', () => {
  const rows = [undefined, Number.NaN].map((value) => ({ name: 'a', values: [value] }));
  const table = {
    title: 'one',
    columns: [{ name: 'rate', unit: 'per-second' as const }],
    rows: [...rows, { name: 'a', values: [] }],
  };
  const text = printFinding(findingOf({ finding: { tables: [table] } }));
  assert.equal(text.match(/^ {2}a +–$/gm)?.length, 3);
  assert.doesNotMatch(text, /undefined|NaN/);
});

test('the section of an experiment has eight claims, those with a bound first, and one plot; another page shows all', () => {
  const claim = (text: string, atLeast?: number): Claim => ({ text, figure: 1, unit: 'count', atLeast });
  const free = Array.from({ length: 8 }, (_, at) => claim(`free ${at}`));
  const claims = [...free, claim('deciding', 1)];
  const brief = findingMarkdown(findingOf({ finding: { claims } }));
  const rows = [...brief.matchAll(/^\| (free \d|deciding) /gm)].map(([, text]) => text);
  assert.deepEqual(rows, ['deciding', ...free.slice(0, 7).map(({ text }) => text)]);
  assert.deepEqual(brief.match(/plots\/[\w-]+\.svg/g), ['plots/batch.svg']);
  assert.doesNotMatch(brief, /pipeline of 10|^- /m);
  const whole = findingMarkdown(findingOf({ finding: { claims }, record: { command: 'npm run peers' } }));
  assert.equal(whole.match(/^\| (?:free \d|deciding) /gm)?.length, 9);
  assert.match(whole, /pipeline of 10/);
  assert.equal(whole.match(/plots\/[\w-]+\.svg/g)?.length, 2);
});
