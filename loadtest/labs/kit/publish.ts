import type { FindingRecord } from './finding.ts';
import { findingMarkdown } from './finding-markdown.ts';
import { overviewOf, withOverview } from './overview.ts';
import { drawnCharts } from './plot-files.ts';
import { checkSections, parseRecord, publishSection, recordText, type Section } from './publish-section.ts';

/** The section of a page for a finding. It is rendered from the text of the record, as a reader of the record can do. */
export function findingSection(record: string): Section {
  const read = parseRecord(record) as FindingRecord;
  return { name: read.finding.name, record, markdown: findingMarkdown(read), plots: drawnCharts(read.finding) };
}

/**
 * Writes a finding into its page, with its plots and its record beside it. @throws as `publishSection` does, and when the
 * finding was measured for less time than it should be or the commit of the measured code is unknown.
 */
export function publishFinding(record: FindingRecord, page: string): void {
  const { name } = record.finding;
  if (/ --seconds\b/.test(record.command)) {
    throw new Error(
      `${name} was measured with "${record.command}": a page shows rows measured as long as they should be`,
    );
  }
  if (record.commit === undefined) throw new Error(`${name} does not say which commit was measured`);
  publishSection(findingSection(recordText(record)), page, (text, names) => withOverview(text, record, names));
}

/** For whoever is about to measure for minutes. @throws when a finding of one of these names could not be published there. */
export function checkPage(page: string, names: readonly string[]): void {
  overviewOf(checkSections(page, names));
}
