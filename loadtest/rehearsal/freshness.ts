/**
 * `npm run freshness:rehearsal`: three replicas under a steady load while documents change, and all that may happen to the feed: a
 * replica is killed, stopped or cut off, the stream is trimmed and deleted, and the control store starts again. Prints counted
 * facts with their targets; exit status 1 when one is missed. Loopback only; ends by itself.
 *
 * A few searches may be refused with 503 and `Retry-After`. A page with a deleted document is never served, and a search that is asked
 * once has no page, so there is nothing to answer with while the engine has no permit (`overloaded`) or while the event loop is late
 * (`busy`): for a quarter of a second after a replica was stopped, and whenever other programs take its core. A replica that
 * refuses more than that, and every other search without a page, is a fault.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ParsedArguments, type Program, runProgram } from '../../src/commands/arguments.ts';
import { cutOff, type FaultFigure, type FaultParts, feedCutShort, killed, stopped } from '../freshness/faults.ts';
import { createIndexer } from '../freshness/indexer.ts';
import { startLoad, type Tally } from '../freshness/load.ts';
import { openFleet, warm } from '../freshness/phase.ts';
import { createSearches } from '../freshness/searches.ts';
import { startFreshnessStack } from '../freshness/stack.ts';
import { parseMetrics } from '../k6/kit/metrics-text.ts';
import { waitUntil } from '../stack/process.ts';
import { chosenScenarios, type Figure, percent, runScenarios, type Scenario, type Scenarios, say } from './rehearse.ts';

interface Rehearsal extends FaultParts {
  readonly load: ReturnType<typeof startLoad>;
}

const DOCUMENTS = 20_000;
const TEXTS = 600;
const CHANGES_PER_SECOND = 50;
const FLOW_MS = 15_000;
const RECOVERY_MS = 20_000;
const LIMIT_SECONDS = 330;
/** Maximum share of the searches that may be refused. */
const REFUSED_SHARE = 0.01;

const SCENARIOS: Scenarios<Rehearsal> = {
  flow: { title: 'changes flow', run: flow },
  killed: faulty('a replica is killed', (parts) => killed(parts, 0)),
  'cut-off': faulty('a replica is cut off', (parts) => cutOff(parts, 1)),
  stopped: faulty('a replica is stopped', (parts) => stopped(parts, 2)),
  trimmed: faulty('the stream is trimmed', (parts) => feedCutShort(parts, 1, 'trimmed')),
  deleted: faulty('the stream is deleted', (parts) => feedCutShort(parts, 2, 'deleted')),
  control: { title: 'the control store starts again', run: controlStarted },
};

/** Counts every answer, those between the scenarios included. */
const WHOLE: Scenario<Rehearsal> = {
  title: 'the whole rehearsal',
  run: async ({ load: { tally }, indexer }) => [
    ['searches unanswered', `${endsText(tally.errors)} of ${tally.answers}`, '0', tally.errors.size === 0],
    refusedFigure(tally),
    ['documents sold', String(indexer.counts.sale), 'above 0', indexer.counts.sale > 0],
    deletedFigure(tally, 0),
  ],
};

const PROGRAM: Program = {
  command: 'npm run freshness:rehearsal --',
  usage: '[options]',
  about: ['A feed of changes on three replicas under a steady load, and all that may happen to it; 5 minutes.'],
  options: [
    { name: 'only', takes: 'A,B', about: `some of ${Object.keys(SCENARIOS).join(', ')}` },
    { name: 'keep', about: 'the folder with configurations and logs stays' },
    { name: 'rps', takes: 'N', about: 'searches per second, 10 to 1000; 50 by default' },
  ],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, rehearse);

