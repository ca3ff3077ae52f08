import { readFileSync } from 'node:fs';
import type { FindingRecord } from './finding.ts';
import { findingMarkdown } from './finding-markdown.ts';
import { drawnCharts } from './plot-files.ts';
import { printFinding } from './print-finding.ts';
import { parseRecord } from './publish-section.ts';

/** A finding that was kept. @throws with one line when the file is not there, of another version, or damaged. */
export function readFinding(file: string): FindingRecord {
  const record = parsed(file);
  if (typeof record !== 'object' || record === null || !('version' in record)) {
    throw new Error(`${file} is no kept finding: it has no version`);
  }
  if (record.version !== 1)
    throw new Error(`${file} is a finding of version ${JSON.stringify(record.version)}; 1 can be read`);
  try {
    const read = record as FindingRecord;
    // What is missing shows here, and not half-way through a page.
    printFinding(read);
    findingMarkdown(read);
    drawnCharts(read.finding);
    return read;
  } catch (error) {
    throw new Error(`${file} is damaged: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parsed(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new Error(`${file} cannot be read`);
  }
  try {
    return parseRecord(text);
  } catch {
    throw new Error(`${file} is no JSON`);
  }
}
