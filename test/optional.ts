import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** A suite that needs something not every machine has, and whether this run has it. */
export interface OptionalSuite {
  readonly name: string;
  /** One line: what to do to have it run. */
  readonly how: string;
  /** The test file that registers it. */
  readonly file: string;
  readonly present: boolean;
}

/** In the folder of a run, one JSON line per call of `optional`. */
export const OPTIONAL_FILE = 'optional.ndjson';

/**
 * Registers the suite when `value` says where its server or its data is. Otherwise no test is registered, and the last
 * line of `npm test` names the suite. test/floor.json says how many tests each suite adds.
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
