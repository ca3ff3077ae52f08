import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { FINDING_FILE, keepFinding, readFinding } from '../../../../loadtest/labs/kit/keep.ts';
import { replaceFiles } from '../../../../loadtest/labs/kit/publish.ts';
import { findingOf } from '../../../fakes/finding.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 10, 20, 30);

let out: string;
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'serpcache-keep-'));
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

test('a finding is kept in its own folder, with a plot for each chart', async () => {
  const folder = await keepFinding(findingOf(), out, NOW_MS);
  assert.equal(basename(folder), '2026-11-21T10-20-30-batch');
  assert.deepEqual(readdirSync(folder).sort(), ['batch-asks.svg', 'batch.svg', FINDING_FILE]);
  assert.match(readFileSync(join(folder, FINDING_FILE), 'utf8'), /^\{\n {2}"version": 2,\n/);
});

test('two findings within one second have a folder each', async () => {
  const folders = [await keepFinding(findingOf(), out, NOW_MS), await keepFinding(findingOf(), out, NOW_MS)];
  assert.equal(new Set(folders).size, 2);
});

test('a kept finding is read back unchanged, including missing values', async () => {
  const folder = await keepFinding(findingOf(), out, NOW_MS);
  assert.deepEqual(readFinding(join(folder, FINDING_FILE)), findingOf());
});

test('the figures are kept even when a chart cannot be written', async () => {
  const record = findingOf({
    finding: { charts: findingOf().finding.charts.map((chart) => ({ ...chart, id: 'a/b' })) },
  });
  await assert.rejects(keepFinding(record, out, NOW_MS), { message: /a chart cannot be called "a\/b"/ });
  const [folder = ''] = readdirSync(out);
  assert.deepEqual(readdirSync(join(out, folder)), [FINDING_FILE]);
});

test('a finding that cannot be written leaves no folder, and files that cannot all be written leave none', async () => {
  const endless = findingOf();
  // JSON cannot write this.
  Object.assign(endless.finding, { notes: [1n] });
  await assert.rejects(keepFinding(endless, out, NOW_MS), /BigInt/);
  assert.deepEqual(readdirSync(out), []);
  const files = [join(out, 'a'), join(out, 'no such folder', 'b')];
  assert.throws(() => replaceFiles(new Map(files.map((file) => [file, 'text']))), { code: 'ENOENT' });
  assert.deepEqual(readdirSync(out), []);
});

test('a path that is not a regular file is never replaced', () => {
  mkdirSync(join(out, 'folder'));
  assert.throws(() => replaceFiles(new Map([[join(out, 'folder'), 'text']])), /folder is no file$/);
  assert.deepEqual(readdirSync(out), ['folder']);
});

test('a finding whose name is not a valid folder name leaves no folder', async () => {
  await assert.rejects(keepFinding(findingOf({ finding: { name: '../x' } }), out, NOW_MS), {
    message: /a finding cannot be called "\.\.\/x"/,
  });
  assert.deepEqual(readdirSync(out), []);
});

test('a file that is not a finding is refused in one line', () => {
  const file = join(out, FINDING_FILE);
  assert.throws(() => readFinding(file), { message: `${file} cannot be read` });
  for (const [text, problem] of [
    ['{', 'is no JSON'],
    ['[]', 'is no kept finding: it has no version'],
    ['null', 'is no kept finding: it has no version'],
    ['{"version":1}', 'is a finding of version 1; 2 can be read'],
    ['{"version":2}', 'is damaged: '],
    [JSON.stringify({ ...findingOf(), finding: { ...findingOf().finding, charts: [{}] } }), 'is damaged: '],
  ] as const) {
    writeFileSync(file, text);
    assert.throws(
      () => readFinding(file),
      ({ message }: Error) => message.startsWith(`${file} ${problem}`) && !message.includes('\n'),
      text,
    );
  }
});
