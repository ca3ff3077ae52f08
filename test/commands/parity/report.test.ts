import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { figuresOf, type ParityReport, parityText } from '../../../src/commands/parity/report.ts';

const NOW_MS = Date.parse('2026-11-20T12:00:00Z');

const report = (rest: Partial<ParityReport> = {}): ParityReport => ({
  domain: 'goods',
  limit: 10,
  sort: null,
  filters: [],
  engine: { is: 'sphinx h:9306/goods', deadlineMs: 800, documents: null, builtAt: null },
  lifeboat: { is: 'sqlite goods.sqlite', deadlineMs: 300, documents: 7, builtAt: '2026-11-17T12:00:00.000Z' },
  queries: { file: 'q', lines: 3, badLines: 1, distinct: 2, asked: 2, askedShare: 1 },
  figures: figuresOf([]),
  warnings: [],
  ...rest,
});

describe('the report of a comparison', () => {
  it("shows the age of the lifeboat's index, and leaves out values that the engine does not report", () => {
    const text = parityText(report(), NOW_MS);
    assert.match(text, /^engine +sphinx h:9306\/goods$/m);
    assert.match(
      text,
      /^lifeboat +sqlite goods\.sqlite, 7 documents, built 2026-11-17T12:00:00\.000Z \(3 days ago\)$/m,
    );
  });

  it('has dashes instead of numbers without samples', () => {
    const text = parityText(report(), NOW_MS);
    assert.match(text, /^overlap@10 +mean – {2}weighted –/m);
    assert.doesNotMatch(text, /NaN|null|undefined|least alike/);
  });

  it('names the options of the queries, the faults of each engine and the warnings', () => {
    const figures = figuresOf([
      {
        text: 'q',
        weight: 1,
        engine: { kind: 'fault', fault: 'engine-timeout', message: 'no reply' },
        lifeboat: { kind: 'page', tookMs: 2, late: true, titles: [] },
        notIndexed: 0,
      },
    ]);
    const text = parityText(
      report({ figures, sort: '-price', filters: ['brand:hp'], warnings: ['mind this'] }),
      NOW_MS,
    );
    assert.match(text, /^domain +goods, filter brand:hp, sort -price$/m);
    assert.match(text, /^failed +engine engine-timeout 1: no reply$/m);
    assert.match(text, /lifeboat p50 2 ms {2}p99 2 ms {2}1 answered, 1 after its deadline of 300 ms$/m);
    assert.match(text, /^! mind this$/m);
  });

  it('removes control characters from titles, and shortens long ones', () => {
    const title = `\u001b[2J${'long '.repeat(50)}`;
    const worst = [{ query: 'a\u0007b', weight: 12, overlap: 0, engineTitles: [title, 'short'], lifeboatTitles: [] }];
    const text = parityText(report({ figures: { ...figuresOf([]), worst } }), NOW_MS);
    assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}/u);
    assert.match(
      text,
      /^ {2}0\.00 {2}a·b {2}\(asked 12\)\n {8}engine {4}·\[2Jlong .{40,60}… \| short\n {8}lifeboat {2}\(nothing\)$/m,
    );
  });
});
