/**
 * `npm run package [-- --out FOLDER]`: the package for npm, with JavaScript, SBOM and licences, in data/package.
 * With --licences only the page of licences in this folder is written.
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EXIT, type ParsedArguments, type Program, runProgram } from '../../src/commands/arguments.ts';
import { buildPackage } from './build.ts';
import { licencesPage, productionPackages, readLockfile } from './dependencies.ts';

const ROOT = join(import.meta.dirname, '..', '..');

const PROGRAM: Program = {
  command: 'npm run package --',
  usage: '[--out FOLDER | --licences]',
  about: ['Builds the package that npm installs, as a folder and as a .tgz; nothing is published.'],
  options: [
    { name: 'out', takes: 'FOLDER', about: 'default: data/package' },
    { name: 'licences', about: 'only writes deploy/release/licences.md' },
  ],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, build);

async function build(words: ParsedArguments): Promise<number> {
  if (words.has('licences')) {
    const page = join(import.meta.dirname, 'licences.md');
    writeFileSync(page, licencesPage(productionPackages(readLockfile(ROOT))));
    console.log(page);
    return EXIT.passed;
  }
  const out = resolve(words.text('out') ?? join(ROOT, 'data', 'package'));
  const { tarball, bytes, files } = await buildPackage({ root: ROOT, out });
  console.log(`${tarball}: ${files.length} files, ${Math.ceil(bytes / 1024)} KiB`);
  return EXIT.passed;
}
