import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { compareRuns } from '../../judge/compare.ts';
import type { RunRecord } from '../../judge/record.ts';
import { drawnCharts, plotFile } from './chart.ts';
import type { FindingRecord } from './finding.ts';
import { findingMarkdown } from './markdown.ts';
import { printFinding } from './print.ts';
import { CannotRun } from './programs.ts';
import { parseRecord, replaceFiles } from './publish.ts';

/** File of a kept finding, beside its plots. */
export const FINDING_FILE = 'finding.json';

/** Several times the size of a finding with its plots. */
const ROOM_BYTES = 2 ** 20;

/** Called before minutes of measuring. @throws when nothing could be kept below `out`. */
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
  // Before the folder is made, because its name comes from the finding.
  plotFile(name, '');
  const { path } = await makeRunFolder(out, name, nowMs);
  const write = (files: Iterable<readonly [string, string]>): void =>
    replaceFiles(new Map(Array.from(files, ([file, text]) => [join(path, file), text])));
  // Written first: a finding whose plots fail can be drawn again.
  try {
    write([[FINDING_FILE, `${JSON.stringify(record, null, 2)}\n`]]);
  } catch (error) {
    await rm(path, { recursive: true });
    throw error;
  }
  write(drawnCharts(record.finding));
  return path;
}

/** A finding that was kept. @throws with one line when the file is not there, of another version, or damaged. */
export function readFinding(file: string): FindingRecord {
  const record = parsed(file);
  if (typeof record !== 'object' || record === null || !('version' in record)) {
    throw new Error(`${file} is no kept finding: it has no version`);
  }
  if (record.version !== 2)
    throw new Error(`${file} is a finding of version ${JSON.stringify(record.version)}; 2 can be read`);
  try {
    const read = record as FindingRecord;
    // A missing member fails here, not half-way through a page.
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

export interface RunFolder {
  /** `2026-11-21T10-20-30-x-load`: UTC, so that names sort by time everywhere. */
  readonly id: string;
  readonly path: string;
}

/** A new folder: when two runs start in one second, the later one takes the name of the next second. */
export async function makeRunFolder(out: string, script: string, nowMs: number): Promise<RunFolder> {
  await mkdir(out, { recursive: true });
  for (let atMs = nowMs; ; atMs += 1000) {
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

/**
 * The run to compare with. `latest` is the last of this script that says anything; undefined when there is none.
 * @throws CannotRun when a folder was named and holds no run of this script.
 */
export async function earlierRun(against: string, out: string, script: string): Promise<RunRecord | undefined> {
  if (against !== 'latest') {
    const record = await readRecord(resolve(against));
    if (record === undefined) throw new CannotRun(`--against ${against}: no run.json of this version is there`);
    if (record.summary.script === script) return record;
    throw new CannotRun(`--against ${against}: that was ${record.summary.script}, this is ${script}`);
  }
  const names = await readdir(out).catch(() => []);
  const own = names.filter((name) => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-/.test(name) && name.slice(20) === script);
  for (const name of own.sort().toReversed()) {
    const record = await readRecord(join(out, name));
    if (record !== undefined && record.verdict.kind !== 'invalid') return record;
  }
  return undefined;
}

async function readRecord(folder: string): Promise<RunRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as RunRecord;
    if (record.version !== 1) return undefined;
    // A damaged record fails before any load is sent.
    compareRuns(record, record);
    return record;
  } catch {
    return undefined;
  }
}
