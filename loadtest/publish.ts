/**
 * `node loadtest/publish.ts <folder of a result>…`: writes kept results into their page, with plots and records beside it,
 * as `--publish` does with a new result.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, type ParsedArguments, type Program, runProgram } from '../src/commands/arguments.ts';
import type { RunRecord } from './judge/record.ts';
import { FINDING_FILE, readFinding } from './labs/kit/keep.ts';
import { publishFinding } from './labs/kit/publish.ts';
import { publishRun } from './report/section.ts';

/** The names of programs and of the folders of their pages. */
const FINDING_PAGES = ['experiments', 'peers'];

const PROGRAM: Program = {
  command: 'node loadtest/publish.ts',
  usage: '[--commit HASH] <folder of a result>…',
  about: ['Writes results that were kept into the page that shows them, with plots and records beside it.'],
  options: [{ name: 'commit', takes: 'HASH', about: 'of the code that was measured, for results that do not say it' }],
  takes: { min: 1, max: 1000 },
};

process.exitCode = await runProgram(PROGRAM, publishAll);

function publishAll(words: ParsedArguments): number {
  const commit = words.text('commit');
  let status: number = EXIT.passed;
  for (const folder of words.positionals) {
    try {
      publish(folder, commit === undefined ? {} : { commit });
    } catch (error) {
      console.error(`${folder}: ${error instanceof Error ? error.message : error}`);
      status = EXIT.notDone;
    }
  }
  return status;
}

function publish(folder: string, told: { readonly commit?: string }): void {
  if (existsSync(join(folder, FINDING_FILE))) {
    const finding = readFinding(join(folder, FINDING_FILE));
    const [, program = ''] = /^npm run (\w+) /.exec(finding.command) ?? [];
    if (!FINDING_PAGES.includes(program)) throw new Error(`no page shows what "${finding.command}" found`);
    publishFinding({ ...told, ...finding }, join(import.meta.dirname, 'labs', program, 'README.md'));
  } else {
    const run = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as RunRecord;
    publishRun({ ...told, ...run }, join(import.meta.dirname, 'README.md'));
  }
}
