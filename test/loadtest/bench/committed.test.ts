import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { BENCHES } from '../../../loadtest/bench/benches.ts';
import { goalCells, PAGE, pageMarkdown, publishPage, SECTION, serverCells } from '../../../loadtest/bench/tables.ts';
import { COMMITTED_STARTS, figureOf, readResults, resultOf, writeResult } from '../../../loadtest/bench/verdict.ts';
import { withSection } from '../../../loadtest/labs/kit/publish.ts';

const RATES = [
  { serpcache: 61_234, 'bare node:http': 100_000, 'nginx proxy_cache': 50_000 },
  { serpcache: 58_000, 'bare node:http': 100_000, 'nginx proxy_cache': 40_000 },
  { serpcache: 65_000, 'bare node:http': 100_000, 'nginx proxy_cache': 60_000 },
];
const MEASURED = {
  ...{ name: 'l1', baseline: 'bare node:http', subject: 'serpcache', commit: '066071a', rates: RATES, seconds: 5 },
  ...{ command: 'npm run bench -- l1 --commit', startedAt: '2026-11-22T12:00:00.000Z' },
};

function file(t: TestContext, name = 'committed.json'): string {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-committed-'));
  t.after(() => rmSync(folder, { recursive: true }));
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

test('a file of another kind is refused, not read as an empty one', (t) => {
  const path = file(t);
  for (const text of ['{', '{}', '{"version":1,"benches":{}}', '{"version":2,"benches":{"l1":{"figure":0.6}}}']) {
    writeFileSync(path, text);
    assert.throws(() => readResults(path), /committed\.json cannot be read/, text);
  }
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

test('the servers of a bench stand in the order of their speed, with the processor time of a request', async () => {
  const { rows } = serverCells({ l1: await resultOf(MEASURED) });
  assert.deepEqual(rows, [
    ['l1', 'bare node:http (1.00)', '100,000', '10.0', '1.00', '1.00–1.00'],
    ['l1', 'serpcache', '61,234', '16.3', '0.61', '0.58–0.65'],
    ['l1', 'nginx proxy_cache', '50,000', '20.0', '0.50', '0.40–0.60'],
  ]);
});

test('publishing replaces the tables of the page and keeps what was written by hand', async (t) => {
  const page = file(t, 'README.md');
  writeFileSync(page, 'before\n\n<!-- finding: hits -->\nold\n<!-- /finding: hits -->\n\nafter\n');
  publishPage({ l1: await resultOf(MEASURED) }, page);
  const text = readFileSync(page, 'utf8');
  assert.ok(text.startsWith('before\n\n<!-- finding: hits -->\n|'), text);
  assert.match(text, /\| l1 \| bare node:http \| 0\.61 \| 0\.58–0\.65 \| 1\.25 \| 1\.10 \| below \|/);
  assert.match(text, /`npm run bench -- l1 --commit`, 3 starts, 5 s of load.*2026-11-22, commit `066071a`/);
  assert.ok(text.endsWith('<!-- /finding: hits -->\n\nafter\n') && !text.includes('old'), text);
});
