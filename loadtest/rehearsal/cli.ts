/**
 * `npm run drill:rehearsal`: three replicas on a real cluster and searchd, a steady load, and everything that may happen
 * to a drill: it ends, it is aborted at 100 %, its owner is killed, a guard breaks, and a document is suppressed beside
 * it. Prints the figures with their targets; exit status 1 when one is missed. Loopback only; ends by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, type ParsedArguments, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import { aborted } from './aborted.ts';
import { layBed } from './bed.ts';
import { completion } from './completion.ts';
import { type Figure, figureTable } from './figure.ts';
import { guardBroken } from './guard-broken.ts';
import { startLoad } from './load.ts';
import { ownerKilled } from './owner-killed.ts';
import { createProbe } from './probe.ts';
import type { Scene } from './scene.ts';
import { suppressed } from './suppressed.ts';

const SCENES: Readonly<Record<string, Scene>> = {
  completion,
  abort: aborted,
  'owner-killed': ownerKilled,
  guard: guardBroken,
  suppress: suppressed,
};
const PLAN = '1-5-25-100';
const WARM_MS = 15_000;
/** Between two scenes: what the one did must not be measured by the next. */
const REST_MS = 5000;

const PROGRAM: Program = {
  command: 'npm run drill:rehearsal --',
  usage: '[options]',
  about: [
    'Five drills on three replicas of the local stack under a steady load, each figure beside its target; 6 minutes.',
  ],
  options: [
    { name: 'only', takes: 'A,B', about: `some of ${Object.keys(SCENES).join(', ')}` },
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
  const names = words.text('only')?.split(',') ?? Object.keys(SCENES);
  const unknown = names.filter((name) => !Object.hasOwn(SCENES, name));
  if (unknown.length > 0) {
    throw new UsageError(`--only takes some of ${Object.keys(SCENES).join(', ')}, not "${unknown.join(', ')}"`);
  }
  const rate = words.number('rps', { least: 10, most: 1000 }) ?? 150;
  const bed = await layBed(say, words.text('checkout'));
  const load = startLoad(bed, rate);
  const probe = createProbe(bed);
  const figures: Figure[] = [];
  try {
    say(`${rate} searches a second over ${bed.replicas.length} replicas; warming up`);
    await sleep(WARM_MS);
    for (const name of names) {
      const scene = SCENES[name];
      if (scene === undefined) continue;
      console.log(`\n${name}`);
      const found = await scene({ bed, load, probe, plan: PLAN, say });
      for (const { what, value, target, met } of found) say(`${what}: ${value} (${target}: ${met ? 'yes' : 'NO'})`);
      figures.push(...found);
      await sleep(REST_MS);
    }
    say(`the generator was late by ${load.lagMs().toFixed(0)} ms at worst lately`);
  } finally {
    load.stop();
    probe.close();
    await bed.stop();
  }
  console.log(`\n${figureTable(figures)}`);
  return figures.every(({ met }) => met) ? EXIT.passed : EXIT.failed;
}

function say(text: string): void {
  console.log(`  ${text}`);
}
