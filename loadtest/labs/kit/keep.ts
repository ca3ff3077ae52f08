import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { drawnCharts } from './chart.ts';
import type { FindingRecord } from './finding.ts';
import { parseRecord } from './publish.ts';

export const FINDING_FILE = 'finding.json';

/** A check before minutes of measurement. @throws when nothing can be written below `out`. */
export function checkOut(out: string): void {
  mkdirSync(out, { recursive: true });
  accessSync(out, constants.W_OK);
}

/** Writes `finding.json` and a plot for each chart into a folder of its own below `out`. @returns that folder. */
export async function keepFinding(record: FindingRecord, out: string, nowMs: number): Promise<string> {
  const { path } = await makeRunFolder(out, record.finding.name, nowMs);
  // Written first: if drawing fails, the plots can be drawn again from it.
  writeFileSync(join(path, FINDING_FILE), `${JSON.stringify(record, null, 2)}\n`);
  for (const [file, svg] of drawnCharts(record.finding)) writeFileSync(join(path, file), svg);
  return path;
}

/** Reads a kept finding. @throws when the file is missing, no JSON, or of another version. */
export function readFinding(file: string): FindingRecord {
  const record = parseRecord(readFileSync(file, 'utf8')) as FindingRecord;
  if (record.version === 2) return record;
  throw new Error(`${file} is a finding of version ${JSON.stringify(record.version)}; 2 can be read`);
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
