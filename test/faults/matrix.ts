import { writeFileSync } from 'node:fs';
import { originOf } from '../../loadtest/labs/kit/machine.ts';
import { programOf, type SearchServer, SPHINX } from '../../loadtest/stack/sphinx.ts';
import { EXIT } from '../../src/commands/arguments.ts';
import { startHarness } from './harness.ts';
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
import { PHASES, type PhaseReport, type Report } from './report.ts';
import { BOUNDS, type Harness, type Judgement, type Row, WarmUpError } from './row.ts';
import { runRow } from './run-row.ts';

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
}

const REPEATED = 500;
const DOCUMENTS = 4000;

interface Measured {
  readonly verdicts: RowVerdict[];
  /** Harnesses that did not start, and a file that could not be written. */
  readonly failures: string[];
}

/** Runs the rows of each layout on one harness. @returns the exit status. */
export async function runMatrix(rows: readonly Row[], options: MatrixOptions): Promise<number> {
  const { checkout, print, server = SPHINX } = options;
  const origin = await originOf(checkout, ['node', 'redis-server', programOf('searchd', server)]);
  const measured: Measured = { verdicts: [], failures: [] };
  const tryStep = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const failure = `${what}: ${messageOf(error)}`;
      measured.failures.push(failure);
      print(`could not be done: ${failure}`);
    }
  };
  if (rows.length > 0) print(line('row', 'verdict', ([title]) => title));
  for (const layout of ['plain', 'distributed'] as const) {
    const own = rows.filter((row) => (row.layout ?? 'plain') === layout);
    if (own.length > 0) await tryStep(`rows of layout ${layout}`, () => runRows(own, layout, options, measured));
  }
  const head = { ...origin, tookSeconds: secondsSince(origin.startedAt), seed: options.seed };
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
  const { checkout, print, repeated = REPEATED, documents = DOCUMENTS } = options;
  const harness = await startHarness({ checkout, repeated, documents, layout, server: options.server });
  try {
    for (let round = 0; round < options.repeat; round += 1) {
      for (const row of rows) {
        const verdict = await runAttempts(
          row.name,
          options.seed + round,
          (seed) => runAndJudge(harness, row, seed),
          row.maxAttempts,
        );
        verdicts.push(verdict);
        const { report } = verdict;
        print(
          line(row.name, OUTCOME_TEXT[outcomeOf(verdict)], ([, , cell]) => (report === undefined ? '' : cell(report))),
        );
        if (report?.trace.found) print(`    effect: ${report.trace.evidence}`);
        for (const line of attemptLines(verdict)) print(line);
      }
    }
  } finally {
    await harness.stop();
  }
}

async function runAndJudge(harness: Harness, row: Row, seed: number): Promise<Attempt> {
  let report: Report | undefined;
  try {
    report = await runRow(harness, row, seed);
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

/** A broken promise has priority over a failure, and a failure over an undecided result. */
function exitStatusOf({ verdicts, failures }: Measured): number {
  const outcomes = verdicts.map(outcomeOf);
  if (outcomes.includes('red')) return EXIT.failed;
  if (failures.length > 0) return EXIT.notDone;
  return outcomes.length === 0 || outcomes.includes('invalid') ? EXIT.undecided : EXIT.passed;
}

function jsonOf(head: object, { verdicts, failures }: Measured): string {
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
  return `${JSON.stringify({ ...head, rows, failures: failed }, null, 1)}\n`;
}

/** The report in the format of the JSON file, which calls an effect that was found `felt`. */
function figuresOf({ samples: _, trace: { found, evidence }, ...figures }: Report): object {
  return { ...figures, trace: { felt: found, evidence } };
}

const secondsSince = (startedAt: string): number => (Date.now() - Date.parse(startedAt)) / 1000;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const OUTCOME_TEXT = { red: 'RED', invalid: 'INVALID', green: 'green' } as const;
const percent = (value: number): string => (Number.isNaN(value) ? '–' : `${Math.round(value * 1000) / 10}%`);
const number = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(value < 10 ? 1 : 0));
const phasesOf = ({ subject }: Report): readonly PhaseReport[] => PHASES.map((phase) => subject[phase]);
const sumOf = (report: Report, of: (phase: PhaseReport) => number): string =>
  `${phasesOf(report).reduce((sum, phase) => sum + of(phase), 0)}`;
const three = ({ subject: { before, fault, steady } }: Report, of: (phase: PhaseReport) => string): string =>
  [before, fault, steady].map(of).join(' ');
const shedOf = ({ outcomes }: PhaseReport): number =>
  Object.entries(outcomes).reduce((sum, [label, count]) => sum + (label.startsWith('shed ') ? count : 0), 0);

/** `b/f/s`: before the fault, during it, after recovery. `no page`: share of the searches during the fault. */
const COLUMNS: readonly (readonly [title: string, width: number, cell: (report: Report) => string])[] = [
  ['reqs', 7, (report) => sumOf(report, ({ requests }) => requests)],
  ['wrong', 6, ({ wrong }) => `${wrong.length}`],
  ['hung', 6, ({ hung }) => `${hung}`],
  ['5xx', 6, (report) => sumOf(report, shedOf)],
  ['no page', 9, ({ subject }) => percent(subject.fault.unanswered)],
  ['hit ratio b/f/s', 20, (report) => three(report, ({ hitRatio }) => percent(hitRatio))],
  ['p95 ms b/f/s', 16, (report) => three(report, ({ p95Ms }) => number(p95Ms))],
  ['per key', 8, ({ engine }) => (engine.searches / Math.max(1, engine.distinct)).toFixed(2)],
  ['RSS', 7, ({ peakRssBytes }) => `${Math.round(peakRssBytes / 2 ** 20)}M`],
  ['back s', 7, ({ recoveredAfterMs: ms }) => (ms === undefined ? '–' : (ms / 1000).toFixed(1))],
];

function line(name: string, verdict: string, cell: (column: (typeof COLUMNS)[number]) => string): string {
  const cells = COLUMNS.map((column) => cell(column).padEnd(column[1]));
  return [name.padEnd(20), verdict.padEnd(8), ...cells].join(' ').trimEnd();
}
