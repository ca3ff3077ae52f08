/**
 * `node loadtest/publish.ts [--commit HASH] <folder of a result>…`: writes results that were kept into the page that shows
 * them, with plots and records beside it, as `--publish` does with one just measured.
 *   --commit HASH   of the code that was measured, for results that do not say it
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FINDING_FILE } from './finding/keep-finding.ts';
import { publishFinding } from './finding/publish.ts';
import { readFinding } from './finding/read-record.ts';
import type { RunRecord } from './record.ts';
import { publishRun } from './report/run-section.ts';

/** Each is a program and the folder of its page. */
const FINDING_PAGES = ['experiments', 'peers'];

const { values, positionals } = parseArgs({ options: { commit: { type: 'string' } }, allowPositionals: true });
const told = values.commit === undefined ? {} : { commit: values.commit };
if (positionals.length === 0) {
  console.error('node loadtest/publish.ts [--commit HASH] <folder of a result>…');
  process.exitCode = 64;
}
for (const folder of positionals) {
  try {
    publish(folder);
  } catch (error) {
    console.error(`${folder}: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}

function publish(folder: string): void {
  if (existsSync(join(folder, FINDING_FILE))) {
    const finding = readFinding(join(folder, FINDING_FILE));
    const [, program = ''] = /^npm run (\w+) /.exec(finding.command) ?? [];
    if (!FINDING_PAGES.includes(program)) throw new Error(`no page shows what "${finding.command}" found`);
    publishFinding({ ...told, ...finding }, join(import.meta.dirname, program, 'README.md'));
  } else {
    const run = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as RunRecord;
    publishRun({ ...told, ...run }, join(import.meta.dirname, 'README.md'));
  }
}
