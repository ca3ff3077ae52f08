/**
 * `npm run plan:check`: what `serpcache plan` predicts beside what a local stack of two processes, a Redis cluster of three
 * and searchd does. Exit status 1 when a figure is off by more than 30 % without a stated reason. Loopback only; ends by
 * itself within two minutes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ParsedArguments, type Program, runProgram } from '../../src/commands/arguments.ts';
import type { Inputs } from '../../src/operations/capacity/inputs.ts';
import { REFILLED_AT } from '../../src/operations/capacity/popularity.ts';
import { closedLoop, openLoop } from '../http-driver/loops.ts';
import { createZipf } from '../traffic/zipf.ts';
import { comparedRows, rowsText, statusOf, tableFinding } from './plan-rows.ts';
import { between, type PlanStack, type Reading, SETTINGS, startPlanStack } from './plan-stack.ts';
import { originHere, publishMeasured, say } from './rehearse.ts';

const PAGE = 'src/operations/capacity/README.md';
const RATE = 300;
const KEYS = 3000;
const EXPONENT = 1;
/** Pages of the phases that ask each page in turn. They are over before the first page expires. */
const FILLED = KEYS;
const MEMORY_ROUNDS = 4;
const FILLING = 2 * SETTINGS.permits;
/** Enough to fill the processes, as the benches do. */
const AT_ONCE = 64;
/** At its end the store has forgotten pages that the load does not ask for. */
const WARM_MS = 2 * SETTINGS.ttlMs;
/** The inputs that an operator would read off a running service come from this window, not from the judged one. */
const GIVEN_MS = 10_000;
const JUDGED_MS = 15_000;
const FLUSH_MS = 15_000;
const FLUSH_SAMPLE_MS = 250;

const PROGRAM: Program = {
  command: 'npm run plan:check --',
  usage: '[options]',
  about: ['Compares serpcache plan with a measured local stack; 2 minutes.'],
  options: [{ name: 'publish', about: 'write the table into the page of the room' }],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, check);

async function check(words: ParsedArguments): Promise<number> {
  const origin = await originHere('redis-server');
  await using ends = new AsyncDisposableStack();
  const stack = await startPlanStack(FILLED);
  ends.defer(stack.stop);
  const tiers = await measureTiers(stack);
  const load = startLoad(stack);
  ends.defer(load.stop);
  const { judged, inputs } = await measureSteady(stack, tiers);
  const flush = await measureFlush(stack, judged.engineLoad);
  const rows = comparedRows(inputs, { exponent: EXPONENT, keys: KEYS }, { ...tiers, ...judged, ...flush });
  console.log(`\n${rowsText(rows)}`);
  if (words.has('publish')) {
    const about = `${RATE} searches a second over ${KEYS} pages (Zipf, exponent ${EXPONENT}), ttl ${SETTINGS.ttlMs / 1000} s`;
    publishMeasured(tableFinding(rows, about), 'npm run plan:check', origin, PAGE);
  }
  return statusOf(rows);
}

/** The figures of a run; `cores` are of both processes, `connections` of the shard with the most. */
export type Measured = Awaited<ReturnType<typeof measureTiers>> &
  ReturnType<typeof figuresOf> &
  Awaited<ReturnType<typeof measureFlush>>;

/** Misses at both processes, then the pages of each at the other (L2), then all of them again (L1). */
async function measureTiers(stack: PlanStack) {
  const texts = stack.texts.slice(0, FILLED);
  let bytes = 0;
  let pages = 0;
  const phase = async (name: string, items: Iterable<readonly [number, string]>, atOnce: number) => {
    const before = await stack.read();
    let wanted = 0;
    let all = 0;
    await closedLoop(items, atOnce, async ([at, text]) => {
      const answer = await stack.processes[at % SETTINGS.processes]?.ask(text);
      all += 1;
      if (answer?.outcome === name) wanted += 1;
      if (answer === undefined) return;
      bytes += answer.bytes;
      pages += 1;
    });
    const after = await stack.read();
    const found = between(before, after);
    say(`${name}: ${wanted} of ${all} answers, ${(all / found.seconds).toFixed(0)}/s`);
    return { ...found, after, perSecond: all / found.seconds, processorUs: (1000 * found.processorMs) / all };
  };
  const misses = await phase('engine', texts.entries(), FILLING);
  const storeHits = await phase(
    'hit-l2',
    texts.map((text, at) => [at + 1, text] as const),
    AT_ONCE,
  );
  const rounds = Array.from({ length: MEMORY_ROUNDS }, () => [...texts.entries()]).flat();
  const memoryHits = await phase('hit-l1', rounds, AT_ONCE);
  const held = memoryHits.after;
  return {
    pageBytes: bytes / pages,
    engineCapacity: misses.perSecond,
    missUs: misses.processorUs,
    storeHitUs: storeHits.processorUs,
    memoryHitUs: memoryHits.processorUs,
    memoryEntryBytes: held.memoryBytes / held.memoryEntries,
    storedEntryBytes: misses.usedBytes / misses.keys,
  };
}

