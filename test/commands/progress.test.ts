import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createProgress, MAX_NOTES, type ProgressOptions } from '../../src/commands/terminal.ts';

/** A progress with recorded output and a clock that only `wait` moves. */
function watched(
  options: Partial<Omit<ProgressOptions, 'output' | 'clock'>> & { isTTY?: boolean; columns?: number } = {},
) {
  let nowMs = 1000;
  const written: string[] = [];
  const { isTTY = false, columns = 100, ...rest } = options;
  const wait = (ms: number): void => {
    nowMs += ms;
  };
  const progress = createProgress({
    label: 'indexing goods',
    ...rest,
    output: { write: (text) => written.push(text), isTTY, columns },
    clock: { wallMs: () => 0, monotonicMs: () => nowMs },
  });
  return { progress, written, wait };
}

describe('progress on a terminal', () => {
  it('redraws one line with bar, share, count, rate and remaining time, and ends with the total', () => {
    const { progress, written, wait } = watched({ isTTY: true, total: 20_000, unit: 'ads' });
    wait(2000);
    progress.update(5000);
    wait(6000);
    progress.update(20_000);
    progress.finish();
    assert.deepEqual(written, [
      '\r\u001b[Kindexing goods  ██████░░░░░░░░░░░░░░░░░░ 25 %  5,000 of 20,000 ads  2,500/s  6 s left',
      '\r\u001b[Kindexing goods  ████████████████████████ 100 %  20,000 of 20,000 ads  2,500/s',
      '\r\u001b[Kindexing goods  20,000 ads in 8 s',
      '\n',
    ]);
  });

  it('draws at most ten times a second, however often it is updated', () => {
    const { progress, written, wait } = watched({ isTTY: true, total: 100_000 });
    for (let count = 0; count < 100_000; count += 1) {
      if (count % 100 === 0) wait(1);
      progress.update(count);
    }
    assert.ok(written.length >= 8 && written.length <= 11, `${written.length}`);
  });

  it('never draws a line wider than the terminal', () => {
    const { progress, written, wait } = watched({ isTTY: true, total: 20_000, columns: 40 });
    wait(5000);
    progress.update(100);
    for (const text of written) assert.ok(text.replace('\r\u001b[K', '').length <= 39, text);
  });

  it('shows a share that is given without a total, and only the count without both', () => {
    const known = watched({ isTTY: true });
    known.wait(100_000);
    known.progress.update(3000, 0.5);
    assert.match(known.written[0] ?? '', /50 % {2}3,000 documents {2}30\/s {2}1 min 40 s left/);
    const unknown = watched({ isTTY: true });
    unknown.progress.update(3000);
    assert.ok(unknown.written[0]?.startsWith('\r\u001b[Kindexing goods  3,000 documents'), `${unknown.written[0]}`);
  });

  it('puts a note on a line of its own above the bar', () => {
    const { progress, written } = watched({ isTTY: true });
    progress.note('skipped: line 3');
    assert.deepEqual(written, ['\r\u001b[Kskipped: line 3\n']);
  });
});

describe('progress without a terminal', () => {
  it('writes whole lines, none in the first seconds, then at growing intervals', () => {
    const { progress, written, wait } = watched({ total: 36_000 });
    for (let second = 1; second <= 3600; second += 1) {
      wait(1000);
      progress.update(second * 10);
    }
    progress.finish();
    assert.ok(written.length > 50 && written.length < 80, `${written.length}`);
    for (const text of written)
      assert.ok(/^[^\n]+\n$/.test(text) && !text.includes('\r') && !text.includes('\u001b'), text);
    assert.equal(written.at(-1), 'indexing goods  36,000 documents in 1 h 00 min\n');
  });

  it('writes one line for a task that ends at once, however often it is finished', () => {
    const { progress, written } = watched({ total: 10 });
    progress.update(10);
    progress.finish();
    progress.finish();
    progress.update(11);
    assert.deepEqual(written, ['indexing goods  10 documents in 0 ms\n']);
  });

  it('prints a bounded number of notes and counts the rest', () => {
    const { progress, written } = watched();
    for (let n = 0; n < MAX_NOTES + 1234; n += 1) progress.note(`skipped: line ${n}`);
    progress.finish();
    assert.equal(written.length, MAX_NOTES + 2);
    assert.equal(written.at(-2), '… and 1,234 more\n');
  });
});