async function rehearse(words: ParsedArguments): Promise<number> {
  const scenarios = chosenScenarios(SCENARIOS, words.text('only'));
  const perSecond = words.number('rps', { least: 10, most: 1000 }) ?? 50;
  await using ends = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'serpcache-freshness-'));
  if (words.has('keep')) say(`configurations and logs stay in ${directory}`);
  else ends.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  const stack = await startFreshnessStack({ directory, count: DOCUMENTS, say });
  ends.defer(stack.stop);
  const { domain, documents, writer, sendChanges } = stack;
  const indexer = createIndexer({ documents, writer, send: sendChanges, seed: 1 });
  const fleet = await openFleet(stack, { ttl: '1h', changes: { onChange: 'miss' } });
  ends.defer(fleet.stop);
  const searches = createSearches({ domain, documents, count: TEXTS, seed: 1 });
  say('asking every search once');
  await warm(fleet, searches);
  const ending = new AbortController();
  const load = startLoad({
    targets: fleet.targets,
    searches,
    engine: stack.engine,
    indexer,
    perSecond,
    seconds: LIMIT_SECONDS,
    signal: ending.signal,
    unanswered: ({ request }, at, end) => say(`replica ${at + 1} has no page for "${request.text}": ${end}`),
  });
  const changing = indexer.run(CHANGES_PER_SECOND, LIMIT_SECONDS, ending.signal);
  ends.defer(async () => {
    ending.abort();
    await Promise.allSettled([load.ended, changing]);
  });
  say(`${perSecond} searches and ${CHANGES_PER_SECOND} changes a second over ${fleet.replicas.length} replicas`);
  const parts = { stack, fleet, searches, indexer, load };
  const { table, exitCode } = await runScenarios({ ...scenarios, whole: WHOLE }, parts);
  say(`the generator was late by ${load.lagMs().toFixed(0)} ms at worst`);
  console.log(`\n${table}`);
  return exitCode;
}

async function flow({ fleet, load: { tally } }: Rehearsal): Promise<readonly Figure[]> {
  const before = tally.deletedShown;
  const taken = await changesOf(fleet);
  await sleep(FLOW_MS);
  const now = await changesOf(fleet);
  const least = Math.min(...now.map((count, at) => count - (taken[at] ?? 0)));
  return [
    ['changes that every replica has applied', String(least), 'above 0', least > 0],
    deletedFigure(tally, before),
  ];
}

function faulty(title: string, provoke: (parts: Rehearsal) => Promise<FaultFigure>): Scenario<Rehearsal> {
  return {
    title,
    run: async (parts) => {
      const { tally } = parts.load;
      const before = tally.deletedShown;
      const { sold, shownAfter, shownMeanwhile } = await provoke(parts);
      const figures: Figure[] = [
        ['documents of its pages sold meanwhile', String(sold), 'above 0', sold > 0],
        ['of these shown by it afterwards', String(shownAfter), '0', shownAfter === 0],
      ];
      if (shownMeanwhile !== undefined)
        figures.push(['shown by it while it lasts', String(shownMeanwhile), 'said', true]);
      return [...figures, await recoveryFigure(parts), deletedFigure(tally, before)];
    },
  };
}

async function controlStarted(parts: Rehearsal): Promise<readonly Figure[]> {
  const { stack, load } = parts;
  const before = load.tally.deletedShown;
  await stack.control.kill();
  await sleep(FLOW_MS / 3);
  await stack.control.restart();
  return [await recoveryFigure(parts), deletedFigure(load.tally, before)];
}

/** Whether every replica applies changes again. */
async function recoveryFigure({ fleet }: Rehearsal): Promise<Figure> {
  const before = await changesOf(fleet);
  const isBack = await waitUntil(async () => {
    const now = await changesOf(fleet);
    return now.every((count, at) => count > (before[at] ?? 0));
  }, RECOVERY_MS);
  return ['every replica applies changes again', isBack ? 'yes' : 'no', 'yes', isBack];
}

function refusedFigure({ refused, answers }: Readonly<Tally>): Figure {
  const count = refused.values().reduce((sum, one) => sum + one, 0);
  const isMet = count <= REFUSED_SHARE * answers;
  return ['searches refused for the load', `${endsText(refused)} of ${answers}`, `≤ ${percent(REFUSED_SHARE)}`, isMet];
}

function endsText(ends: ReadonlyMap<string, number>): string {
  return [...ends].map(([end, count]) => `${count} × ${end}`).join(', ') || '0';
}

/** @param before the count at the beginning of a scenario */
function deletedFigure({ deletedShown, deletedShownBy, longestShownMs }: Readonly<Tally>, before: number): Figure {
  const count = deletedShown - before;
  const by = [...deletedShownBy].map(([at, own]) => `${own} by replica ${at + 1}`).join(', ');
  const longest = count === 0 ? '' : ` (so far ${by}; ${longestShownMs.toFixed(0)} ms after the call at most)`;
  return ['deleted documents shown more than 1 s after the call', `${count}${longest}`, '0', count === 0];
}

async function changesOf({ pages }: Rehearsal['fleet']): Promise<readonly number[]> {
  return (await pages()).map((page) =>
    parseMetrics(page).reduce((sum, { name, value }) => sum + (name === 'serpcache_changes_total' ? value : 0), 0),
  );
}
