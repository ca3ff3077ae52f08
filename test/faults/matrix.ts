import { writeFileSync } from 'node:fs';
import { originOf } from '../../loadtest/finding/machine-words.ts';
import { programOf, type SearchServer, SPHINX } from '../../loadtest/stack/sphinx.ts';
import { EXIT } from '../../src/commands/arguments.ts';
import { type Bed, startBed, WarmUpError } from './bed.ts';
import type { Figure, FigureResult } from './figures/figure.ts';
import { harmOf, invalidity, judge } from './judge.ts';
import type { Selection } from './registry.ts';
import type { Report } from './report.ts';
import { BOUNDS, type Judgement, type Row } from './row.ts';
import { runRow } from './run-row.ts';
import { tableHead, tableLine } from './table.ts';
import { outcomeOf, type Try, tryLines, tryRow, type Verdict } from './tries.ts';

export interface MatrixOptions {
  readonly checkout: string;
  readonly repeat: number;
  readonly seed: number;
  readonly print: (line: string) => void;
  readonly jsonFile?: string;
  /** That rows run on; Sphinx when absent. */
  readonly server?: SearchServer;
  /** Searches that are repeated, and documents indexed. */
  readonly repeated?: number;
  readonly documents?: number;
  /** For tests of the matrix itself. */
  readonly parts?: { readonly startBed: typeof startBed; readonly runRow: typeof runRow };
}

const REPEATED = 500;
const DOCUMENTS = 4000;

interface Took {
  /** UTC, ISO 8601. */
  readonly startedAt: string;
  readonly tookSeconds: number;
}

interface Measured {
  readonly verdicts: Verdict[];
  readonly figures: (FigureResult & Took & { readonly figure: string })[];
  /** Beds that did not start, and figures that broke off. */
  readonly failures: string[];
}

/** Rows on one bed, then figures, each with whatever it needs. @returns the exit status. */
export async function runMatrix({ rows, figures }: Selection, options: MatrixOptions): Promise<number> {
  const { checkout, print } = options;
  const origin = await originOf(checkout, ['node', 'redis-server', programOf('searchd', options.server ?? SPHINX)]);
  const measured: Measured = { verdicts: [], figures: [], failures: [] };
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const failure = `${what}: ${messageOf(error)}`;
      measured.failures.push(failure);
      print(`could not be done: ${failure}`);
    }
  };
  if (rows.length > 0) print(tableHead());
  for (const layout of ['plain', 'distributed'] as const) {
    const own = rows.filter((row) => (row.layout ?? 'plain') === layout);
    if (own.length > 0) await attempt(`rows of layout ${layout}`, () => runRows(own, layout, options, measured));
  }
  const head = { ...origin, tookSeconds: secondsSince(origin.startedAt), seed: options.seed };
  for (const figure of figures) await attempt(figure.name, () => runFigure(figure, options, measured));
  const { jsonFile } = options;
  if (jsonFile !== undefined) await attempt(jsonFile, async () => writeFileSync(jsonFile, jsonOf(head, measured)));
  return exitStatusOf(measured);
}

async function runRows(
  rows: readonly Row[],
  layout: NonNullable<Row['layout']>,
  options: MatrixOptions,
  { verdicts }: Measured,
): Promise<void> {
  const { checkout, print, repeated = REPEATED, documents = DOCUMENTS, parts = { startBed, runRow } } = options;
  const server = options.server === undefined ? {} : { server: options.server };
  const bed = await parts.startBed({ checkout, repeated, documents, layout, ...server });
  try {
    for (let round = 0; round < options.repeat; round += 1) {
      for (const row of rows) {
        const verdict = await tryRow(
          row.name,
          options.seed + round,
          (seed) => judged(bed, row, seed, parts.runRow),
          row.tries,
        );
        verdicts.push(verdict);
        print(tableLine(verdict));
        if (verdict.report?.trace.felt) print(`    felt: ${verdict.report.trace.evidence}`);
        for (const line of tryLines(verdict)) print(line);
      }
    }
  } finally {
    await bed.stop();
  }
}

