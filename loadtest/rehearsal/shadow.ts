/**
 * `npm run shadow:rehearsal`: three replicas on a Redis cluster, a Valkey cluster as the candidate, a steady load, and all
 * that may happen to a shadow and a cut-over. Prints the figures with their targets; exit status 1 when one is missed.
 * Loopback only; ends by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ParsedArguments, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import { CHECKOUT } from './harness.ts';
import { createProbe, type Load, startLoad } from './load.ts';
import {
  chosenScenarios,
  type Figures,
  findingOf,
  originHere,
  publishMeasured,
  runScenarios,
  type Scenario,
  type Scenarios,
  say,
} from './rehearse.ts';
import { errorFigure, lying, unnoticed, warmUp } from './shadow-candidate.ts';
import { cutOverAndBack, killedAfterCommit, laggard } from './shadow-cut-over.ts';
import { READS, type ShadowRehearsal, startShadowHarness, warmPrimary } from './shadow-harness.ts';
import { isError } from './windows.ts';

const PAGE = 'src/operations/shadow/README.md';
const WARM_MS = 5000;
/** Flatter than of most sites, so that the stores are read often and a candidate is full within a minute. */
const EXPONENT = 0.7;

const SCENARIOS: Scenarios<ShadowRehearsal> = {
  'warm-up': { title: 'warm-up', run: warmUp },
  unnoticed: { title: 'not noticed', run: unnoticed },
  lying: { title: 'lying candidate', run: lying },
  laggard: { title: 'a process behind', run: laggard },
  'cut-over': { title: 'cut-over and back', run: cutOverAndBack },
  killed: { title: 'candidate killed after the commit', run: killedAfterCommit },
};

const PROGRAM: Program = {
  command: 'npm run shadow:rehearsal --',
  usage: '[options]',
  about: [
    'Shadow traffic to a candidate store and the cut-over to it, on three replicas under a steady load; 8 minutes.',
  ],
  options: [
    { name: 'only', takes: 'A,B', about: `some of ${Object.keys(SCENARIOS).join(', ')}` },
    CHECKOUT,
    { name: 'rps', takes: 'N', about: 'searches per second, 10 to 1000; 150 by default' },
    { name: 'publish', about: 'write the figures into the page of the room; not with --only' },
  ],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, rehearse);

async function rehearse(words: ParsedArguments): Promise<number> {
  const scenarios = chosenScenarios(SCENARIOS, words.text('only'));
  const publish = words.has('publish');
  if (publish && words.text('only') !== undefined) throw new UsageError('a page shows the whole rehearsal, not --only');
  const origin = await originHere('redis-server', 'valkey-server');
  const rate = words.number('rps', { least: 10, most: 1000 }) ?? 150;
  await using ends = new AsyncDisposableStack();
  const harness = await startShadowHarness(words.text('checkout'));
  ends.defer(harness.stop);
  say('asking every search once');
  const shownIds = await warmPrimary(harness);
  const load = startLoad(harness, rate, EXPONENT);
  const probe = createProbe(harness);
  ends.defer(load.stop);
  ends.defer(probe.close);
  const pids = harness.replicas.flatMap((replica) => replica.pid() ?? []);
  say(`${rate} searches a second over ${harness.replicas.length} replicas`);
  await sleep(WARM_MS);
  const whole = wholeRehearsal(load);
  const results = await runScenarios({ ...scenarios, whole }, { harness, load, probe, pids, shownIds });
  say(`the generator was late by ${load.lagMs().toFixed(0)} ms at worst lately`);
  console.log(`\n${results.table}`);
  if (publish) publishMeasured(findingAt(results.figures, rate), 'npm run shadow:rehearsal', origin, PAGE);
  return results.exitCode;
}

function findingAt(figures: Figures, rate: number): ReturnType<typeof findingOf> {
  return findingOf(figures, {
    title: 'The rehearsal: warm-up, verdict, cut-over and faults',
    sentence: 'Users notice neither the copies nor the cut-over, whatever the candidate does.',
    notes: [
      `Three replicas, a Redis cluster and a Valkey cluster of three, searchd and the load on the same processors; ${rate} searches a second over 400 texts (Zipf, exponent ${EXPONENT}), reads ×${READS}.`,
      'Most answers come out of L1: two points of all answers are more points of the reads of a store.',
      'Off against off: the difference of the p99 of one half of the windows without a shadow and the other half.',
      'Old pages are told by their Age, with two seconds of slack.',
    ],
  });
}

/** Counts every answer, those between the scenarios included. */
function wholeRehearsal(load: Load): Scenario<ShadowRehearsal> {
  let answers = 0;
  let errors = 0;
  load.onAnswer = (answer) => {
    answers += 1;
    if (isError(answer)) errors += 1;
  };
  return {
    title: 'the whole rehearsal',
    run: async () => [errorFigure('searches unanswered', errors, answers)],
  };
}
