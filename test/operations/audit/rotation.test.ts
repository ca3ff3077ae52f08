import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { type Audit, createAudit, type RecordedEntry } from '../../../src/operations/audit/audit.ts';
import { rotate } from '../../../src/operations/audit/log-file.ts';
import { createHarness, entry } from './harness.ts';

/** All pages, from the newest to the oldest. */
async function allPages(audit: Audit, limit: number): Promise<RecordedEntry[]> {
  const entries: RecordedEntry[] = [];
  let before: string | undefined;
  for (let pages = 0; pages < 10_000; pages += 1) {
    const page = await audit.page({ limit, ...(before === undefined ? {} : { before }) });
    assert.ok(page !== undefined && page.entries.length <= limit);
    entries.push(...page.entries);
    before = page.next;
    if (before === undefined) return entries;
  }
  throw new Error('the pages have no end');
}

const numbered = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, i) => `a${to - 1 - i}`);
const actions = (entries: readonly RecordedEntry[]): readonly string[] => entries.map(({ action }) => action);

test('a full file is moved away under the next number, and pages go back through all files', async (context) => {
  const { audit, file } = createHarness(context, { maxBytes: 1000, keep: 100 });
  for (let i = 0; i < 100; i += 1) {
    audit.record(entry(`a${i}`));
    if (i % 7 === 0) await audit.page({ limit: 1 });
  }
  const files = readdirSync(dirname(file)).toSorted();
  assert.ok(files.length > 5, `${files.length} files`);
  assert.equal(files[0], 'audit.ndjson');
  files.slice(1).forEach((name, i) => {
    assert.match(name, new RegExp(`^audit\\.ndjson\\.${String(i + 1).padStart(6, '0')}-[0-9a-f]{8}$`));
    assert.equal(statSync(join(dirname(file), name)).mode & 0o777, 0o600);
  });
  for (const name of files) assert.ok(statSync(join(dirname(file), name)).size <= 1000, name);
  for (const limit of [1, 7, 1000]) {
    assert.deepEqual(actions(await allPages(audit, limit)), numbered(0, 100), `pages of ${limit}`);
  }
  assert.equal((await audit.page({ limit: 100 }))?.next, undefined, 'there are no older entries');
});

test('a file that another process has moved away is not moved again', async (context) => {
  const { audit, file } = createHarness(context);
  audit.record(entry('a'));
  await audit.page({ limit: 1 });
  const { ino } = statSync(file, { bigint: true });
  await rotate(file, ino + 1n, { maxBytes: 1, keep: 3 });
  assert.deepEqual(readdirSync(dirname(file)), ['audit.ndjson']);
  await rotate(file, ino, { maxBytes: 1, keep: 3 });
  assert.match(readdirSync(dirname(file)).join(), /^audit\.ndjson\.000001-[0-9a-f]{8}$/);
});

test('a page reads 4 MiB at most, and the next page continues from there', async (context) => {
  const { audit, file } = createHarness(context);
  audit.record(entry('old'));
  await audit.page({ limit: 1 });
  appendFileSync(file, `${'x'.repeat(99_999)}\n`.repeat(60));
  const first = await audit.page({ limit: 1 });
  assert.deepEqual(first?.entries, []);
  const second = await audit.page({ limit: 1, before: first?.next ?? '' });
  assert.deepEqual(actions(second?.entries ?? []), ['old']);
});

test('pages continue without gaps while lines are written and files are rotated', async (context) => {
  const { audit } = createHarness(context, { maxBytes: 1000, keep: 100 });
  for (let i = 0; i < 30; i += 1) audit.record(entry(`a${i}`));
  const first = await audit.page({ limit: 5 });
  for (let i = 30; i < 90; i += 1) audit.record(entry(`a${i}`));
  await audit.page({ limit: 1 });
  const second = await audit.page({ limit: 5, before: first?.next ?? '' });
  assert.deepEqual(
    [actions(first?.entries ?? []), actions(second?.entries ?? [])],
    [numbered(25, 30), numbered(20, 25)],
  );
});

test('the configured count of full files is kept, and the oldest are removed', async (context) => {
  const { audit, file } = createHarness(context, { maxBytes: 1000, keep: 3 });
  for (let i = 0; i < 300; i += 1) audit.record(entry(`a${i}`));
  const oldest = await audit.page({ limit: 20 });
  const files = readdirSync(dirname(file)).toSorted();
  assert.equal(files.length, 4);
  const kept = actions(await allPages(audit, 1000));
  assert.deepEqual(kept, numbered(300 - kept.length, 300));
  for (let i = 300; i < 400; i += 1) audit.record(entry(`a${i}`));
  await audit.page({ limit: 1 });
  assert.equal(await audit.page({ limit: 20, before: oldest?.next ?? '' }), undefined, 'its file is gone');
  for (const before of ['', 'x', '1-1', '-1-2', '9'.repeat(40)]) {
    assert.equal(await audit.page({ limit: 1, before }), undefined, before);
  }
});

test('two processes that rotate one file lose no line', async (context) => {
  const options = { maxBytes: 2000, keep: 1000 };
  const { audit, file } = createHarness(context, options);
  const beside = createAudit({ file, ...options, log: pino({ level: 'silent' }), clock: { wallMs: () => 1 } });
  for (let i = 0; i < 400; i += 1) {
    for (const [name, each] of [
      ['a', audit],
      ['b', beside],
    ] as const) {
      each.record(entry(`${name}${i}`));
    }
    if (i % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all([audit.page({ limit: 1 }), beside.page({ limit: 1 })]);
  const seen = actions(await allPages(audit, 100));
  assert.equal(new Set(seen).size, 800);
  assert.equal(seen.length, 800);
});

test('half a line before a rotation is left out, and all whole lines are read', async (context) => {
  const { audit, file } = createHarness(context, { maxBytes: 1000, keep: 100 });
  for (let i = 0; i < 10; i += 1) audit.record(entry(`a${i}`));
  await audit.page({ limit: 1 });
  appendFileSync(file, '{"action":"half a li');
  for (let i = 10; i < 40; i += 1) audit.record(entry(`a${i}`));
  await audit.page({ limit: 1 });
  assert.deepEqual(actions(await allPages(audit, 3)), numbered(0, 40));
});
