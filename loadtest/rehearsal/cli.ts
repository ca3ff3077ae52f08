/**
 * `npm run drill:rehearsal`: three replicas on a real cluster and searchd, a steady load, and all that may happen to a
 * drill: it ends, it is aborted at 100 %, its owner is killed, a guard breaks, and a document is suppressed beside
 * it. Prints the figures with their targets; exit status 1 when one is missed. Loopback only; ends by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, type ParsedArguments, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import { startHarness } from './harness.ts';
import { createProbe, startLoad } from './load.ts';
import { type Figure, SCENARIOS } from './scenarios.ts';

const WARM_MS = 15_000;
/** Between two scenarios, so that the effects of one are not measured by the next. */
const REST_MS = 5000;

const PROGRAM: Program = {
  command: 'npm run drill:rehearsal --',
  usage: '[options]',
  about: [
    'Five drills on three replicas of the local stack under a steady load, each figure beside its target; 6 minutes.',
  ],
  options: [
    { name: 'only', takes: 'A,B', about: `some of ${Object.keys(SCENARIOS).join(', ')}` },
    {
      name: 'checkout',
      takes: 'FOLDER',
      about: 'run the second replica from another checkout: two versions share store and control document',
    },
    { name: 'rps', takes: 'N', about: 'searches per second, 10 to 1000; 150 by default' },
  ],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, rehearse);

async function rehearse(words: ParsedArguments): Promise<number> {
  const names = words.text('only')?.split(',') ?? Object.keys(SCENARIOS);
  const unknown = names.filter((name) => !Object.hasOwn(SCENARIOS, name));
  if (unknown.length > 0) {
    throw new UsageError(`--only takes some of ${Object.keys(SCENARIOS).join(', ')}, not "${unknown.join(', ')}"`);
  }
  const rate = words.number('rps', { least: 10, most: 1000 }) ?? 150;
  const harness = await startHarness(say, words.text('checkout'));
  const load = startLoad(harness, rate);
  const probe = createProbe(harness);
  const rows: string[][] = [];
  let isMet = true;
  try {
    say(`${rate} searches a second over ${harness.replicas.length} replicas; warming up`);
    await sleep(WARM_MS);
    for (const name of names) {
      const scenario = SCENARIOS[name];
      if (scenario === undefined) continue;
      console.log(`\n${name}`);
      const found: readonly Figure[] = await scenario.run({ harness, load, probe, say });
      for (const { what, value, target, met } of found) {
        say(`${what}: ${value} (${target}: ${met ? 'yes' : 'NO'})`);
        rows.push([scenario.title, what, value, target, met ? 'yes' : 'NO']);
        isMet &&= met;
      }
      await sleep(REST_MS);
    }
    say(`the generator was late by ${load.lagMs().toFixed(0)} ms at worst lately`);
  } finally {
    load.stop();
    probe.close();
    await harness.stop();
  }
  console.log(`\n${tableOf(['scenario', 'figure', 'measured', 'target', 'met'], rows)}`);
  return isMet ? EXIT.passed : EXIT.failed;
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n');
}

function say(text: string): void {
  console.log(`  ${text}`);
}
