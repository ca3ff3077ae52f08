import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, type ExitStatus } from '../../src/commands/arguments.ts';
import { machineWords } from '../labs/kit/machine.ts';
import { recordText, replaceFiles } from '../labs/kit/publish.ts';
import type { Goal } from './benches.ts';

/**
 * Whether hits became slower. The figure of a start is the requests that serpcache answers with a second of processor
 * time, divided by those that the server it is compared with answers: the client is often full before the server is.
 */

/** A process keeps one of two speeds for its whole life, so fewer starts say nothing. */
export const STARTS = 5;
/**
 * The committed noise is the distance from the median of these starts to the lowest. The median of five more starts of
 * the same code lies below that lowest one in 21 of 252 cases (8.3 %), however the figures are distributed: three of
 * the five have to be the lowest three of all ten. Ten starts would make it 2.2 %, and take 75 minutes.
 */
export const COMMITTED_STARTS = 5;

interface Figure {
  readonly figure: number;
  readonly noise: number;
}

export type Verdict =
  | { readonly kind: 'held' | 'slower'; readonly committed: Figure }
  | { readonly kind: 'not judged'; readonly reason: string };

/** With four decimals. @param starts the figures of at least one start */
export function figureOf(starts: readonly number[]): Figure {
  if (starts.length === 0) throw new Error('no start was measured');
  const figure = rounded(median(starts));
  return { figure, noise: rounded(figure - rounded(Math.min(...starts))) };
}

export function verdictOf(starts: readonly number[], committed: Figure | undefined): Verdict {
  if (starts.length < STARTS)
    return { kind: 'not judged', reason: `measured ${starts.length} of at least ${STARTS} starts` };
  if (!starts.every((start) => Number.isFinite(start) && start > 0))
    return { kind: 'not judged', reason: 'a start without requests or processor time says nothing' };
  if (committed === undefined) return { kind: 'not judged', reason: 'not committed yet: `npm run bench -- --commit`' };
  const { figure } = figureOf(starts);
  const limit = rounded(committed.figure - committed.noise);
  return { kind: figure < limit ? 'slower' : 'held', committed };
}

/** One bench that became slower outweighs others that could not be judged. */
export function exitStatusOf(verdicts: readonly Verdict[]): ExitStatus {
  if (verdicts.some(({ kind }) => kind === 'slower')) return EXIT.failed;
  const isUndecided = verdicts.length === 0 || verdicts.some(({ kind }) => kind === 'not judged');
  return isUndecided ? EXIT.undecided : EXIT.passed;
}

/**
 * `same` holds the ratios of the other checkout against itself, which differ by chance alone. The versions differ when the
 * median of `ours` lies outside of the range of `same`. @returns undefined when no start was measured
 */
export function differs(ours: readonly number[], same: readonly number[]): boolean | undefined {
  if (ours.length === 0 || same.length === 0) return undefined;
  const { figure } = figureOf(ours);
  return figure < Math.min(...same) || figure > Math.max(...same);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = 0, high = low] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return (low + high) / 2;
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** The rates of one start: requests per second of processor time, by the name of the subject. */
export type Rates = Readonly<Record<string, number>>;

export function ratiosOf(starts: readonly Rates[], name: string, against: string): number[] {
  return starts.map((rates) => rounded((rates[name] ?? Number.NaN) / (rates[against] ?? Number.NaN)));
}

export type GoalVerdict = 'goal' | 'floor' | 'below';

/** With only one of both, it is either reached or missed. */
export function goalVerdict(figure: number, { goal, floor }: Pick<Goal, 'goal' | 'floor'>): GoalVerdict {
  if (goal !== undefined && figure >= goal) return 'goal';
  return floor !== undefined && figure >= floor ? 'floor' : 'below';
}

/** The figure that a bench is judged by, and how it was measured. */
export type BenchResult = Awaited<ReturnType<typeof resultOf>>;

export type BenchResults = Readonly<Record<string, BenchResult>>;

export const COMMITTED_FILE = join(import.meta.dirname, 'records', 'committed.json');
const VERSION = 2;

/** Empty where there is no file. @throws when it holds something else. */
export function readResults(file = COMMITTED_FILE): BenchResults {
  if (!existsSync(file)) return {};
  try {
    const { version, benches } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly version?: unknown;
      readonly benches?: BenchResults;
    };
    if (benches === undefined || version !== VERSION) throw new Error(`it is not version ${VERSION}`);
    return benches;
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** Replaces the result of one bench and keeps the others. @returns all of them. */
export function writeResult(name: string, result: BenchResult, file = COMMITTED_FILE): BenchResults {
  const benches = { ...readResults(file), [name]: result };
  // Renamed in one step: an interrupted write must not lose the other figures.
  replaceFiles(new Map([[file, recordText({ version: VERSION, benches })]]));
  return benches;
}

interface Measured {
  readonly name: string;
  /** See `Bench.baseline`. */
  readonly baseline: string;
  readonly subject: string;
  /** Commit of the measured code; undefined outside of a repository. */
  readonly commit: string | undefined;
  /** In the order they were measured. */
  readonly rates: readonly Rates[];
  /** Load on each server, at each start. */
  readonly seconds: number;
  readonly command: string;
  readonly startedAt: string;
}

export async function resultOf({ name, baseline, subject, commit, rates, ...how }: Measured) {
  const starts = ratiosOf(rates, subject, baseline);
  const machine = await machineWords(PROGRAMS);
  return {
    name,
    baseline,
    ...figureOf(starts),
    starts,
    rates,
    ...how,
    commit,
    machine,
  };
}

/** Their versions decide the figures. */
const PROGRAMS = ['node', 'redis-server', 'wrk', 'nginx', 'varnishd', 'searchd'];
