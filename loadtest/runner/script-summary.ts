import { readFile } from 'node:fs/promises';
import type { ScriptSummary } from '../k6/kit/summary.ts';

const KINDS = ['passed', 'failed', 'invalid'];

/** What the script said of its run; undefined when it said nothing that can be read. */
export async function readSummary(file: string): Promise<ScriptSummary | undefined> {
  try {
    const summary = JSON.parse(await readFile(file, 'utf8')) as Partial<ScriptSummary> | null;
    const { script, steps, generator, verdict } = summary ?? {};
    const isWhole =
      typeof script === 'string' &&
      Array.isArray(steps) &&
      generator !== undefined &&
      KINDS.includes(verdict?.kind ?? '');
    return isWhole ? (summary as ScriptSummary) : undefined;
  } catch {
    return undefined;
  }
}
