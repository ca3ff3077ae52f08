import { reportDocument } from '../../src/report/document.ts';
import { element } from '../../src/report/markup.ts';
import type { Comparison } from '../judge/comparison.ts';
import type { Judged } from '../judge/judged.ts';
import type { RunRecord } from '../judge/record.ts';
import { comparisonSection } from './comparison-section.ts';
import { heading } from './heading.ts';
import { meaning } from './meaning.ts';
import { overTime } from './over-time.ts';
import { publishedLadder } from './published-ladder.ts';
import { resourceTable } from './resource-table.ts';
import { sheetOf } from './run-plots.ts';
import { stepTables } from './step-tables.ts';
import { LOAD_STYLE } from './style.ts';
import { trust } from './trust.ts';
import { verdictWords } from './verdict-words.ts';

export interface ReportOptions {
  readonly record: RunRecord;
  readonly judged: Judged;
}

export interface PageOptions extends ReportOptions {
  /** This run beside an earlier one. */
  readonly against?: Comparison;
}

/** The report of a load run as one HTML page of at most 400 KB, the answer first. */
export function reportPage({ record, judged, against }: PageOptions): string {
  return reportDocument({
    title: `${verdictWords(judged.verdict).word}: ${record.summary.script}`,
    style: LOAD_STYLE,
    body: [
      heading(record, judged),
      element(
        'main',
        {},
        meaning(record, judged),
        stepTables(judged),
        publishedLadder(record, judged),
        overTime(sheetOf(record, judged)),
        resourceTable(judged),
        against === undefined ? undefined : comparisonSection(against),
        trust(record, judged),
      ),
      element(
        'footer',
        {},
        'A dash stands for what was not measured. Drawn from run.json beside this page, which holds every second.',
      ),
    ],
  });
}
