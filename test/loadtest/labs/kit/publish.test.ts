import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { findingSection, MAX_RECORD_BYTES, publishFinding } from '../../../../loadtest/labs/kit/publish.ts';
import { type FakeFindingOptions, findingOf, rateChart } from '../../../fakes/finding.ts';
import { assertNone } from '../../../pluck.ts';

const [START, END] = ['<!-- finding: batch -->', '<!-- /finding: batch -->'];
const OTHER = '<!-- finding: batch-lua -->\nkept\n<!-- /finding: batch-lua -->';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'serpcache-publish-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pageText = () => readFileSync(join(folder, 'README.md'), 'utf8');

function published(page: string, record = findingOf()): string {
  writeFileSync(join(folder, 'README.md'), page);
  publishFinding(record, join(folder, 'README.md'));
  return pageText();
}

test('the text between the markers is replaced by what the record beside the page renders, and all else stays', () => {
  const [before, after] = ['\ufeff# Page  \n\ttext `<!-- finding: batch -->` $& $1\n\n', `\n\n${OTHER}\nno newline`];
  const page = published(`${before}${START}\nearlier words\n${END}${after}`);
  const { markdown, plots } = findingSection(readFileSync(join(folder, 'records', 'batch.json'), 'utf8'));
  assert.equal(page, `${before}${START}\n${markdown}${END}${after}`);
  assert.deepEqual(readdirSync(join(folder, 'plots')), [...plots.keys()]);
});

test('a page without exactly one ordered pair of markers stays unchanged', () => {
  for (const page of [
    'nothing',
    START,
    END,
    `text ${START}\n${END}`,
    `${START}\n${START}\n${END}`,
    `${START}\n${END}\n${END}`,
    `${END}\n${START}`,
    `${START}\n${OTHER}\n${END}`,
    `<!-- finding: batch-lua -->\n${START}\n<!-- /finding: batch-lua -->\n${END}`,
  ]) {
    assert.throws(() => published(page), /^Error: README\.md needs one line "<!-- finding: batch -->"/, page);
    assert.equal(pageText(), page);
    assert.deepEqual(readdirSync(folder), ['README.md']);
  }
});

test('a record that is too large, has a local path or no commit, or is of shortened rows, is not published', () => {
  for (const [wish, fault] of [
    [{ record: { command: 'npm run experiments -- batch --server /home/user/x' } }, /names \/home\/user\/x, which/],
    [{ finding: { notes: ['x'.repeat(MAX_RECORD_BYTES)] } }, /bytes, more than 200000$/],
    [{ record: { commit: undefined } }, /does not say which commit was measured$/],
    [{ record: { command: 'npm run experiments -- batch --seconds 0.3' } }, /--seconds 0\.3": a page shows rows/],
  ] as const) {
    assert.throws(() => published(`${START}\n${END}\n`, findingOf(wish as FakeFindingOptions)), { message: fault });
    assert.deepEqual(readdirSync(folder), ['README.md']);
  }
});

test('a page, its plots and its record are all written, or none of them', () => {
  const before = published(`${START}\n${END}\n`);
  const other = findingOf({ finding: { title: 'Another', charts: [{ ...rateChart(), title: 'Another' }] } });
  const plot = readFileSync(join(folder, 'plots', 'batch.svg'), 'utf8');
  for (const file of ['README.md', join('plots', 'batch.svg'), join('records', 'batch.json')]) {
    // This path cannot be written.
    mkdirSync(join(folder, `${file}.new`));
    assert.throws(() => publishFinding(other, join(folder, 'README.md')), { code: 'EISDIR' });
    assert.equal(pageText(), before);
    assert.equal(readFileSync(join(folder, 'plots', 'batch.svg'), 'utf8'), plot);
    rmSync(join(folder, `${file}.new`), { recursive: true });
    assertNone(readdirSync(folder, { recursive: true, encoding: 'utf8' }), (one) => one.endsWith('.new'));
  }
});
