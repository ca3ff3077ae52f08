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
   * @returns what was proved, in one short line with figures, or why an optional check was not run.
   * @throws with one clear line: the file, the place in it, and what was expected.
   */
  readonly run: (check: CheckRun) => Promise<string | NotRun>;
}

export interface NotRun {
  /** The missing part, in words. */
  readonly notRun: string;
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
  let [failed, skipped] = [0, 0];
  for (const { name, run } of checkers) {
    signal.throwIfAborted();
    const folder = mkdtempSync(join(tmpdir(), `serpcache-check-${name}-`));
    const startedMs = performance.now();
    const line = (word: string, text: string): void =>
      print(`${word}  ${name.padEnd(width)}  ${text} (${Math.round((performance.now() - startedMs) / 1000)} s)`);
    try {
      const proved = await run({ folder, say: (text) => say(`${name}: ${text}`), signal });
      if (typeof proved === 'string') line('ok  ', proved);
      else {
        skipped += 1;
        line('skip', proved.notRun);
      }
    } catch (error) {
      // A check that is told to end fails somewhere: that says nothing about the files.
      if (signal.aborted) line('stop', 'not finished');
      signal.throwIfAborted();
      failed += 1;
      const [first = '', ...more] = (error instanceof Error ? error.message : String(error)).split('\n');
      line('FAIL', first);
      for (const text of more) print(`      ${text}`);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  const passed = checkers.length - failed - skipped;
  print(`\n${passed} of ${checkers.length} passed${skipped === 0 ? '' : `, ${skipped} not run`}`);
  return failed;
}
