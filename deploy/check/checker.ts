/** One part of `deploy/`, proved by the program that reads it. */
export interface Checker {
  /** For `--only` and for its line: `helm`. */
  readonly name: string;
  /** One sentence for the help. */
  readonly about: string;
  /**
   * @returns what was proved, in one short line with figures.
   * @throws with one clear line: the file, the place in it, and what was expected.
   */
  readonly run: (check: CheckRun) => Promise<string>;
}

export interface CheckRun {
  /** An empty folder of this check, removed afterwards. */
  readonly folder: string;
  /** Progress, on stderr. */
  readonly say: (text: string) => void;
  /** Aborted by Ctrl-C and SIGTERM. A check then ends what it started and throws. */
  readonly signal: AbortSignal;
}

/** @throws `fault`, when the fact does not hold. */
export function hold(fact: boolean, fault: string): asserts fact {
  if (!fact) throw new Error(fault);
}
