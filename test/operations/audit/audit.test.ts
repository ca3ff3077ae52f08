import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { createAudit } from '../../../src/operations/audit/audit.ts';
import { idle } from '../../fakes/idle.ts';
import { temporaryFolder } from '../../folder.ts';
import { pluck, rowsOf } from '../../pluck.ts';
import { until } from '../../until.ts';
import { createHarness, entry, newest, RETRY_MS, UNROTATED } from './harness.ts';

test('each entry is one line of the file and one of the log, in order', async (context) => {
  const { audit, file, lines, written } = createHarness(context);
  for (let i = 0; i < 50; i += 1) audit.record({ ...entry(`a${i}`), reason: 'first\nsecond \u2028 "x"', after: { i } });
  await audit.close();
  assert.equal(readFileSync(file, 'utf8').split('\n').length, 51);
  assert.deepEqual(
    rowsOf(written(), 'action', 'atMs'),
    Array.from({ length: 50 }, (_, i) => [`a${i}`, 1001 + i]),
  );
  assert.deepEqual(
    lines.map(({ audit: logged }) => (logged as { action: string }).action),
    Array.from({ length: 50 }, (_, i) => `a${i}`),
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(file, '..')).mode & 0o777, 0o700);
});

test('lines of another process stay, and a file that was moved away is created again', async (context) => {
  const { audit, file, directory, written } = createHarness(context);
  audit.record(entry('first'));
  await audit.close();
  const beside = createAudit({ file, ...UNROTATED, log: pino({ level: 'silent' }), clock: { wallMs: () => 1 } });
  beside.record(entry('of another'));
  await beside.close();
  audit.record(entry('second'));
  await until('all lines are there', () => written().length === 3);
  renameSync(file, join(directory, 'rotated'));
  audit.record(entry('third'));
  await audit.close();
  assert.deepEqual(pluck(written(), 'action'), ['third']);
});

test('two processes that share a file never mix their lines', async (context) => {
  const { audit, file, written } = createHarness(context);
  const beside = createAudit({ file, ...UNROTATED, log: pino({ level: 'silent' }), clock: { wallMs: () => 1 } });
  for (let i = 0; i < 300; i += 1) {
    for (const each of [audit, beside]) each.record({ ...entry('x'), after: 'y'.repeat(i * 10) });
    if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  // Before the close, which waits for a slow disk no longer than a second.
  await until('all lines are there', () => assert.equal(written().length, 600));
  await Promise.all([audit.close(), beside.close()]);
  assert.equal(written().length, 600);
});

test('half a line at the end of the file does not become part of the next line', async (context) => {
  const { audit, file } = createHarness(context);
  audit.record(entry('first'));
  await audit.close();
  writeFileSync(file, '{"action":"half a li', { flag: 'a' });
  audit.record(entry('second'));
  await audit.close();
  assert.deepEqual(pluck(await newest(audit, 10), 'action'), ['second', 'first']);
});

test('while the file cannot be written all lines are in the log, some wait, and the fault is logged once', async (context) => {
  const directory = temporaryFolder(context);
  const blocked = join(directory, 'file');
  writeFileSync(blocked, 'a file where the directory should be');
  const { audit, lines, file } = createHarness(context, { file: join(blocked, 'audit.ndjson'), maxWaitingBytes: 1000 });
  // Timers of equal length fire in the order in which they were set: that of the audit first.
  const retried = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    await idle();
  };
  for (let i = 0; i < 100; i += 1) audit.record(entry(`a${i}`));
  await idle();
  assert.ok(lines.some(({ msg }) => String(msg).includes('cannot be written')));
  for (let i = 0; i < 5; i += 1) await retried();
  assert.equal(lines.filter(({ audit: logged }) => logged !== undefined).length, 100);
  assert.equal(lines.filter(({ level }) => level === 50).length, 2, 'one line for the fault, one for lost lines');
  assert.deepEqual(await newest(audit, 5), []);
  rmSync(blocked);
  await until('the file is written again', () => lines.some(({ msg }) => String(msg).includes('written again')));
  await audit.close();
  const texts = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { action, after } = texts.at(-1);
  assert.equal(action, 'audit-gap');
  assert.equal(texts.length - 1 + after.lost, 100, 'the written and the lost lines add up to all lines');
  assert.ok(after.lost > 50);
});

