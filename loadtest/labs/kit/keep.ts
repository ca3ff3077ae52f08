import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { drawnCharts, plotFile } from './chart.ts';
import type { FindingRecord } from './finding.ts';
import { findingMarkdown } from './markdown.ts';
import { printFinding } from './print.ts';
import { parseRecord, replaceFiles } from './publish.ts';

export const FINDING_FILE = 'finding.json';

/** Several times the size of a finding with its plots. */
const CHECK_BYTES = 2 ** 20;

/** A check before minutes of measurement. @throws when nothing can be written below `out`. */
export async function checkOut(out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  const folder = await mkdtemp(join(out, 'check-'));
  try {
    await writeFile(join(folder, FINDING_FILE), Buffer.alloc(CHECK_BYTES, 'x'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes `finding.json` and a plot for each chart into a folder of its own below `out`. @returns that folder. */
export async function keepFinding(record: FindingRecord, out: string, nowMs: number): Promise<string> {
  const { name } = record.finding;
  // Checks the name before a folder with this name is made.
  plotFile(name, '');
  const { path } = await makeRunFolder(out, name, nowMs);
  const write = (files: Iterable<readonly [string, string]>): void =>
    replaceFiles(new Map(Array.from(files, ([file, text]) => [join(path, file), text])));
  // Written first: if drawing fails, the plots can be drawn again from it.
  try {
    write([[FINDING_FILE, `${JSON.stringify(record, null, 2)}\n`]]);
  } catch (error) {
    await rm(path, { recursive: true });
    throw error;
  }
  write(drawnCharts(record.finding));
  return path;
}

/** Reads a kept finding. @throws with one line when the file is missing, of another version, or damaged. */
export function readFinding(file: string): FindingRecord {
  const record = parsed(file);
  if (typeof record !== 'object' || record === null || !('version' in record)) {
    throw new Error(`${file} is no kept finding: it has no version`);
  }
  if (record.version !== 2)
    throw new Error(`${file} is a finding of version ${JSON.stringify(record.version)}; 2 can be read`);
  try {
    const read = record as FindingRecord;
    // Missing members must show here and not half-way through a page.
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

export type RunFolder = Awaited<ReturnType<typeof makeRunFolder>>;

/** Makes a new folder. The later one of two runs in the same second gets the next second. */
export async function makeRunFolder(out: string, script: string, nowMs: number) {
  await mkdir(out, { recursive: true });
  for (let atMs = nowMs; ; atMs += 1000) {
    // `2026-11-21T10-20-30-x-load`: UTC, so that names sort by time everywhere.
    const id = `${new Date(atMs).toISOString().slice(0, 19).replaceAll(':', '-')}-${script}`;
    const path = resolve(out, id);
    try {
      await mkdir(path);
      return { id, path };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
}
