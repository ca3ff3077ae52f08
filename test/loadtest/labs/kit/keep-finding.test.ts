import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { FINDING_FILE, keepFinding, readFinding } from '../../../../loadtest/labs/kit/keep.ts';
import { findingOf } from '../../../fakes/finding.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 10, 20, 30);

let out: string;
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'serpcache-keep-'));
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

test('a kept finding is read back unchanged, including missing values', async () => {
  const folder = await keepFinding(findingOf(), out, NOW_MS);
  assert.deepEqual(readFinding(join(folder, FINDING_FILE)), findingOf());
});

test('a file that is not a finding is refused in one line', () => {
  const file = join(out, FINDING_FILE);
  assert.throws(() => readFinding(file), { message: `${file} cannot be read` });
  for (const [text, problem] of [
    ['{', 'is no JSON'],
    ['[]', 'is no kept finding: it has no version'],
    ['null', 'is no kept finding: it has no version'],
    ['{"version":1}', 'is a finding of version 1; 2 can be read'],
    ['{"version":2}', 'is damaged: '],
    [JSON.stringify({ ...findingOf(), finding: { ...findingOf().finding, charts: [{}] } }), 'is damaged: '],
  ] as const) {
    writeFileSync(file, text);
    assert.throws(
      () => readFinding(file),
      ({ message }: Error) => message.startsWith(`${file} ${problem}`) && !message.includes('\n'),
      text,
    );
  }
});
