import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

interface RunnerOptions {
  readonly signal: AbortSignal;
  /** One line, on stdout. */
  readonly print: (line: string) => void;
  readonly say: (text: string) => void;
}

/**
 * Runs the checks one after the other and prints a line for each. A failed one does not prevent the others.
 * @returns how many failed.
 */
export async function runCheckers(
  checkers: readonly Checker[],
  { signal, print, say }: RunnerOptions,
): Promise<number> {
  const width = Math.max(...checkers.map(({ name }) => name.length));
  let failed = 0;
  for (const { name, run } of checkers) {
    signal.throwIfAborted();
    const folder = mkdtempSync(join(tmpdir(), `serpcache-check-${name}-`));
    const startedMs = performance.now();
    const line = (word: string, text: string): void =>
      print(`${word}  ${name.padEnd(width)}  ${text} (${Math.round((performance.now() - startedMs) / 1000)} s)`);
    try {
      line('ok  ', await run({ folder, say: (text) => say(`${name}: ${text}`), signal }));
    } catch (error) {
      failed += 1;
      const [first = '', ...more] = (error instanceof Error ? error.message : String(error)).split('\n');
      line('FAIL', first);
      for (const text of more) print(`      ${text}`);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  print(`\n${checkers.length - failed} of ${checkers.length} passed`);
  return failed;
}
