import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FindingRecord } from './finding.ts';
import { drawnCharts, plotFile } from './plot-files.ts';
import { replaceFiles } from './replace-files.ts';
import { makeRunFolder } from './results-folder.ts';

/** What a finding is kept in, beside its plots. */
export const FINDING_FILE = 'finding.json';

/** What a finding and its plots take, several times over. */
const ROOM_BYTES = 2 ** 20;

/** For who is about to measure for minutes. @throws when nothing could be kept below `out`. */
export async function checkOut(out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  const folder = await mkdtemp(join(out, 'check-'));
  try {
    await writeFile(join(folder, FINDING_FILE), Buffer.alloc(ROOM_BYTES, 'x'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes `finding.json` and a plot for each chart into a folder of its own below `out`. @returns that folder. */
export async function keepFinding(record: FindingRecord, out: string, nowMs: number): Promise<string> {
  const { name } = record.finding;
  // Before there is a folder: it takes its name from the finding.
  plotFile(name, '');
  const { path } = await makeRunFolder(out, name, nowMs);
  const write = (files: Iterable<readonly [string, string]>): void =>
    replaceFiles(new Map(Array.from(files, ([file, text]) => [join(path, file), text])));
  // First of all: whatever goes wrong with drawing it, it can be drawn again.
  try {
    write([[FINDING_FILE, `${JSON.stringify(record, null, 2)}\n`]]);
  } catch (error) {
    await rm(path, { recursive: true });
    throw error;
  }
  write(drawnCharts(record.finding));
  return path;
}
