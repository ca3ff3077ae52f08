import type { OptionalSuite } from '../optional.ts';

/** test/floor.json: the minimum number of tests in a run without paths and patterns, and without optional suites. */
export interface Floor {
  readonly tests: number;
  /** The tests of a run with `--all`. */
  readonly all: number;
  /** The tests of a run with `--quick`. */
  readonly quick: number;
  /** The tests that each optional suite adds to `all`. */
  readonly optional: Readonly<Record<string, number>>;
}

export interface FinishedRun {
  readonly scope: 'tests' | 'all' | 'quick' | 'named paths';
  /** Whether only tests that match a pattern, or are marked `only`, were run. */
  readonly narrowed: boolean;
  readonly tests: number;
  /** The number of tests that each file has registered. Files that failed before their tests are left out. */
  readonly testsOf: ReadonlyMap<string, number>;
  readonly skips: readonly SkippedTest[];
  readonly skipsAllowed: boolean;
  readonly optional: readonly OptionalSuite[];
  /** New files in the project that git does not ignore. */
  readonly newFiles: readonly string[];
}

export interface SkippedTest {
  readonly kind: 'skip' | 'todo';
  readonly file: string;
  readonly name: string;
  readonly reason: string;
}

export interface Judgement {
  /** Each fault makes the run fail. */
  readonly faults: readonly string[];
  readonly notes: readonly string[];
  /** The optional suites that were not run; undefined when there is none. */
  readonly lastLine: string | undefined;
}

/** Judges the run as a whole; node judges each test. */
export function judge(run: FinishedRun, floor: Floor): Judgement {
  const { tests } = run;
  const suites = new Map(run.optional.map((suite) => [suite.name, suite]));
  const absent = [...suites.values()].filter(({ present }) => !present);
  const atFloor = run.narrowed ? { faults: [], notes: [] } : compared(tests, run, floor, suites);
  return {
    faults: [
      ...(tests === 0 ? [run.narrowed ? 'no test matched' : 'no test ran'] : []),
      ...(tests > 0 && run.skips.length >= tests ? ['every test was skipped or todo'] : []),
      ...(run.narrowed ? [] : emptyFiles(run).map((file) => `${file} registers no test`)),
      ...atFloor.faults,
      ...(run.skipsAllowed || run.skips.length === 0
        ? []
        : ['as root in CI every test must run: none may be skipped or todo']),
      ...run.newFiles.map((file) => `the run left a file in the project: ${file}`),
    ],
    notes: [
      ...run.skips.map(({ kind, file, name, reason }) => `${kind}: ${file}: ${name}: ${reason || 'no reason given'}`),
      ...atFloor.notes,
    ],
    lastLine:
      absent.length === 0
        ? undefined
        : `optional suites not run: ${absent.map(({ name, how }) => `${name} (${how})`).join('; ')}`,
  };
}

/** Files without a test, except those whose only suite is optional and absent. */
function emptyFiles(run: FinishedRun): string[] {
  const withoutSuite = new Set(run.optional.flatMap(({ present, file }) => (present ? [] : [file])));
  return [...run.testsOf].flatMap(([file, tests]) => (tests === 0 && !withoutSuite.has(file) ? [file] : []));
}

function compared(
  tests: number,
  { scope }: FinishedRun,
  floor: Floor,
  suites: ReadonlyMap<string, OptionalSuite>,
): { readonly faults: readonly string[]; readonly notes: readonly string[] } {
  if (scope === 'named paths') return { faults: [], notes: [] };
  // Other runs leave out files that register optional suites.
  const all = scope === 'all';
  const present = [...suites.values()].filter((suite) => suite.present);
  const added = all ? present : [];
  const optional = added.reduce((sum, { name }) => sum + (floor.optional[name] ?? 0), 0);
  const unknown = [...suites.keys()].filter((name) => floor.optional[name] === undefined);
  const lost = all ? Object.keys(floor.optional).filter((name) => !suites.has(name)) : [];
  const asked = [`${floor[scope]}`, ...added.map(({ name }) => `${floor.optional[name] ?? 0} for ${name}`)].join(
    ' and ',
  );
  const above = tests - floor[scope] - optional;
  return {
    faults: [
      ...(above < 0 ? [`${tests} tests ran, test/floor.json asks for ${asked}`] : []),
      ...unknown.map((name) => `test/floor.json does not say how many tests the optional suite ${name} adds`),
      ...lost.map((name) => `no test file registers the optional suite ${name} of test/floor.json`),
    ],
    notes:
      above > 0 && (all || present.length === 0)
        ? [`test/floor.json may be raised: "${scope}": ${floor[scope] + above}`]
        : [],
  };
}
