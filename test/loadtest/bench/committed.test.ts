import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { BENCHES } from '../../../loadtest/bench/benches.ts';
import { goalCells, PAGE, pageMarkdown, SECTION } from '../../../loadtest/bench/tables.ts';
import { COMMITTED_STARTS, figureOf, readResults, resultOf, writeResult } from '../../../loadtest/bench/verdict.ts';
import { withSection } from '../../../loadtest/labs/kit/publish.ts';
import { temporaryFolder } from '../../folder.ts';

const RATES = [
  { serpcache: 61_234, 'bare node:http': 100_000, 'nginx proxy_cache': 50_000 },
  { serpcache: 58_000, 'bare node:http': 100_000, 'nginx proxy_cache': 40_000 },
  { serpcache: 65_000, 'bare node:http': 100_000, 'nginx proxy_cache': 60_000 },
];
const MEASURED = {
  name: 'l1',
  baseline: 'bare node:http',
  subject: 'serpcache',
  commit: '066071a',
  rates: RATES,
  seconds: 5,
  command: 'npm run bench -- l1 --commit',
  startedAt: '2026-11-22T12:00:00.000Z',
};

function file(t: TestContext, name = 'committed.json'): string {
  const folder = temporaryFolder(t);
  return join(folder, name);
}

test('a result says how it was measured, and replaces only that of its own bench', async (t) => {
  const path = file(t);
  assert.deepEqual(readResults(path), {});
  const first = await resultOf(MEASURED);
  assert.deepEqual([first.figure, first.noise, first.starts], [0.6123, 0.0323, [0.6123, 0.58, 0.65]]);
  assert.deepEqual([first.commit, first.seconds, first.startedAt], ['066071a', 5, MEASURED.startedAt]);
  assert.match(first.machine, /cores?, \d+ GiB/);
  writeResult('l1', first, path);
  const other = { ...first, figure: 0.9 };
  writeResult('l2', other, path);
  const last = { ...other, noise: 0.1 };
  assert.deepEqual(writeResult('l2', last, path), { l1: first, l2: last });
  assert.deepEqual(readResults(path), { l1: first, l2: last });
  assert.deepEqual(readdirSync(join(path, '..')), ['committed.json']);
});

test('committed figures come from their own starts, of a bench that exists, and the page shows them', () => {
  const results = readResults();
  for (const [name, { starts, figure, noise }] of Object.entries(results)) {
    assert.ok(name in BENCHES, name);
    assert.equal(starts.length, COMMITTED_STARTS);
    assert.deepEqual(figureOf(starts), { figure, noise });
  }
  const page = readFileSync(PAGE, 'utf8');
  if (Object.keys(results).length > 0) {
    assert.equal(withSection(page, { name: SECTION, markdown: pageMarkdown(results) }, 'README.md'), page);
  }
});

test('each goal has a row with the median of the ratios of its starts and its verdict', async () => {
  const { rows } = goalCells({ l1: await resultOf(MEASURED), control: await resultOf(MEASURED) });
  assert.deepEqual(rows, [
    ['l1', 'bare node:http', '0.61', '0.58–0.65', '1.25', '1.10', 'below'],
    ['l1', 'nginx proxy_cache', '1.22', '1.08–1.45', '1.25', '1.00', 'floor'],
    ['control', 'bare node:http', '0.61', '0.58–0.65', '', '', ''],
  ]);
});
