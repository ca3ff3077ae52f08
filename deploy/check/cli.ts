/**
 * `npm run deploy:check`: everything in `deploy/` by the program that reads it: images are built and run, manifests decoded,
 * servers started, the package installed elsewhere. One line for each check; exit status 1 when one fails. As root on
 * Debian 12; what is missing is installed. Loopback and network namespaces only; ends by itself.
 */
import { stopOnSignals } from '../../loadtest/stack/process.ts';
import { EXIT, type ParsedArguments, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import { type Checker, runCheckers } from './checker.ts';
import { CHECKERS as ENGINES } from './engines.ts';
import { CHECKERS as HELM } from './helm.ts';
import { CHECKERS as IMAGE } from './image.ts';
import { CHECKERS as NGINX } from './nginx.ts';
import { CHECKERS as PACKAGE } from './package.ts';
import { CHECKERS as STORES } from './stores.ts';
import { CHECKERS as SYSTEMD } from './systemd.ts';

const CHECKERS: readonly Checker[] = [...IMAGE, ...HELM, ...SYSTEMD, ...STORES, ...ENGINES, ...NGINX, ...PACKAGE];
const NAMES = CHECKERS.map(({ name }) => name);
const NAME_WIDTH = Math.max(...NAMES.map((name) => name.length));

const PROGRAM: Program = {
  command: 'npm run deploy:check --',
  usage: '[options]',
  about: [
    'Checks everything in deploy/ with the program that reads it; the first run builds and installs tools, about 15 minutes.',
    '',
    ...CHECKERS.map(({ name, about }) => `  ${name.padEnd(NAME_WIDTH)}  ${about}`),
  ],
  options: [{ name: 'only', takes: 'A,B', about: 'some of these checks' }],
  takes: { min: 0, max: 0 },
};

// A shell of root may lack them, and Debian keeps nginx and debootstrap there.
process.env['PATH'] += ':/usr/sbin:/sbin';
process.exitCode = await runProgram(PROGRAM, checkAll);

async function checkAll(words: ParsedArguments): Promise<number> {
  const chosen = chosenOf(words.text('only'));
  if (process.getuid?.() !== 0) throw new Error('images, units and namespaces need root: run it with sudo');
  using stopping = stopOnSignals(say);
  const failed = await runCheckers(chosen, { signal: stopping.signal, print: (line) => console.log(line), say });
  return failed === 0 ? EXIT.passed : EXIT.failed;
}

function chosenOf(text: string | undefined): readonly Checker[] {
  if (text === undefined) return CHECKERS;
  const names = text.split(',');
  const unknown = names.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) throw new UsageError(`--only takes some of ${NAMES.join(', ')}, not "${unknown.join(', ')}"`);
  return CHECKERS.filter(({ name }) => names.includes(name));
}

function say(text: string): void {
  console.error(`serpcache: ${text}`);
}
