import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingMarkdown } from '../../loadtest/labs/kit/markdown.ts';
import { parseRecord, recordText } from '../../loadtest/labs/kit/publish.ts';
import { type FaultsFile, findingsOf, type RowResult } from './publish.ts';
import { FAMILIES } from './registry.ts';
import { phaseReports } from './report.ts';

const ALL = Object.values(FAMILIES)
  .flat()
  .map(({ name }): RowResult => ({ name, ...measured() }));

function measured() {
  const nothing = phaseReports([]);
  const phase = { ...nothing.before, requests: 100, hitRatio: 0.93, unanswered: 0, p95Ms: 2 };
  const subject = { ...nothing, before: phase, fault: { ...phase, hitRatio: 0.5, unanswered: 0.1, p95Ms: 6 } };
  return {
    ...{ subject, control: subject, wrong: [], hung: 0, broken: [], recoveredAfterMs: 1500 },
    engine: { searches: 30, distinct: 20 },
  } as unknown as Omit<RowResult, 'name'>;
}

/** As read from a file: NaN is null. */
function fileOf(over: Partial<FaultsFile> = {}): FaultsFile {
  const file: FaultsFile = {
    ...{ machine: '2 cores, 4 GiB, Linux 6.1', startedAt: '2026-11-22T15:00:00.000Z', tookSeconds: 840 },
    ...{ commit: '0123abc', seed: 1, rows: ALL, figures: [] },
    ...over,
  };
  return parseRecord(JSON.stringify(file)) as FaultsFile;
}

function shown(file: FaultsFile): string {
  return findingsOf(file)
    .map((one) => findingMarkdown(parseRecord(recordText(one)) as typeof one))
    .join('')
    .replaceAll('\u00a0', ' ');
}

test('the matrix has a table for each family, with hits, pages, times and the promise of each row', () => {
  const page = shown(fileOf());
  for (const family of Object.keys(FAMILIES)) assert.ok(page.includes(`**${family}**`), family);
  assert.match(
    page,
    /^\| node-killed \| kept \| 93 % \| 50 % \| 50 % \| 10 % \| 3 × \| 1\.5 × \| 1\.5 s \| 0 \| 0 \| – \| – \|$/m,
  );
  assert.match(page, /^\*\*Holds: yes\.\*\* /m);
  assert.match(page, /^\| rows that kept their promise \| (\d+) \| ≥ \1 \| yes \|$/m);
  assert.match(page, /^\| requests with a wrong answer \| 0 \|/m);
  assert.match(page, /^\| requests without an answer \| 0 \|/m);
  assert.match(page, /^`npm run faults`: measured on 2026-11-22 in 14 min 00 s/m);
});

test('a broken row and an invalid row are shown as such, with the reason', () => {
  const rows = ALL.map((row) => {
    if (row.name === 'loading') return { ...row, broken: ['3 hung requests'] };
    return row.name === 'failover' ? { name: row.name, broken: [], invalid: 'could not be run', tries: [{}, {}] } : row;
  });
  const page = shown(fileOf({ rows }));
  assert.match(page, /^\| loading \| broken \|/m);
  assert.match(page, /^- loading, broken: 3 hung requests$/m);
  assert.match(page, /^\| failover \| not seen \|(?: – \|){9} 2 \| – \|$/m);
  assert.match(page, /^- failover, not seen: could not be run$/m);
  assert.match(page, /^\*\*Holds: no\.\*\* /m);
  assert.match(page, /^\| rows that broke their promise \| 1 \| ≤ 0 \| no \|$/m);
  assert.match(page, /^- loading, broken: /m);
});

test('an incomplete matrix is refused, and a file with figures only leaves the matrix as it is', () => {
  assert.throws(() => findingsOf(fileOf({ rows: ALL.slice(1) })), /a part of the matrix: node-killed are missing/);
  assert.deepEqual(findingsOf(fileOf({ rows: [] })), []);
});

test('a figure is one table with its promises below', () => {
  const figure = {
    ...{ figure: 'overload', startedAt: '2026-11-22T15:20:00.000Z', tookSeconds: 200 },
    table: [
      { engine: 'narrow', load: 1, 'good /s': '39.7' },
      { engine: 'searchd', load: 10, 'good /s': '120.8' },
    ],
    verdicts: [
      { says: 'good answers at 2 ×', holds: true },
      { says: 'refused early', holds: false },
    ],
  };
  const page = shown(fileOf({ rows: [], figures: [figure] }));
  assert.match(page, /^## Overload: good answers of an engine of 8 slots/m);
  assert.match(page, /^\| {2}\| load \| good \/s \|\n\|---\|---:\|---\|\n\| narrow \| 1 \| 39\.7 \|$/m);
  assert.match(page, /^- Kept: good answers at 2 ×\n- Broken: refused early$/m);
  assert.match(page, /^\*\*Holds: in part\.\*\* /m);
  assert.match(page, /^\| promises kept \| 1 \| ≥ 2 \| no \|$/m);
  assert.match(page, /^`npm run faults -- --only overload`: measured on 2026-11-22 in 3 min 20 s/m);
});
