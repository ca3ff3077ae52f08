/**
 * `npm run drill:rehearsal`: three replicas on a real cluster and searchd, a steady load, and all that may happen to a
 * drill: it ends, it is aborted at 100 %, its owner is killed, a guard breaks, and a document is suppressed beside
 * it. Prints the figures with their targets; exit status 1 when one is missed. Loopback only; ends by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ParsedArguments, type Program, runProgram } from '../../src/commands/arguments.ts';
import { CHECKOUT, startHarness } from './harness.ts';
import { createProbe, startLoad } from './load.ts';
import { chosenScenarios, runScenarios, say } from './rehearse.ts';
import { SCENARIOS } from './scenarios.ts';

const WARM_MS = 15_000;

const PROGRAM: Program = {
  command: 'npm run drill:rehearsal --',
  usage: '[options]',
  about: [
    'Five drills on three replicas of the local stack under a steady load, each figure beside its target; 6 minutes.',
  ],
  options: [
    { name: 'only', takes: 'A,B', about: `some of ${Object.keys(SCENARIOS).join(', ')}` },
    CHECKOUT,
    { name: 'rps', takes: 'N', about: 'searches per second, 10 to 1000; 150 by default' },
  ],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, rehearse);

async function rehearse(words: ParsedArguments): Promise<number> {
  const scenarios = chosenScenarios(SCENARIOS, words.text('only'));
  const rate = words.number('rps', { least: 10, most: 1000 }) ?? 150;
  await using ends = new AsyncDisposableStack();
  const harness = await startHarness(words.text('checkout'));
  ends.defer(harness.stop);
  const load = startLoad(harness, rate);
  ends.defer(load.stop);
  const probe = createProbe(harness);
  ends.defer(probe.close);
  say(`${rate} searches a second over ${harness.replicas.length} replicas; warming up`);
  await sleep(WARM_MS);
  const { table, exitCode } = await runScenarios(scenarios, { harness, load, probe });
  say(`the generator was late by ${load.lagMs().toFixed(0)} ms at worst lately`);
  console.log(`\n${table}`);
  return exitCode;
}
