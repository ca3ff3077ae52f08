import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { compareRuns } from '../../judge/compare.ts';
import type { RunRecord } from '../../judge/record.ts';
import { CannotRun } from './cannot-run.ts';

export interface RunFolder {
  /** `2026-11-21T10-20-30-x-load`: UTC, so that names sort by time everywhere. */
  readonly id: string;
  readonly path: string;
}

/** A folder nobody has: of two runs in one second the later one takes the next. */
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
    // A damaged one shows before any load is sent, not after.
    compareRuns(record, record);
    return record;
  } catch {
    return undefined;
  }
}
