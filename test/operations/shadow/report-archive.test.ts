import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { reportSummary, SHADOW_REPORTS, type ShadowReport } from '../../../src/operations/shadow/shadow.ts';
import { createRecordArchive, recordId } from '../../../src/report/record-archive.ts';
import { temporaryFolder } from '../../folder.ts';
import { pluck } from '../../pluck.ts';
import { GOOD, reportOf } from './report-fixture.ts';

const REPORT = reportOf({ ...GOOD, lengthMs: 60_000 });

interface Kept {
  readonly directory: string;
  readonly archive: ReturnType<typeof archiveIn>;
  readonly faults: readonly string[];
}

function archiveIn(directory: string, keep: number, onFault: (id: string) => void) {
  const { write, heads, read } = createRecordArchive({ reader: SHADOW_REPORTS, directory, keep, onFault });
  return {
    write,
    list: async () => (await heads()).records.map(reportSummary),
    read: async (id: string) => {
      const found = await read(id);
      return found?.kind === 'record' ? found.record : undefined;
    },
  };
}

async function kept(t: TestContext, { keep = 20, inside = '' } = {}): Promise<Kept> {
  const directory = join(temporaryFolder(t), inside);
  const faults: string[] = [];
  return { directory, faults, archive: archiveIn(directory, keep, (id) => faults.push(id)) };
}

/** A later report: `at` seconds after the first. */
function later(at: number): ShadowReport {
  const startedAtMs = REPORT.startedAtMs + at * 1000;
  const id = recordId({ atMs: startedAtMs, words: ['goods', 'valkey'], random: () => 0.5 });
  return { ...REPORT, id, startedAtMs, endedAtMs: startedAtMs + 60_000 };
}

test('the id of a shadow sorts by time and is a file name, whatever the names are', () => {
  const id = (candidate: string): string =>
    recordId({ atMs: REPORT.startedAtMs, words: ['goods', candidate], random: () => 0.5 });
  assert.equal(id('valkey'), '20261121-064348-goods-valkey-i000');
  assert.equal(id('../Key DB'), '20261121-064348-goods----key-db-i000');
  assert.ok(id('x'.repeat(1000)).length <= 217);
});

test('a report is read back as it was written, by another process too', async (t) => {
  const { archive, directory, faults } = await kept(t, { inside: 'shadow' });
  await archive.write(REPORT);
  assert.deepEqual(await archive.read(REPORT.id), JSON.parse(JSON.stringify(REPORT)));
  assert.deepEqual(await readdir(directory), [`${REPORT.id}.json`]);
  const other = archiveIn(directory, 20, assert.fail);
  assert.deepEqual(await other.read(REPORT.id), await archive.read(REPORT.id));
  assert.deepEqual(faults, []);
});

test('reports are listed newest first, without curves and keys, and only the newest are kept', async (t) => {
  const { archive, directory } = await kept(t, { keep: 2 });
  const reports = [later(0), later(10), later(20)];
  for (const report of reports) await archive.write(report);
  const list = await archive.list();
  const { samples: _, total: __, changes: ___, wrongKeys: ____, ...summary } = later(20);
  assert.deepEqual(list[0], JSON.parse(JSON.stringify(summary)));
  assert.deepEqual(
    pluck(list, 'id'),
    reports
      .toReversed()
      .map(({ id }) => id)
      .slice(0, 2),
  );
  assert.equal((await readdir(directory)).length, 2);
  assert.equal(await archive.read(later(0).id), undefined);
});

test('a later write replaces the report', async (t) => {
  const { archive } = await kept(t);
  await Promise.all([archive.write(REPORT), archive.write({ ...REPORT, ended: 'expired' })]);
  assert.equal((await archive.read(REPORT.id))?.ended, 'expired');
  assert.equal((await archive.list()).length, 1);
});

test('a damaged file is no report, and neither is one of another shadow or of other members', async (t) => {
  const { archive, directory } = await kept(t);
  await archive.write(REPORT);
  const text = await readFile(join(directory, `${REPORT.id}.json`), 'utf8');
  const damaged: Readonly<Record<string, string>> = {
    '20260101-000000-goods-valkey-aaaa': '{"id":',
    '20260101-000001-goods-valkey-aaaa': '[]',
    '20260101-000002-goods-valkey-aaaa': text,
    '20260101-000003-goods-valkey-aaaa': text
      .replace(REPORT.id, '20260101-000003-goods-valkey-aaaa')
      .replace(/"wrongKeys":\[\]/, '"wrongKeys":[{"markup":"<b>"}]'),
    '20260101-000004-goods-valkey-aaaa': text
      .replace(REPORT.id, '20260101-000004-goods-valkey-aaaa')
      .replace(/"kind":"[^"]*"/, '"kind":"yes"'),
  };
  for (const [id, content] of Object.entries(damaged)) await writeFile(join(directory, `${id}.json`), content);
  for (const id of Object.keys(damaged)) assert.equal(await archive.read(id), undefined, id);
  assert.deepEqual(pluck(await archive.list(), 'id'), [REPORT.id]);
});

test('an id from outside is never a path', async (t) => {
  const { archive, directory } = await kept(t, { inside: 'shadow' });
  await archive.write(REPORT);
  await writeFile(join(directory, '../notes.json'), JSON.stringify(REPORT));
  for (const id of ['../notes', 'notes', '', `${directory}/${REPORT.id}`, `./${REPORT.id}`]) {
    assert.equal(await archive.read(id), undefined, id);
  }
});

test('when the directory cannot be written, the report stays in memory, and one fault says so', async (t) => {
  const { archive, faults, directory } = await kept(t, { inside: 'file' });
  await writeFile(directory, '');
  await archive.write(REPORT);
  await archive.write(REPORT);
  assert.deepEqual(faults, [REPORT.id]);
  assert.deepEqual(await archive.read(REPORT.id), REPORT);
  assert.equal((await archive.list()).length, 1);
});
