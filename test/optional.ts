import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** A suite that needs a server or data that not every machine has. */
export interface OptionalSuite {
  readonly name: string;
  /** How to make it run, in one line. */
  readonly how: string;
  /** The test file that registers it. */
  readonly file: string;
  readonly present: boolean;
}

/** The file in the run's folder with one line of JSON per call of `optional`. */
export const OPTIONAL_FILE = 'optional.ndjson';

/**
 * Registers the suite when `value`, the place of its server or its data, is given. Otherwise no test is registered, and
 * the end of `npm test` names the suite. test/floor.json holds the number of tests that each suite adds.
 */
export function optional(
  name: string,
  value: string | undefined,
  how: string,
  register: (value: string) => void,
): void {
  const suite: OptionalSuite = { name, how, file: process.argv[1] ?? '', present: Boolean(value) };
  const run = process.env['SERPCACHE_TEST_RUN'];
  if (run) appendFileSync(join(run, OPTIONAL_FILE), `${JSON.stringify(suite)}\n`);
  if (value) register(value);
}
