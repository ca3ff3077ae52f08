import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeRunFolder } from '../run/results-folder.ts';
import type { FindingRecord } from './finding.ts';
import { drawnCharts, plotFile } from './plot-files.ts';

/** What a finding is kept in, beside its plots. */
export const FINDING_FILE = 'finding.json';

/** Writes `finding.json` and a plot for each chart into a folder of its own below `out`. @returns that folder. */
export async function keepFinding(record: FindingRecord, out: string, nowMs: number): Promise<string> {
  const { name } = record.finding;
  // Before there is a folder: it takes its name from the finding.
  plotFile(name, '');
  const { path } = await makeRunFolder(out, name, nowMs);
  // First of all: whatever goes wrong with drawing it, it can be drawn again.
  await writeFile(join(path, FINDING_FILE), `${JSON.stringify(record, null, 2)}\n`);
  for (const [file, svg] of drawnCharts(record.finding)) await writeFile(join(path, file), svg);
  return path;
}
