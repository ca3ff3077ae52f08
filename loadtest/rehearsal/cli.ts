/**
 * `npm run drill:rehearsal`: three replicas on a real cluster and searchd, a steady load, and everything that may happen
 * to a drill: it ends, it is aborted at 100 %, its owner is killed, a guard breaks, and a document is suppressed beside
 * it. Prints the figures with their targets; exit status 1 when one is missed. Loopback only; ends by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
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

const { values } = parseArgs({
  options: { only: { type: 'string' }, rps: { type: 'string', default: '150' } },
});

const names = values.only?.split(',') ?? Object.keys(SCENES);
const unknown = names.filter((name) => !(name in SCENES));
const rate = Number(values.rps);
if (unknown.length > 0 || !(rate >= 10 && rate <= 1000)) {
  console.error(`--only takes some of ${Object.keys(SCENES).join(',')}; --rps a number from 10 to 1000`);
  process.exit(64);
}

const say = (text: string): void => console.log(`  ${text}`);
const bed = await layBed(say);
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
process.exitCode = figures.every(({ met }) => met) ? 0 : 1;
