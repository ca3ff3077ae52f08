import { writeFileSync } from 'node:fs';
import type { FindingRecord } from '../../loadtest/labs/kit/finding.ts';
import type { SearchServer } from '../../loadtest/stack/sphinx.ts';
import { EXIT } from '../../src/commands/arguments.ts';
import type { Figure, FigureResult } from './figures/figure.ts';
import type { startHarness } from './harness.ts';
import {
  type Attempt,
  attemptLines,
  harmOf,
  invalidReason,
  judge,
  outcomeOf,
  type RowVerdict,
  runAttempts,
} from './judge.ts';
import type { Selection } from './registry.ts';
import type { Report } from './report.ts';
import { BOUNDS, type Harness, type Judgement, type Row, WarmUpError } from './row.ts';

interface MatrixOptions {
  readonly checkout: string;
  readonly repeat: number;
  readonly seed: number;
  readonly print: (line: string) => void;
  readonly jsonFile?: string;
  /** The search server of the rows. Default: Sphinx. */
  readonly server?: SearchServer;
  /** Number of repeated searches and of indexed documents. */
  readonly repeated?: number;
  readonly documents?: number;
  readonly parts: MatrixParts;
}

/** The parts that start servers and programs. Tests of the matrix itself replace them. */
export interface MatrixParts {
  readonly startHarness: typeof startHarness;
  /** @throws when the row cannot be prepared. */
  readonly runRow: (harness: Harness, row: Row, seed: number) => Promise<Report>;
  /** Machine, time and code of the measurement. Without `server`: Sphinx. */
  readonly originOf: (
    checkout: string,
    server?: SearchServer,
  ) => Promise<Pick<FindingRecord, 'machine' | 'startedAt' | 'commit'>>;
}

const REPEATED = 500;
const DOCUMENTS = 4000;

interface Timing {
  /** UTC, ISO 8601. */
  readonly startedAt: string;
  readonly tookSeconds: number;
}

interface Measured {
  readonly verdicts: RowVerdict[];
  readonly figures: (FigureResult & Timing & { readonly figure: string })[];
  /** Harnesses that did not start and figures that failed. */
  readonly failures: string[];
}

/** Runs the rows of each layout on one harness, then the figures, each with its own servers. @returns the exit status. */
export async function runMatrix({ rows, figures }: Selection, options: MatrixOptions): Promise<number> {
  const { checkout, print } = options;
  const origin = await options.parts.originOf(checkout, options.server);
  const measured: Measured = { verdicts: [], figures: [], failures: [] };
  const tryStep = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const failure = `${what}: ${messageOf(error)}`;
      measured.failures.push(failure);
      print(`could not be done: ${failure}`);
    }
  };
  if (rows.length > 0) print(line(HEAD));
  for (const layout of ['plain', 'distributed'] as const) {
    const own = rows.filter((row) => (row.layout ?? 'plain') === layout);
    if (own.length > 0) await tryStep(`rows of layout ${layout}`, () => runRows(own, layout, options, measured));
  }
  const head = { ...origin, tookSeconds: secondsSince(origin.startedAt), seed: options.seed };
  for (const figure of figures) await tryStep(figure.name, () => runFigure(figure, options, measured));
  const { jsonFile } = options;
  if (jsonFile !== undefined) await tryStep(jsonFile, async () => writeFileSync(jsonFile, jsonOf(head, measured)));
  return exitStatusOf(measured);
}

async function runRows(
  rows: readonly Row[],
  layout: NonNullable<Row['layout']>,
  options: MatrixOptions,
  { verdicts }: Measured,
): Promise<void> {
  const { checkout, print, repeated = REPEATED, documents = DOCUMENTS, parts } = options;
  const harness = await parts.startHarness({ checkout, repeated, documents, layout, server: options.server });
  try {
    for (let round = 0; round < options.repeat; round += 1) {
      for (const row of rows) {
        const verdict = await runAttempts(
          row.name,
          options.seed + round,
          (seed) => runAndJudge(harness, row, seed, parts.runRow),
          row.maxAttempts,
        );
        verdicts.push(verdict);
        print(tableLine(verdict));
        if (verdict.report?.trace.found) print(`    effect: ${verdict.report.trace.evidence}`);
        for (const line of attemptLines(verdict)) print(line);
      }
    }
  } finally {
    await harness.stop();
  }
}

async function runAndJudge(harness: Harness, row: Row, seed: number, run: MatrixParts['runRow']): Promise<Attempt> {
  let report: Report | undefined;
  try {
    report = await run(harness, row, seed);
  } catch (error) {
    const harm = error instanceof WarmUpError ? error.harm : [];
    return { seed, report, harm, broken: [], invalid: `the row could not be run: ${messageOf(error)}` };
  }
  const harm = harmOf(report);
  const failed = report.failure !== undefined;
  const bounds = failed ? NO_FINDINGS : judge(report, { ...BOUNDS, ...row.bounds });
  const own = failed ? NO_FINDINGS : await runOwnCheck(harness, row, report);
  const unmeasured = [...bounds.unmeasured, ...own.unmeasured];
  const invalid =
    invalidReason(report) ?? (unmeasured.length > 0 ? `there were no samples of: ${unmeasured.join('; ')}` : undefined);
  const broken = [...bounds.broken, ...own.broken];
  return { seed, report, harm, broken, invalid };
}

