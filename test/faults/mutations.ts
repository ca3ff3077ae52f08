/** `node test/faults/mutations.ts --replies 2000 --seed 1`: damaged answers of stores and engines, and what becomes of the process. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import { MAX_COUNT, type Mutations } from './mutation-run.ts';
import { MYSQL_MUTATIONS } from './mutations-mysql.ts';
import { RESP_MUTATIONS } from './mutations-resp.ts';

const PROTOCOLS: readonly Mutations[] = [RESP_MUTATIONS, MYSQL_MUTATIONS];
const MAX_SEED = 999_999_999;

const PROGRAM: Program = {
  command: 'node test/faults/mutations.ts',
  usage: `[${PROTOCOLS.map(({ name }) => `--${name} N`).join('] [')}] [--seed N] [--folder DIRECTORY]`,
  about: ['Sends damaged answers to the adapters of stores and engines. None may end, hang or block the process.'],
  options: [
    ...PROTOCOLS.map(({ name, about }) => ({ name, takes: 'N', about })),
    { name: 'seed', takes: 'N', about: `seed of the damage, 0 to ${MAX_SEED}; 1 by default` },
    {
      name: 'folder',
      takes: 'DIRECTORY',
      about: 'sends every file of this folder as an answer of the chosen servers; N is ignored',
    },
  ],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, async (args) => {
  const seed = args.number('seed', { least: 0, most: MAX_SEED, whole: true }) ?? 1;
  const folder = args.text('folder');
  const chosen = PROTOCOLS.filter(({ name }) => args.has(name));
  if (chosen.length === 0)
    throw new UsageError(`nothing to send; allowed: ${PROTOCOLS.map(({ name }) => `--${name} N`).join(', ')}`);
  let found = 0;
  for (const { name, run, replay } of chosen) {
    const count = args.number(name, { least: 1, most: MAX_COUNT, whole: true }) ?? 1;
    const { sent, findings } = folder === undefined ? await run(seed, count) : await replay(filesOf(folder));
    found += findings.length;
    for (const finding of findings) console.log(finding);
    console.log(`${name}: ${sent} sent, seed ${seed}, findings: ${findings.length}`);
  }
  return found === 0 ? EXIT.passed : EXIT.failed;
});

function filesOf(folder: string): readonly Buffer[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  if (files.length === 0) throw new Error(`${folder} has no files`);
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)));
}
