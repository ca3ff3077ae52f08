/**
 * `npm run deploy:check`: everything in `deploy/` by the program that reads it: images are built and run, manifests decoded,
 * servers started, the package installed elsewhere. One line for each check; exit status 1 when one fails. As root on
 * Debian 12; what is missing is installed. Loopback and network namespaces only; ends by itself.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopOnSignals } from '../../loadtest/stack/process.ts';
import { EXIT, type ParsedArguments, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import type { Checker } from './checker.ts';
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

process.exitCode = await runProgram(PROGRAM, checkAll);

async function checkAll(words: ParsedArguments): Promise<number> {
  const chosen = chosenOf(words.text('only'));
  if (process.getuid?.() !== 0) throw new Error('images, units and namespaces need root: run it with sudo');
  using stopping = stopOnSignals(say);
  let failed = 0;
  for (const checker of chosen) {
    stopping.signal.throwIfAborted();
    if (!(await passes(checker, stopping.signal))) failed += 1;
  }
  console.log(`\n${chosen.length - failed} of ${chosen.length} passed`);
  return failed === 0 ? EXIT.passed : EXIT.failed;
}

function chosenOf(text: string | undefined): readonly Checker[] {
  if (text === undefined) return CHECKERS;
  const names = text.split(',');
  const unknown = names.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) throw new UsageError(`--only takes some of ${NAMES.join(', ')}, not "${unknown.join(', ')}"`);
  return CHECKERS.filter(({ name }) => names.includes(name));
}

/** Prints the line of one check. */
async function passes({ name, run }: Checker, signal: AbortSignal): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), `serpcache-check-${name}-`));
  const startedMs = performance.now();
  const line = (word: string, text: string): void =>
    console.log(
      `${word}  ${name.padEnd(NAME_WIDTH)}  ${text} (${Math.round((performance.now() - startedMs) / 1000)} s)`,
    );
  try {
    line('ok  ', await run({ folder, say: (text) => say(`${name}: ${text}`), signal }));
    return true;
  } catch (error) {
    const [first = '', ...more] = (error instanceof Error ? error.message : String(error)).split('\n');
    line('FAIL', first);
    for (const text of more) console.log(`      ${text}`);
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function say(text: string): void {
  console.error(`serpcache: ${text}`);
}
