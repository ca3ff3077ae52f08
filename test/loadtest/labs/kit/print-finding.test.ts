import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FindingTable, Verdict } from '../../../../loadtest/labs/kit/finding.ts';
import { findingMarkdown } from '../../../../loadtest/labs/kit/markdown.ts';
import { printFinding } from '../../../../loadtest/labs/kit/print.ts';
import { findingOf } from '../../../fakes/finding.ts';
import { HOSTILE } from '../../report/sample-runs.ts';

function tableOf(rows: FindingTable['rows']): FindingTable {
  return { title: 'one', columns: [{ name: 'rate', unit: 'per-second' }], rows };
}

function printed(table: FindingTable): readonly string[] {
  return printFinding(findingOf({ finding: { tables: [table] } })).split('\n');
}

test('figures are aligned right; names and published texts are aligned left', () => {
  const lines = printFinding(findingOf()).split('\n');
  const rows = lines.filter((line) => /^ {2}pipeline of \d+ {2}/.test(line) || /rate +p99/.test(line));
  assert.equal(rows.length, 7);
  for (const part of [/rate|\/s/, /p99|ms/]) {
    assert.equal(
      new Set(rows.map((row) => row.search(part) + (part.exec(row)?.[0].length ?? 0))).size,
      1,
      String(part),
    );
  }
  assert.equal(new Set(rows.map((row) => row.search(/limit|generator|store/))).size, 1);
  assert.equal(new Set(rows.map((row) => row.search(/published|[\d.]+k\/s, /))).size, 1);
});

test('the columns "limit" and "published" exist only when a row has a value for them', () => {
  assert.ok(
    !printed(tableOf([{ name: 'a', values: [1] }]))
      .join('\n')
      .match(/\blimit\b|\bpublished\b/),
  );
  const lines = printed(
    tableOf([
      { name: 'a', values: [1] },
      { name: 'b', values: [2], limit: 'both', published: '3/s' },
    ]),
  );
  assert.ok(lines.some((line) => /rate +limit +published$/.test(line)));
  assert.ok(lines.some((line) => /^ {2}b +2\/s +both +3\/s$/.test(line)));
});

test('a command is one line however long it is, and is printed once for all of its rows', () => {
  const command = `redis-benchmark ${'-t get '.repeat(60)}--quoted "a  b"`;
  const lines = printed(
    tableOf([
      { name: 'first', values: [1], command },
      { name: 'second', values: [2], command },
      { name: 'third', values: [3], command: 'other\ncommand' },
    ]),
  );
  assert.ok(lines.includes(`    first; second: ${command}`));
  assert.ok(lines.includes('    third: other command'));
});

test('the use of the machine by other processes is mentioned only where it is visible', () => {
  const told = (othersCores?: number): boolean => {
    const record = findingOf({ record: { ...(othersCores !== undefined && { othersCores }) } });
    const both = [printFinding(record).replaceAll('\n  ', ' '), findingMarkdown(record)].map((text) =>
      /\. Meanwhile others took 0\.42 of the machine's cores: rates are lower/.test(text),
    );
    assert.equal(both[0], both[1]);
    assert.equal(printFinding(record).includes('Meanwhile'), both[0]);
    return both[0] === true;
  };
  assert.deepEqual([told(0.42), told(0.1), told(0), told()], [true, false, false, false]);
});

test('a value that could not be measured is a dash, never `undefined` or `NaN`', () => {
  const text = printed(
    tableOf([
      { name: 'a', values: [undefined] },
      { name: 'b', values: [Number.NaN] },
      { name: 'c', values: [] },
    ]),
  ).join('\n');
  assert.equal(text.match(/^ {2}[abc] +–$/gm)?.length, 3);
  assert.doesNotMatch(text, /undefined|NaN/);
});

test('the last line says whether the statement holds, by a sign and in words', () => {
  const last = (verdict: Verdict, published = 'x'): string => {
    const finding = { verdict, published, sentence: 'Do this.' };
    return printFinding(findingOf({ finding })).split('\n').at(-1) ?? '';
  };
  assert.equal(last('yes'), '✓ Holds here: yes. Do this.');
  assert.equal(last('partly'), '~ Holds here: in part. Do this.');
  assert.equal(last('no'), '✕ Holds here: no. Do this.');
  assert.equal(last('unseen'), '? Holds here: not seen. Do this.');
  assert.equal(last('yes', ''), '✓ Holds: yes. Do this.');
});

test('claims are a table of figure, bound and whether it holds, before the last line', () => {
  const lines = printFinding(findingOf()).replaceAll('\u00a0', ' ').split('\n');
  assert.ok(lines.some((line) => /^ +figure +bound +holds$/.test(line)));
  assert.ok(lines.some((line) => /^ {2}rate of a batch of 200 ÷ of single commands +14 × +≥ 1\.5 × +yes$/.test(line)));
  assert.ok(lines.some((line) => /^ {2}gain of 500 over 200 +−3 % +≥ 0 %, ≤ 50 % +no$/.test(line)));
});

test('sentences fit into 110 columns', () => {
  const sentence = 'words of a sentence '.repeat(30);
  const text = printFinding(
    findingOf({ finding: { published: sentence, notes: [sentence], verdict: 'no', sentence } }),
  );
  assert.deepEqual(
    text.split('\n').filter((line) => line.length > 110),
    [],
  );
});

test('the command to repeat the run can be copied, and the machine is described beside it', () => {
  const lines = printFinding(findingOf()).split('\n');
  assert.ok(lines.includes('- Again: npm run experiments -- batch'));
  assert.ok(lines.some((line) => line.startsWith('- Measured in 1 min 47 s on 2 shared cores, 23 GiB')));
});

test('control characters in external text do not reach the terminal', () => {
  const word = `${HOSTILE}\u001b[31m`;
  const table = {
    title: word,
    columns: [{ name: word, unit: 'text' as const }],
    rows: [{ name: word, values: [word], command: word, published: word }],
  };
  const finding = {
    title: word,
    published: word,
    notes: [word],
    tables: [table],
    claims: [{ text: word, figure: 1, unit: 'count' as const }],
    ...{ verdict: 'no' as const, sentence: word },
  };
  const text = printFinding(findingOf({ finding, record: { machine: word, command: word } }));
  assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}]/u);
});
