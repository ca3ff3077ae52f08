/**
 * `node deploy/grafana/build.ts [--check]`: writes the dashboards as JSON beside it, for Grafana to import or to provision.
 * With --check nothing is written: exit status 1 when a file differs.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, type ParsedArguments, type Program, runProgram } from '../../src/commands/arguments.ts';
import { dashboardFiles } from './dashboards.ts';

const FOLDER = join(import.meta.dirname, 'dashboards');

const PROGRAM: Program = {
  command: 'node deploy/grafana/build.ts',
  usage: '[--check]',
  about: ['Writes the dashboards as JSON into deploy/grafana/dashboards.'],
  options: [{ name: 'check', about: 'writes nothing and compares; exit status 1 when a file differs' }],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, build);

function build(words: ParsedArguments): number {
  const files = [...dashboardFiles()].map(([name, text]) => ({ file: join(FOLDER, name), text }));
  const changed = files.filter(({ file, text }) => !existsSync(file) || readFileSync(file, 'utf8') !== text);
  if (words.has('check')) {
    for (const { file } of changed) console.error(`${file} differs: run ${PROGRAM.command}`);
    return changed.length === 0 ? EXIT.passed : EXIT.failed;
  }
  mkdirSync(FOLDER, { recursive: true });
  for (const { file, text } of changed) {
    writeFileSync(file, text);
    console.log(`wrote ${file}`);
  }
  return EXIT.passed;
}
