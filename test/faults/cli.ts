/** `npm run faults`: injects every fault of the matrix in turn, on real servers. arguments.ts declares the options. */
import { EXIT, refuse } from '../../src/commands/arguments.ts';
import { FAULTS, readArguments } from './arguments.ts';
import { runMatrix } from './matrix.ts';
import { BY_NAME, FAMILIES, FIGURES } from './registry.ts';
import { checkEffectsWithoutFaults, REAL_PARTS } from './run-row.ts';

// `exit` ends the servers that this process started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(EXIT.notDone));

const read = readArguments(process.argv.slice(2));
switch (read.kind) {
  case 'help':
  case 'version':
  case 'wrong':
    process.exitCode = refuse(read, FAULTS);
    break;
  case 'list':
    for (const [title, each] of Object.entries({
      ...FAMILIES,
      figures: FIGURES,
      'by name only, not meant to be green': BY_NAME,
    })) {
      console.log(title);
      for (const { name, summary: says } of each) console.log(`  ${name.padEnd(22)} ${says}`);
    }
    break;
  case 'no fault':
    process.exitCode = (await checkEffectsWithoutFaults(read.rows, { ...read, print: console.log }))
      ? EXIT.passed
      : EXIT.failed;
    break;
  case 'run':
    process.exitCode = await runMatrix(read.selection, { ...read.options, print: console.log, parts: REAL_PARTS });
    break;
}
