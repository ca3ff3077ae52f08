import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { findingSection, MAX_RECORD_BYTES, publishFinding } from '../../../../loadtest/labs/kit/publish.ts';
import { type FakeFindingOptions, findingOf, rateChart } from '../../../fakes/finding.ts';

const [START, END] = ['<!-- finding: batch -->', '<!-- /finding: batch -->'];
const OTHER = '<!-- finding: batch-lua -->\nkept\n<!-- /finding: batch-lua -->';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'serpcache-publish-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function published(page: string, record = findingOf()): string {
  const file = join(folder, 'README.md');
  writeFileSync(file, page);
  publishFinding(record, file);
  return readFileSync(file, 'utf8');
}

function plots(): readonly string[] {
  return readdirSync(join(folder, 'plots')).sort();
}

test('the text between the markers is replaced, and everything else stays', () => {
  const [before, after] = ['\ufeff# Page  \n\ttext `<!-- finding: batch -->` $& $1\n\n', '\n\n## End\nno newline'];
  const page = published(`${before}${START}\nearlier words\n${END}${after}`);
  assert.ok(page.startsWith(`${before}${START}\n## Commands in a batch\n`), page.slice(0, 200));
  assert.ok(page.endsWith(`(records/batch.json)).\n${END}${after}`), page.slice(-200));
  assert.ok(!page.includes('earlier words'));
});

test('a page without exactly one ordered pair of markers stays unchanged, and so do its plots', () => {
  for (const [page, problem] of [
    ['nothing', /README\.md lacks a line "<!-- finding: batch -->"/],
    [START, /lacks a line "<!-- \/finding: batch -->"/],
    [END, /lacks a line "<!-- finding: batch -->"/],
    [`text ${START}\n${END}`, /lacks/],
    [`${START}\n${START}\n${END}`, /"<!-- finding: batch -->" 2 times; one is allowed/],
    [`${START}\n${END}\n${END}`, /"<!-- \/finding: batch -->" 2 times/],
    [`${END}\n${START}`, /has the end of finding batch before its beginning/],
    [`${START}\n${OTHER}\n${END}`, /a marker of finding batch-lua within finding batch$/],
    [`<!-- finding: batch-lua -->\n${START}\n<!-- /finding: batch-lua -->\n${END}`, /batch-lua within finding batch$/],
  ] as const) {
    assert.throws(() => published(page), { message: problem }, page);
    assert.equal(readFileSync(join(folder, 'README.md'), 'utf8'), page);
    assert.throws(plots, { code: 'ENOENT' });
  }
});

test('the record is written beside the page, and the page can be rendered from it again', () => {
  const page = published(`${START}\n${END}\n`);
  const record = readFileSync(join(folder, 'records', 'batch.json'), 'utf8');
  const { name, markdown, plots: drawn } = findingSection(record);
  assert.equal(page, `${START}\n${markdown}${END}\n`);
  assert.deepEqual([name, ...drawn.keys()].sort(), ['batch', ...plots()].sort());
});

test('a record that contains a local path, is too large, or has no commit is not published', () => {
  for (const [wish, fault] of [
    [{ record: { command: 'npm run experiments -- batch --server /home/user/x' } }, /names \/home\/user\/x, which/],
    [{ finding: { notes: ['x'.repeat(MAX_RECORD_BYTES)] } }, /bytes, more than 200000$/],
    [{ record: { commit: undefined } }, /does not say which commit was measured$/],
  ] as const) {
    assert.throws(() => published(`${START}\n${END}\n`, findingOf(wish as FakeFindingOptions)), { message: fault });
    assert.deepEqual(readdirSync(folder), ['README.md']);
  }
});

test('a page, its plots and its record are all written, or none of them', () => {
  published(`${START}\n${END}\n`);
  const before = readFileSync(join(folder, 'README.md'), 'utf8');
  const other = findingOf({ finding: { title: 'Another', charts: [{ ...rateChart(), title: 'Another' }] } });
  const plot = readFileSync(join(folder, 'plots', 'batch.svg'), 'utf8');
  for (const file of ['README.md', join('plots', 'batch.svg'), join('records', 'batch.json')]) {
    // This path cannot be written.
    mkdirSync(join(folder, `${file}.new`));
    assert.throws(() => publishFinding(other, join(folder, 'README.md')), { code: 'EISDIR' });
    assert.equal(readFileSync(join(folder, 'README.md'), 'utf8'), before);
    assert.equal(readFileSync(join(folder, 'plots', 'batch.svg'), 'utf8'), plot);
    rmSync(join(folder, `${file}.new`), { recursive: true });
    assert.deepEqual(readdirSync(folder).sort(), ['README.md', 'plots', 'records']);
    assert.deepEqual(plots(), ['batch.svg']);
  }
});

test('rows that were measured for a shortened time are not published', () => {
  const record = findingOf({ record: { command: 'npm run experiments -- batch --seconds 0.3' } });
  assert.throws(() => published(`${START}\n${END}\n`, record), /measured with ".* --seconds 0\.3": a page shows rows/);
  assert.equal(readFileSync(join(folder, 'README.md'), 'utf8'), `${START}\n${END}\n`);
});

test('a marker inside the text of a finding does not end its section', () => {
  const word = `${END}\n${START}\n<!-- finding: batch-lua -->`;
  const rows = [{ name: word, values: [] }];
  const record = findingOf({
    finding: {
      title: word,
      notes: [word],
      tables: [{ title: word, columns: [], rows }],
      claims: [{ text: word, figure: 1, unit: 'count' }],
      verdict: 'no',
      sentence: word,
    },
    record: { machine: word, command: word },
  });
  const page = published(`${START}\n${END}\n\n${OTHER}\n`, record);
  assert.equal(published(page, record), page);
  assert.ok(page.endsWith(`\n${END}\n\n${OTHER}\n`));
});