async function judged(bed: Bed, row: Row, seed: number, run: typeof runRow): Promise<Try> {
  let report: Report | undefined;
  try {
    report = await run(bed, row, seed);
  } catch (error) {
    const harm = error instanceof WarmUpError ? error.harm : [];
    return { seed, report, harm, broken: [], invalid: `the row could not be run: ${messageOf(error)}` };
  }
  const harm = harmOf(report);
  const failed = report.failure !== undefined;
  const bounds = failed ? NOTHING_JUDGED : judge(report, { ...BOUNDS, ...row.bounds });
  const own = failed ? NOTHING_JUDGED : await checked(bed, row, report);
  const unmeasured = [...bounds.unmeasured, ...own.unmeasured];
  const invalid =
    invalidity(report) ?? (unmeasured.length > 0 ? `there were no samples of: ${unmeasured.join('; ')}` : undefined);
  const broken = [...bounds.broken, ...own.broken];
  return { seed, report, harm, broken, ...(invalid === undefined ? {} : { invalid }) };
}

const NOTHING_JUDGED: Judgement = { broken: [], unmeasured: [] };

async function checked(bed: Bed, row: Row, report: Report): Promise<Judgement> {
  try {
    return { ...NOTHING_JUDGED, ...(await row.check?.(report, bed)) };
  } catch (error) {
    return { broken: [], unmeasured: [`what the row checks itself: ${messageOf(error)}`] };
  }
}

const SHOWN = { true: 'holds', false: 'BROKEN', 'not measured': 'NOT MEASURED' } as const;

async function runFigure(figure: Figure, { checkout, print }: MatrixOptions, { figures }: Measured): Promise<void> {
  print(`\n${figure.name}: ${figure.says}`);
  const startedAt = new Date().toISOString();
  const result = await figure.run({ checkout });
  figures.push({ figure: figure.name, startedAt, tookSeconds: secondsSince(startedAt), ...result });
  for (const row of result.table) {
    const cells = Object.entries(row).map(([name, value]) => `${name} ${value}`);
    print(`  ${cells.join(' · ')}`);
  }
  for (const { says, holds } of result.verdicts) print(`  ${SHOWN[`${holds}`]}: ${says}`);
}

/** A broken promise outweighs what could not be done, and that outweighs what said nothing. */
function exitStatusOf({ verdicts, figures, failures }: Measured): number {
  const outcomes = verdicts.map(outcomeOf);
  const held = figures.flatMap((figure) => figure.verdicts.map(({ holds }) => holds));
  if (outcomes.includes('red') || held.includes(false)) return EXIT.failed;
  if (failures.length > 0) return EXIT.notDone;
  // A figure without verdicts, or nothing at all, has shown nothing.
  const isEmpty = verdicts.length + figures.length === 0 || figures.some((figure) => figure.verdicts.length === 0);
  return isEmpty || outcomes.includes('invalid') || held.includes('not measured') ? EXIT.undecided : EXIT.passed;
}

function jsonOf(head: object, { verdicts, figures, failures }: Measured): string {
  const rows = verdicts.map((verdict) => ({
    ...(verdict.report === undefined ? {} : figuresOf(verdict.report)),
    name: verdict.name,
    outcome: outcomeOf(verdict),
    broken: verdict.broken,
    invalid: verdict.invalid,
    tries: verdict.tries.map((one) => ({
      ...one,
      report: one.report === undefined ? undefined : figuresOf(one.report),
    })),
  }));
  return `${JSON.stringify({ ...head, rows, figures, ...(failures.length > 0 ? { failures } : {}) }, null, 1)}\n`;
}

/** `broken` are promises in the file, so the report's broken connections have a longer name there. */
function figuresOf({ samples: _, broken: brokenConnections, ...figures }: Report): object {
  return { ...figures, brokenConnections };
}

const secondsSince = (startedAt: string): number => (Date.now() - Date.parse(startedAt)) / 1000;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