const NO_FINDINGS: Judgement = { broken: [], unmeasured: [] };

async function runOwnCheck(harness: Harness, row: Row, report: Report): Promise<Judgement> {
  try {
    return { ...NO_FINDINGS, ...(await row.check?.(report, harness)) };
  } catch (error) {
    return { broken: [], unmeasured: [`what the row checks itself: ${messageOf(error)}`] };
  }
}

async function runFigure(figure: Figure, { checkout, print }: MatrixOptions, { figures }: Measured): Promise<void> {
  print(`\n${figure.name}: ${figure.summary}`);
  const startedAt = new Date().toISOString();
  const result = await figure.run({ checkout });
  figures.push({ figure: figure.name, startedAt, tookSeconds: secondsSince(startedAt), ...result });
  for (const row of result.table) {
    const cells = Object.entries(row).map(([name, value]) => `${name} ${value}`);
    print(`  ${cells.join(' · ')}`);
  }
  for (const { says, holds } of result.verdicts) print(`  ${VERDICT_TEXT[`${holds}`]}: ${says}`);
}

const VERDICT_TEXT = { true: 'holds', false: 'BROKEN', 'not measured': 'NOT MEASURED' } as const;

/** A broken promise has priority over a failure, and a failure over an undecided result. */
function exitStatusOf({ verdicts, figures, failures }: Measured): number {
  const outcomes = verdicts.map(outcomeOf);
  const held = figures.flatMap((figure) => figure.verdicts.map(({ holds }) => holds));
  if (outcomes.includes('red') || held.includes(false)) return EXIT.failed;
  if (failures.length > 0) return EXIT.notDone;
  // A figure without verdicts, and an empty run, are undecided.
  const isEmpty = verdicts.length + figures.length === 0 || figures.some((figure) => figure.verdicts.length === 0);
  return isEmpty || outcomes.includes('invalid') || held.includes('not measured') ? EXIT.undecided : EXIT.passed;
}

function jsonOf(head: object, { verdicts, figures, failures }: Measured): string {
  const rows = verdicts.map((verdict) => ({
    ...(verdict.report && figuresOf(verdict.report)),
    name: verdict.name,
    outcome: outcomeOf(verdict),
    broken: verdict.broken,
    invalid: verdict.invalid,
    tries: verdict.attempts.map((one) => ({
      ...one,
      report: one.report && figuresOf(one.report),
    })),
  }));
  const failed = failures.length > 0 ? failures : undefined;
  return `${JSON.stringify({ ...head, rows, figures, failures: failed }, null, 1)}\n`;
}

/** The report in the format of the JSON file, which calls an effect that was found `felt`. */
function figuresOf({ samples: _, trace: { found, evidence }, ...figures }: Report): object {
  return { ...figures, trace: { felt: found, evidence } };
}

const secondsSince = (startedAt: string): number => (Date.now() - Date.parse(startedAt)) / 1000;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** `b/f/s`: before the fault, during it, after recovery. `no page`: share of the searches during the fault. */
function tableLine(whole: RowVerdict): string {
  const { name, report } = whole;
  const verdict = OUTCOME_TEXT[outcomeOf(whole)];
  if (report === undefined) return line([name, verdict]);
  const { before, fault, after, steady } = report.subject;
  const phases = [before, fault, after, steady];
  const refused = phases
    .flatMap(({ outcomes }) => Object.entries(outcomes))
    .filter(([label]) => label.startsWith('shed '))
    .reduce((sum, [, count]) => sum + count, 0);
  const three = (value: (phase: typeof before) => string): string => [before, fault, steady].map(value).join(' ');
  return line([
    name,
    verdict,
    `${phases.reduce((sum, phase) => sum + phase.requests, 0)}`,
    `${report.wrong.length}`,
    `${report.hung}`,
    `${refused}`,
    percent(fault.unanswered),
    three(({ hitRatio }) => percent(hitRatio)),
    three(({ p95Ms }) => number(p95Ms)),
    (report.engine.searches / Math.max(1, report.engine.distinct)).toFixed(2),
    `${Math.round(report.peakRssBytes / 2 ** 20)}M`,
    report.recoveredAfterMs === undefined ? '–' : (report.recoveredAfterMs / 1000).toFixed(1),
  ]);
}

const WIDTHS = [20, 8, 7, 6, 6, 6, 9, 20, 16, 8, 7, 7] as const;
const HEAD = [
  'row',
  'verdict',
  'reqs',
  'wrong',
  'hung',
  '5xx',
  'no page',
  'hit ratio b/f/s',
  'p95 ms b/f/s',
  'per key',
  'RSS',
  'back s',
];

const OUTCOME_TEXT = { red: 'RED', invalid: 'INVALID', green: 'green' } as const;

function line(cells: readonly string[]): string {
  return cells
    .map((cell, at) => cell.padEnd(WIDTHS[at] ?? 8))
    .join(' ')
    .trimEnd();
}

const percent = (value: number): string => (Number.isNaN(value) ? '–' : `${Math.round(value * 1000) / 10}%`);
const number = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(value < 10 ? 1 : 0));
