import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { temporaryFolder } from '../folder.ts';
import { until } from '../until.ts';
import { adminService, callCli, SPEED } from './harness.ts';

function queryFile(t: TestContext, text: string | Buffer, name = 'queries of mine.tsv'): string {
  const directory = temporaryFolder(t);
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `диван ${i + 1}\t7\n`).join('');

interface Piece {
  readonly queries: readonly string[];
  readonly last: boolean;
}

// Concurrent, because each test has its own service and its warm-ups take seconds.
describe('the warm command', { concurrency: 3 }, () => {
  test('a file is sent in batches of at most 500, no faster than the service has room, each line once and in order', async (t) => {
    const { url, posted, runAt } = await adminService(t);
    const file = queryFile(t, `\n${numbered(3200)}q=стол&page=2\n`);
    const words = ['warm', 'goods', '--queries', file, '--max-per-second', '75', '--admin', url];
    // It takes 1,000 queries more than it has settled, and settles none until one batch was sent twice.
    runAt(0);
    const warming = callCli(words);
    await until('a batch without room', () => posted('/admin/warm/warm-1/queries').length >= 4);
    runAt(4 * SPEED);
    const { code, lines } = await warming;
    assert.equal(code, 0);
    const [warmUp, ...more] = lines();
    assert.deepEqual([more.length, warmUp?.['state'], warmUp?.['taken'], warmUp?.['settled']], [0, 'done', 3201, 3201]);
    const pieces = posted('/admin/warm/warm-1/queries') as Piece[];
    assert.ok(pieces.every(({ queries }) => queries.length <= 500));
    assert.deepEqual(pieces[0]?.queries.slice(0, 2), ['диван 1', 'диван 2']);
    assert.equal(pieces.at(-1)?.queries.at(-1), 'q=стол&page=2');
    assert.deepEqual(posted('/admin/warm'), [{ domain: 'goods', from: 'queries', maxPerSecond: 75 }]);
  });

  test('a packed file is read from a given line, and a line that is too long is skipped', async (t) => {
    const { url, posted } = await adminService(t);
    const file = queryFile(t, gzipSync(`${numbered(10)}${'x'.repeat(9000)}\nlast\n`), 'queries.gz');
    const words = ['warm', 'goods', '--queries', file, '--from-line', '9', '--max-per-second', '500', '--admin', url];
    const { code, err } = await callCli(words);
    assert.equal(code, 0);
    assert.match(err, /skipped: line 11 is too long/);
    const pieces = posted('/admin/warm/warm-1/queries') as Piece[];
    assert.deepEqual(pieces, [{ queries: ['диван 9', 'диван 10', 'last'], last: true }]);
  });

  test('a stopped command stops the warm-up and prints the command that resumes it', async (t) => {
    const { url, posted, operations } = await adminService(t);
    const file = queryFile(t, numbered(3000));
    const stop = new AbortController();
    // Stopped between two tries to send, while the service has no room: then the command knows what was taken.
    let before = 0;
    const stopIt = setInterval(() => {
      const sent = posted('/admin/warm/warm-1/queries').length;
      if (sent >= 4 && sent === before) stop.abort(new Error('stopped'));
      before = sent;
    }, 100);
    t.after(() => clearInterval(stopIt));
    const words = ['warm', 'goods', '--queries', file, '--max-per-second', '20', '--admin', url];
    const { code, err, lines } = await callCli(words, { signal: stop.signal });
    assert.equal(code, 3);
    const [warmUp] = operations.warm.list();
    assert.equal(warmUp?.state, 'stopped');
    const [result] = lines();
    assert.equal(result?.['fromLine'], (warmUp?.settled ?? 0) + 1);
    const resume = `serpcache warm goods --queries '${file}' --max-per-second 20 --admin ${url} --from-line ${result?.['fromLine']}`;
    assert.equal(result?.['resume'], resume);
    assert.ok(err.includes(`go on with it: ${resume}\n`), err);
    assert.deepEqual(posted('/admin/warm/warm-1/stop'), [{}]);
    assert.ok(Number(result?.['fromLine']) > 1, 'some were settled');
  });

  test('without a file it warms the popular queries, with progress, to the end', async (t) => {
    const { url, posted, runAt } = await adminService(t);
    const words = ['warm', 'auto', '--top', '200', '--max-per-second', '100', '--admin', url];
    const { code, out, err } = await callCli(words, { answers: [] });
    assert.equal(code, 0);
    assert.match(out, /^auto: warm-up done, 200 queries in \d+(\.\d)? s: 140 computed, 60 were cached\n$/);
    assert.match(err, /warming auto .* of 200 queries/);
    assert.deepEqual(posted('/admin/warm'), [{ domain: 'auto', from: 'popular', maxPerSecond: 100, top: 200 }]);
    runAt(0);
    const both = Promise.all([callCli(words), callCli(words.with(3, '300'))]);
    await until('both', () => posted('/admin/warm').length === 3);
    runAt(SPEED);
    const codes = (await both).map(({ code }) => code);
    assert.deepEqual(codes.sort(), [0, 3], 'one per domain at a time');
  });

  test('a warm-up that another operator stops is an error, with the command that resumes it', async (t) => {
    const { url, operations } = await adminService(t);
    const file = queryFile(t, numbered(500));
    const words = ['warm', 'goods', '--queries', file, '--max-per-second', '5', '--admin', url];
    const stopIt = setInterval(() => {
      const [warmUp] = operations.warm.list();
      if ((warmUp?.taken ?? 0) > 0) operations.warm.stop('warm-1');
    }, 100);
    t.after(() => clearInterval(stopIt));
    const { code, err } = await callCli(words);
    assert.equal(code, 3);
    assert.match(
      err,
      /go on with it: serpcache warm goods .*--from-line \d+\nserpcache warm: another operator stopped it/,
    );
  });
});
