import { writeFileSync } from 'node:fs';
import { originOf } from '../../loadtest/finding/machine-words.ts';
import { type Bed, startBed } from './bed.ts';
import { brokenPromises, invalidity } from './judge.ts';
import type { Selection } from './registry.ts';
import type { Report } from './report.ts';
import { BOUNDS, type Row } from './row.ts';
import { runRow } from './run-row.ts';
import { tableHead, tableLine, type Verdict } from './table.ts';

export interface MatrixOptions {
  readonly checkout: string;
  readonly repeat: number;
  readonly seed: number;
  readonly print: (line: string) => void;
  readonly jsonFile?: string;
  /** Searches that are repeated, and documents indexed. */
  readonly repeated?: number;
  readonly documents?: number;
}

const REPEATED = 500;
const DOCUMENTS = 4000;
/** A machine that was busy once may be idle now. */
const TRIES = 3;

/** Rows on one bed, then figures, each with whatever it needs. @returns whether every promise was kept. */
export async function runMatrix({ rows, figures }: Selection, options: MatrixOptions): Promise<boolean> {
  const { checkout, print, repeated = REPEATED, documents = DOCUMENTS } = options;
  const verdicts: Verdict[] = [];
  const results: unknown[] = [];
  const origin = await originOf(checkout, ['node', 'redis-server', 'searchd']);
  const secondsSince = (startedAt: string): number => (Date.now() - Date.parse(startedAt)) / 1000;
  if (rows.length > 0) print(tableHead());
  for (const layout of ['plain', 'distributed'] as const) {
    const own = rows.filter((row) => (row.layout ?? 'plain') === layout);
    if (own.length === 0) continue;
    const bed = await startBed({ checkout, repeated, documents, layout });
    try {
      for (let round = 0; round < options.repeat; round += 1) {
        for (const row of own) {
          const verdict = await tryRow(bed, row, options.seed + round);
          verdicts.push(verdict);
          print(tableLine(verdict));
          for (const each of verdict.broken) print(`    broken: ${each}`);
          if (verdict.invalid !== undefined) print(`    says nothing: ${verdict.invalid}`);
        }
      }
    } finally {
      await bed.stop();
    }
  }
  const tookSeconds = secondsSince(origin.startedAt);
  let held = verdicts.every(({ broken, invalid }) => broken.length === 0 && invalid === undefined);
  for (const figure of figures) {
    const startedAt = new Date().toISOString();
    const result = await figure.run({ checkout });
    results.push({ figure: figure.name, startedAt, tookSeconds: secondsSince(startedAt), ...result });
    print(`\n${figure.name}: ${figure.says}`);
    for (const row of result.table)
      print(
        `  ${Object.entries(row)
          .map(([name, value]) => `${name} ${value}`)
          .join(' · ')}`,
      );
    for (const { says, holds } of result.verdicts) print(`  ${holds ? 'holds' : 'BROKEN'}: ${says}`);
    held &&= result.verdicts.every(({ holds }) => holds);
  }
  if (options.jsonFile !== undefined) {
    writeFileSync(
      options.jsonFile,
      `${JSON.stringify({ ...origin, tookSeconds, seed: options.seed, rows: verdicts.map(withoutSamples), figures: results }, null, 1)}\n`,
    );
  }
  return held;
}

async function tryRow(bed: Bed, row: Row, seed: number): Promise<Verdict> {
  let verdict: Verdict = { name: row.name, report: undefined, broken: [], invalid: 'not run' };
  for (let attempt = 0; attempt < TRIES && verdict.invalid !== undefined; attempt += 1) {
    verdict = await judged(bed, row, seed + attempt * 1000);
  }
  return verdict;
}

async function judged(bed: Bed, row: Row, seed: number): Promise<Verdict> {
  try {
    const report = await runRow(bed, row, seed);
    const felt = (await row.felt?.(report, bed)) ?? true;
    const invalid = felt ? invalidity(report) : 'the fault left no trace';
    const own = (await row.check?.(report, bed)) ?? [];
    const broken = [...brokenPromises(report, { ...BOUNDS, ...row.bounds }), ...own];
    return { name: row.name, report, broken, ...(invalid === undefined ? {} : { invalid }) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { name: row.name, report: undefined, broken: [], invalid: `the row could not be run: ${why}` };
  }
}

function withoutSamples({ report, ...verdict }: Verdict): object {
  if (report === undefined) return verdict;
  // A verdict has broken promises of that name.
  const { samples: _, broken: brokenConnections, ...figures } = report satisfies Report;
  return { ...figures, brokenConnections, ...verdict };
}