/** Searches at the rate, to each process in turn. */
function startLoad(stack: PlanStack): { readonly stop: () => void } {
  const rank = createZipf({ size: KEYS, exponent: EXPONENT });
  const send = (n: number): unknown =>
    stack.processes[n % SETTINGS.processes]?.ask(stack.texts[rank(Math.random)] ?? '');
  return openLoop({ ratePerSecond: RATE, random: Math.random, send });
}

async function measureSteady(stack: PlanStack, tiers: Awaited<ReturnType<typeof measureTiers>>) {
  say(`${RATE} searches a second`);
  await sleep(WARM_MS);
  const start = await stack.read();
  await sleep(GIVEN_MS);
  const middle = await stack.read();
  await sleep(JUDGED_MS);
  const end = await stack.read();
  const given = between(start, middle);
  const judged = between(middle, end);
  const as = (value: number) => ({ value, from: 'given', source: 'measured before' }) as const;
  const inputs: Inputs = {
    rate: as(given.searches / given.seconds),
    hitRatio: as(1 - given.engineCalls / given.searches),
    pageBytes: as(tiers.pageBytes),
    engineCapacity: as(tiers.engineCapacity),
    keys: as(KEYS),
    engineLatencyMs: as(given.latencyMs),
    ttlMs: as(SETTINGS.ttlMs),
    keptMs: as(SETTINGS.keptMs),
    permits: as(SETTINGS.permits),
    processes: as(SETTINGS.processes),
    shards: as(SETTINGS.shards),
    memoryBytes: as(SETTINGS.memoryBytes),
  };
  return { inputs, judged: figuresOf(judged, end) };
}

function figuresOf(judged: ReturnType<typeof between>, end: Reading) {
  const connections = end.nodes.map((node) => node.connections);
  return {
    rate: judged.searches / judged.seconds,
    hitRatio: 1 - judged.engineCalls / judged.searches,
    memoryRatio: judged.memoryRatio,
    engineLoad: judged.engineCalls / judged.seconds,
    cores: judged.processorMs / 1000 / judged.seconds,
    residentBytes: end.residentBytes / SETTINGS.processes,
    commands: judged.commands,
    bytesFromStore: judged.sentBytes,
    coresOfStore: judged.storeCores,
    pages: end.nodes.reduce((sum, { keys }) => sum + keys, 0),
    // The reader of this check has one of its own.
    connections: Math.max(...connections) - 1,
  };
}

/** The engine load after every page is lost: its highest second, and the time until two seconds are near the steady load. */
async function measureFlush(stack: PlanStack, steady: number) {
  say('every page is flushed');
  const calls: Reading[] = [await stack.read()];
  const startMs = performance.now();
  await stack.flush();
  while (performance.now() - startMs < FLUSH_MS) {
    await sleep(FLUSH_SAMPLE_MS);
    calls.push(await stack.read());
  }
  const ratesOver = (ms: number): readonly { readonly middleMs: number; readonly perSecond: number }[] =>
    calls.flatMap((from) => {
      const to = calls.find(({ atMs }) => atMs >= from.atMs + ms);
      if (to === undefined) return [];
      const grown = to.engineCalls - from.engineCalls;
      return [{ middleMs: (from.atMs + to.atMs) / 2 - startMs, perSecond: (1000 * grown) / (to.atMs - from.atMs) }];
    });
  const peak = Math.max(...ratesOver(1000).map(({ perSecond }) => perSecond));
  // The first two seconds hold the whole peak, so every later window may be the one that is near.
  const back = ratesOver(2000).find(({ middleMs, perSecond }) => middleMs > 1000 && perSecond <= REFILLED_AT * steady);
  return { amplification: peak / steady, refillMs: back?.middleMs ?? Number.NaN };
}
