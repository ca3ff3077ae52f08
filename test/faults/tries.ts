import type { Report } from './report.ts';

/** One run of a row, and what was found. */
export interface Try {
  readonly seed: number;
  /** Undefined when the row ended before its stream began. */
  readonly report: Report | undefined;
  /** Wrong, hung and dishonest answers: they count even when the try is invalid. */
  readonly harm: readonly string[];
  /** Other broken promises: they count in a valid try. */
  readonly broken: readonly string[];
  /** Why the try says nothing. */
  readonly invalid?: string;
}

/** The result of all tries of a row. */
export interface Verdict {
  readonly name: string;
  readonly tries: readonly Try[];
  /** Report of the last try that has one. */
  readonly report: Report | undefined;
  /** Broken promises that count, of all tries. Empty: none was found. */
  readonly broken: readonly string[];
  /** Why the last try says nothing. */
  readonly invalid?: string;
}

/** A machine that was busy once may be idle now. */
export const TRIES = 3;
/** Each try asks other searches in another order. */
const SEED_STEP = 1000;

/** Again while a try is invalid. No later try takes back the harm of an earlier one. */
export async function tryRow(
  name: string,
  seed: number,
  run: (seed: number) => Promise<Try>,
  atMost = TRIES,
): Promise<Verdict> {
  const tries: Try[] = [];
  do tries.push(await run(seed + tries.length * SEED_STEP));
  while (tries.length < atMost && tries.at(-1)?.invalid !== undefined);
  const invalid = tries.at(-1)?.invalid;
  return {
    name,
    tries,
    report: tries.findLast(({ report }) => report !== undefined)?.report,
    broken: tries.flatMap((one, at) =>
      counted(one).map((each) => (tries.length > 1 ? `try ${at + 1}: ${each}` : each)),
    ),
    ...(invalid === undefined ? {} : { invalid }),
  };
}

const counted = ({ harm, broken, invalid }: Try): readonly string[] => [
  ...harm,
  ...(invalid === undefined ? broken : []),
];

export function outcomeOf({ broken, invalid }: Pick<Verdict, 'broken' | 'invalid'>): 'red' | 'invalid' | 'green' {
  if (broken.length > 0) return 'red';
  return invalid === undefined ? 'green' : 'invalid';
}

/** The findings of each try; nothing for a row that was green at once. */
export function tryLines(verdict: Verdict): readonly string[] {
  if (verdict.tries.length === 1 && outcomeOf(verdict) === 'green') return [];
  return verdict.tries.flatMap((one, at) => [
    `    try ${at + 1} (seed ${one.seed}): ${outcomeOf({ ...one, broken: counted(one) })}`,
    ...counted(one).map((each) => `      broken: ${each}`),
    ...(one.invalid === undefined ? [] : [`      says nothing: ${one.invalid}`]),
    ...(one.invalid === undefined ? [] : one.broken.map((each) => `      not counted: ${each}`)),
  ]);
}
