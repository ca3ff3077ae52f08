/**
 * `node test/faults/publish.ts <file of npm run faults -- --json>`: writes the matrix of that file
 * into README.md and its record into records/. Broken and invalid rows are shown as such. An incomplete matrix is
 * refused, because it would replace the complete one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verdictOf } from '../../loadtest/labs/kit/claims.ts';
import type { Claim, Column, Finding, FindingRecord, FindingTable, Row } from '../../loadtest/labs/kit/finding.ts';
import { publishFinding } from '../../loadtest/labs/kit/publish.ts';
import { EXIT, type Program, runProgram } from '../../src/commands/arguments.ts';
import { FAMILIES } from './registry.ts';
import { PHASES, type PhaseReport, type Report, type Trace } from './report.ts';

/** The file of `--json`. Numbers that were not measured are null. */
export interface FaultsFile extends Pick<FindingRecord, 'machine' | 'startedAt' | 'tookSeconds' | 'commit'> {
  readonly seed: number;
  readonly rows: readonly RowResult[];
}

/** A row that could not be run has no fields of a report. */
export interface RowResult extends Partial<Omit<Report, 'brokenConnections' | 'samples' | 'trace'>> {
  readonly name: string;
  readonly trace?: Pick<Trace, 'evidence'>;
  readonly broken: readonly string[];
  readonly invalid?: string;
  /** Absent in files of older versions. */
  readonly tries?: readonly { readonly report?: Pick<Report, 'subject' | 'wrong' | 'hung'> }[];
}

const COLUMNS: readonly Column[] = [
  { name: 'promise', unit: 'text' },
  { name: 'hits before', unit: 'share' },
  { name: 'during', unit: 'share' },
  { name: 'of the control', unit: 'share' },
  { name: 'no page during', unit: 'share' },
  { name: 'p95 during ÷ before', unit: 'times' },
  { name: 'engine searches per key', unit: 'times' },
  { name: 'back after', unit: 'ms' },
  { name: 'wrong', unit: 'count' },
  { name: 'hung', unit: 'count' },
  { name: 'tries', unit: 'count' },
  { name: 'trace of the fault', unit: 'text' },
];

/** @throws when rows of the matrix are missing. */
export function findingOf({ machine, commit, seed, rows, startedAt, tookSeconds }: FaultsFile): FindingRecord {
  const command = `npm run faults${seed === 1 ? '' : ` -- --seed ${seed}`}`;
  return { version: 2, machine, commit, startedAt, tookSeconds, command, finding: matrixFinding(rows) };
}

function matrixFinding(rows: readonly RowResult[]): Finding {
  const missing = Object.values(FAMILIES)
    .flat()
    .filter(({ name }) => !rows.some((row) => row.name === name));
  if (missing.length > 0) {
    throw new Error(`a part of the matrix: ${missing.map(({ name }) => name).join(', ')} are missing`);
  }
  const tables = Object.entries(FAMILIES).map(
    ([family, own]): FindingTable => ({
      title: family,
      columns: COLUMNS,
      rows: own.flatMap(({ name }) => rows.filter((row) => row.name === name)).map(rowOf),
    }),
  );
  const claims = matrixClaims(rows);
  const notKept = rows.filter((row) => promiseOf(row) !== 'kept');
  return {
    name: 'matrix',
    title: 'The matrix: each fault in turn',
    published: '',
    claims,
    verdict: verdictOf(claims),
    sentence: 'Each row injects one fault into real servers under load and says what the service promises then.',
    tables,
    charts: [],
    notes: [
      'Hits and pages: shares of the searches, of the process under test and of the control for the same searches while the fault lasts.',
      'Trace of the fault: what its injector or the server that was hurt said of it, before → during.',
      'Back after: from the end of the fault until recovered. The window in which it is looked for is a second and a half.',
      ...notKept.map((row) => `${row.name}, ${promiseOf(row)}: ${[row.invalid ?? [], row.broken].flat().join('; ')}`),
    ],
  };
}

function rowOf(row: RowResult): Row {
  const { name, subject, control, engine, recoveredAfterMs, wrong, hung, tries, trace } = row;
  const ratio = (read: (phase: PhaseReport) => number): number | undefined =>
    subject === undefined ? undefined : finite(read(subject.fault) / read(subject.before));
  return {
    name,
    values: [
      promiseOf(row),
      finite(subject?.before.hitRatio),
      finite(subject?.fault.hitRatio),
      finite(control?.fault.hitRatio),
      finite(subject?.fault.unanswered),
      ratio(({ p95Ms }) => p95Ms ?? Number.NaN),
      engine === undefined ? undefined : engine.searches / Math.max(1, engine.distinct),
      finite(recoveredAfterMs),
      wrong?.length,
      finite(hung),
      tries?.length,
      trace?.evidence,
    ],
  };
}

function promiseOf({ broken, invalid }: RowResult): 'kept' | 'broken' | 'not seen' {
  // A wrong answer in any attempt counts, even when the last attempt was invalid.
  if (broken.length > 0) return 'broken';
  return invalid === undefined ? 'kept' : 'not seen';
}

function matrixClaims(rows: readonly RowResult[]): readonly Claim[] {
  type Counts = Partial<Pick<Report, 'subject' | 'wrong' | 'hung'>>;
  const reports = rows.flatMap((row): readonly Counts[] => row.tries?.map(({ report }) => report ?? {}) ?? [row]);
  const sum = (read: (report: Counts) => number | undefined): number =>
    reports.reduce((total, report) => total + (read(report) ?? 0), 0);
  const requests = sum(({ subject }) =>
    subject === undefined ? 0 : PHASES.reduce((total, phase) => total + subject[phase].requests, 0),
  );
  const count = (promise: string): number => rows.filter((row) => promiseOf(row) === promise).length;
  const unit = 'count';
  return [
    { text: 'rows that broke their promise', figure: count('broken'), unit, atMost: 0, isRequired: true },
    { text: 'rows that kept their promise', figure: count('kept'), unit, atLeast: rows.length },
    { text: 'requests', figure: requests, unit },
    { text: 'requests with a wrong answer', figure: sum(({ wrong }) => wrong?.length), unit },
    { text: 'requests without an answer', figure: sum(({ hung }) => hung), unit },
  ];
}

/** JSON has no NaN: a ratio without samples is null. */
function finite(value: number | null | undefined): number | undefined {
  return value === null || value === undefined || !Number.isFinite(value) ? undefined : value;
}

const PROGRAM: Program = {
  command: 'node test/faults/publish.ts',
  usage: '[--commit HASH] <file of npm run faults -- --json>',
  about: ['Writes the matrix of the file into test/faults/README.md and its record into test/faults/records.'],
  options: [
    { name: 'commit', takes: 'HASH', about: 'commit of the measured code, for a file that does not contain it' },
  ],
  takes: { min: 1, max: 1 },
};

if (import.meta.main) {
  process.exitCode = await runProgram(PROGRAM, ({ positionals: [path = ''], text }) => {
    const file: FaultsFile = { commit: text('commit'), ...JSON.parse(readFileSync(path, 'utf8')) };
    publishFinding(findingOf(file), join(import.meta.dirname, 'README.md'));
    return EXIT.passed;
  });
}