test('a disk that hangs delays neither a reader nor close, and waiting lines are bounded', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-audit-'));
  const file = join(directory, 'audit.ndjson');
  const handle = await open(file, 'a');
  const disk = Promise.withResolvers<never>();
  for (const method of ['read', 'write'] as const) {
    context.mock.method(Object.getPrototypeOf(handle), method, () => disk.promise);
  }
  await handle.close();
  context.after(async () => {
    disk.reject(new Error('the disk is gone'));
    rmSync(directory, { recursive: true, force: true });
  });
  const { audit, lines } = createHarness(context, { file, maxWaitingBytes: 200_000 });
  for (let i = 0; i < 1000; i += 1) audit.record({ ...entry(`a${i}`), after: 'x'.repeat(1000) });
  const startedMs = performance.now();
  assert.deepEqual(await Promise.all(Array.from({ length: 8 }, () => newest(audit, 10))), Array(8).fill([]));
  const readMs = performance.now() - startedMs;
  await audit.close();
  const closeMs = performance.now() - startedMs - readMs;
  // `close` and each reader wait once for the write; each reader waits once more for its read. Eight readers in
  // sequence took eight times as long, sixteen times `close`.
  assert.ok(readMs < 8 * closeMs, `${readMs} ms for the readers, ${closeMs} ms for close`);
  assert.equal(lines.filter(({ audit: logged }) => logged !== undefined).length, 1000);
  assert.equal(lines.at(-1)?.['lost'], 1000);
  assert.equal(lines.filter(({ msg }) => String(msg).includes('takes no more lines')).length, 1);
});

test('close does not wait for a file that cannot be written', async (context) => {
  const { audit, lines } = createHarness(context, {
    file: join(import.meta.filename, 'audit.ndjson'),
    retryMs: 60_000,
  });
  audit.record(entry('a'));
  await idle();
  let isClosed = false;
  void audit.close().then(() => {
    isClosed = true;
  });
  // No time passes.
  await idle();
  assert.equal(isClosed, true);
  assert.match(JSON.stringify(lines.at(-1)), /"lost":1/);
});

test('an entry that is too large or not JSON is written without before and after', async (context) => {
  const { audit, written } = createHarness(context);
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  audit.record({ ...entry('circle'), before: circle });
  audit.record({ ...entry('large'), after: 'x'.repeat(20_000) });
  audit.record({ ...entry('number'), after: 1n });
  await audit.close();
  assert.deepEqual(rowsOf(written(), 'action', 'after'), [
    ['circle', { omitted: 'not JSON' }],
    ['large', { omitted: 'too large' }],
    ['number', { omitted: 'not JSON' }],
  ]);
});

test('the newest entries are read from the end of a file of any size', async (context) => {
  const { audit, file } = createHarness(context);
  audit.record(entry('made'));
  await audit.close();
  const line = (i: number): string =>
    `${JSON.stringify({ atMs: i, ...entry(`a${i}`), reason: 'é'.repeat(i % 700) })}\n`;
  // Too large to be read whole; nearly all of it is a hole, which takes no space on the disk.
  truncateSync(file, 2 ** 40);
  appendFileSync(file, `\n${Array.from({ length: 2000 }, (_, i) => line(i)).join('')}`);
  const read = await newest(audit, 1000);
  assert.deepEqual(
    pluck(read, 'atMs'),
    Array.from({ length: 1000 }, (_, i) => 1999 - i),
  );
  assert.equal(read[0]?.reason?.length, 1999 % 700);
  assert.equal((await newest(audit, 1)).length, 1);
});

test('a line can be read as soon as it was recorded', async (context) => {
  const { audit } = createHarness(context);
  assert.deepEqual(await newest(audit, 5), []);
  audit.record(entry('a'));
  audit.record(entry('b'));
  assert.deepEqual(pluck(await newest(audit, 5), 'action'), ['b', 'a']);
});

test('lines that are no entries are left out', async (context) => {
  const { audit, file } = createHarness(context);
  audit.record(entry('made'));
  await audit.close();
  writeFileSync(file, '\n\nnot json\n[]\nnull\n{"action":1}\n\ufeff{}\n', { flag: 'a' });
  audit.record(entry('later'));
  assert.deepEqual(pluck(await newest(audit, 10), 'action'), ['later', 'made']);
});
