import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { OperationError } from '../../src/control/operation-error.ts';
import { temporaryFolder } from '../folder.ts';
import { until } from '../until.ts';
import { adminService, callCli } from './harness.ts';

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `{"id":"${at + 1}"}\n`).join('');

/** The admin listener, with the lines of each call. */
async function feedService(t: TestContext) {
  const service = await adminService(t);
  const calls = (): readonly (readonly string[])[] =>
    service.posted('/admin/changes').map((body) => String(body).split('\n').slice(0, -1));
  /** The first calls get 503. */
  const failFirst = (count: number): void => {
    const { feed } = service.operations.domain('goods');
    const { changes } = feed;
    let left = count;
    t.mock.method(feed, 'changes', async (lines: Parameters<typeof changes>[0]) => {
      left -= 1;
      if (left >= 0)
        throw new OperationError('control-unavailable', 'the stream of changes does not take them: timeout');
      return changes(lines);
    });
  };
  return { ...service, calls, failFirst };
}

function fileOf(t: TestContext, text: string | Buffer, name = 'changes of mine.ndjson'): string {
  const file = join(temporaryFolder(t), name);
  writeFileSync(file, text);
  return file;
}

describe('the changes command', { concurrency: 4 }, () => {
  test('sends standard input in calls of at most a thousand lines, in order', async (t) => {
    const { url, calls } = await feedService(t);
    const input = Readable.from([Buffer.from(numbered(2500))]);
    const { code, lines } = await callCli(['changes', 'goods', '--admin', url], { input: () => input });
    assert.equal(code, 0);
    assert.deepEqual(
      calls().map(({ length }) => length),
      [1000, 1000, 500],
    );
    assert.deepEqual(calls().flat(), numbered(2500).trim().split('\n'));
    assert.deepEqual(lines(), [
      { domain: 'goods', lines: 2500, taken: 2500, refused: 0, cut: 0, nextLine: 2501, ended: true },
    ]);
  });

  test('sends long lines in calls of about a megabyte', async (t) => {
    const { url, calls } = await feedService(t);
    const line = `{"id":"1","text":"${'x'.repeat(300_000)}"}\n`;
    const { code } = await callCli(['changes', 'goods', fileOf(t, line.repeat(10)), '--admin', url]);
    assert.equal(code, 0);
    assert.equal(calls().flat().length, 10);
    // A slow machine sends the lines that it has.
    for (const sent of calls()) assert.ok(sent.length <= 4, `${sent.length} lines`);
  });

  test('follows a pipe: lines are sent while it stays open', async (t) => {
    const { url, calls } = await feedService(t);
    const input = new PassThrough();
    const running = callCli(['changes', 'goods', '--admin', url], { input: () => input });
    for (const n of [1, 2]) {
      input.write(`{"id":"${n}"}\n`);
      await until('a call', () => calls().length === n);
    }
    input.end('{"id":"3"}');
    assert.equal((await running).code, 0);
    assert.deepEqual(calls(), [['{"id":"1"}'], ['{"id":"2"}'], ['{"id":"3"}']]);
  });

  test('prints malformed lines with their numbers in the input, takes the others and ends with 1', async (t) => {
    const { url, calls } = await feedService(t);
    const text = `${numbered(1000)}\r\nnonsense\r\n{"id":"x"}\n{"id":""}\n${'y'.repeat(3_000_000)}\n`;
    const { code, out, err } = await callCli(['changes', 'goods', fileOf(t, text), '--admin', url], { answers: [] });
    assert.equal(code, 1);
    assert.match(err, /line 1002: it is not JSON/);
    assert.match(err, /line 1004: id must be/);
    assert.match(err, /line 1005: it is longer than 2097152 bytes/);
    assert.match(err, /3 of 1,004 lines refused/);
    assert.equal(out, 'goods: 1,004 lines, 1,001 taken, 3 refused, 0 cut\n');
    assert.equal(calls().length, 2);
  });

  test('goes on after a call of which no line was taken', async (t) => {
    const { url } = await feedService(t);
    const text = `${'nonsense\n'.repeat(1000)}{"id":"1"}\n`;
    const { code, err, lines } = await callCli(['changes', 'goods', fileOf(t, text), '--admin', url]);
    assert.equal(code, 1);
    assert.partialDeepStrictEqual(lines()[0], { lines: 1001, taken: 1, refused: 1000, ended: true });
    assert.match(err, /line 100: it is not JSON/);
  });

  test('waits for a stream that is away, and says so each time', async (t) => {
    const { url, failFirst } = await feedService(t);
    failFirst(2);
    const { code, err, lines } = await callCli(['changes', 'goods', fileOf(t, numbered(3)), '--admin', url]);
    assert.equal(code, 0);
    assert.deepEqual(err.match(/does not take them: timeout; again in [\d.]+\s\w+\n/g)?.length, 2);
    assert.equal(lines()[0]?.['taken'], 3);
  });

  test('stopped early, it prints the line it has reached and the command that goes on, which reads on from there', async (t) => {
    const { url, calls } = await feedService(t);
    const input = new PassThrough();
    const stop = new AbortController();
    const running = callCli(['changes', 'goods', '--admin', url], { input: () => input, signal: stop.signal });
    input.write(numbered(1500));
    await until('two calls', () => calls().length === 2);
    // Its call begins when the answer to the one before has come.
    input.write(numbered(1));
    await until('three calls', () => calls().length === 3);
    stop.abort(new Error('stopped by SIGINT'));
    input.destroy(new Error('aborted'));
    const { code, err, lines } = await running;
    assert.equal(code, 3);
    assert.match(err, /stopped by SIGINT/);
    const { nextLine = 0, ended } = lines()[0] ?? {};
    assert.ok(!ended && Number(nextLine) >= 1501, `line ${nextLine}`);
    assert.ok(err.includes(`go on with it: serpcache changes goods --admin ${url} --from-line ${nextLine}\n`), err);
    const packed = fileOf(t, gzipSync(numbered(1502)), 'changes.ndjson.gz');
    const next = await callCli(['changes', 'goods', packed, '--from-line', '1501', '--admin', url]);
    assert.equal(next.code, 0);
    assert.deepEqual(calls().at(-1), ['{"id":"1501"}', '{"id":"1502"}']);
  });

  for (const [what, words, code, text] of [
    ['an unknown domain', ['gods'], 3, /Did you mean goods\?/],
    ['a domain without a feed', ['auto'], 3, /domains\.auto\.changes/],
    ['a file that is not there', ['goods', 'nowhere.ndjson'], 64, /nowhere\.ndjson cannot be read/],
    ['a wrong line', ['goods', '--from-line', '0'], 64, /--from-line takes a whole number/],
    ['no domain', [], 64, /an argument is missing/],
  ] as const) {
    test(`${what} ends it with ${code}`, async (t) => {
      const { url } = await feedService(t);
      const input = Readable.from([Buffer.from(numbered(1))]);
      const result = await callCli(['changes', ...words, '--admin', url], { input: () => input });
      assert.equal(result.code, code);
      assert.match(result.err, text);
      assert.doesNotMatch(result.err, /go on with it/);
    });
  }
});
