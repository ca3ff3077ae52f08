import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { reportPage } from '../../../../src/operations/drills/report/report-page.ts';
import { markupFaults } from '../../../report/well-formed.ts';
import { anyJournal } from './arbitrary-journal.ts';

test('whatever a journal holds, its page is well-formed and shows no number that is none', () => {
  fc.assert(
    fc.property(anyJournal, (journal) => {
      const page = reportPage(journal);
      assert.deepEqual(markupFaults(page), []);
      const at = page.search(/NaN|Infinity|undefined|null|\[object/);
      assert.equal(at, -1, page.slice(Math.max(0, at - 80), at + 60));
    }),
    { numRuns: 300 },
  );
});
