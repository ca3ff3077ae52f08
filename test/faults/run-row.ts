import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../loadtest/http-driver/client.ts';
import { openLoop } from '../../loadtest/http-driver/loops.ts';
import { createRandom } from '../../loadtest/random.ts';
import type { SearchServer } from '../../loadtest/stack/sphinx.ts';
import { createZipf } from '../../loadtest/traffic/zipf.ts';
import { type Clock, systemClock } from '../../src/runtime.ts';
import { BUSY_MS, HUNG_MS } from './configuration.ts';
import { clientHeaders, searchPath, startHarness } from './harness.ts';
import { calmBoundMs } from './judge.ts';
import { createRecovery } from './recovery.ts';
import { type Phase, percentile, phaseReports, quantileMs, type Report, type Sample, type Trace } from './report.ts';
import { BOUNDS, type FaultEffect, type Harness, type Row } from './row.ts';
import { isHit, verdictOf } from './verdict.ts';

const RATE_PER_SECOND = 200;
/** Share of searches that are sent only once. */
const ONCE_SHARE = 0.05;
const BEFORE_MS = 2000;
const FAULT_MS = 3000;
const STEADY_MS = 1500;
const STEADY_LOOKS = 6;
const WINDOW = 300;
const POINTS = 0.02;

/**
 * Runs one row: sends the same stream to both processes, injects the fault, removes it, and continues until the subject
 * has recovered or the time is over. A row that fails is reported with the measurements so far.
 * @throws when the row cannot be prepared.
 */
export async function runRow(harness: Harness, row: Row, seed: number): Promise<Report> {
  await harness.prepare(row);
  const clock = systemClock;
  const samples = { subject: [] as Sample[], control: [] as Sample[] };
  const recovery = createRecovery({ window: WINDOW, points: POINTS });
  const clients = {
    subject: createClient({ baseUrl: harness.subject.url, patienceMs: HUNG_MS, maxConnections: 4096 }),
    control: createClient({ baseUrl: harness.control.url, patienceMs: HUNG_MS, maxConnections: 4096 }),
  };
  const stalls = watchStalls(clock);
  let phase: Phase = 'before';
  let arrivals = 0;
  const sentAt: number[] = [];

  const random = createRandom(seed).next;
  const rank = createZipf({ size: harness.queries.repeated.length, exponent: 1 });
  const send = async (side: 'subject' | 'control', arrival: number, text: string, known: boolean): Promise<void> => {
    const sentMs = clock.monotonicMs();
    const stalledBeforeMs = stalls.totalMs();
    const during = phase;
    const verdict = verdictOf(await clients[side].get(searchPath(text), clientHeaders(arrival)), text);
    const durationMs = clock.monotonicMs() - sentMs;
    const stalledMs = stalls.totalMs() - stalledBeforeMs;
    const sample: Sample = { arrival, phase: during, sentMs, durationMs, text, known, verdict, stalledMs };
    samples[side].push(sample);
    if (side === 'control') harness.reference.learn(text, verdict);
    recovery.add(side, arrival, { hit: isHit(sample), answered: verdict.kind === 'page' });
  };
  const loop = openLoop({
    ratePerSecond: row.ratePerSecond ?? RATE_PER_SECOND,
    random,
    send: (n) => {
      arrivals = n + 1;
      sentAt[n] = clock.monotonicMs();
      const isOnce = random() < ONCE_SHARE;
      const text = isOnce ? harness.newSearch() : (harness.queries.repeated[rank(random)] ?? '');
      return Promise.all((['subject', 'control'] as const).map((side) => send(side, n, text, !isOnce)));
    },
  });

  let trace: Trace = { found: false, evidence: 'the fault was not injected' };
  let failure: string | undefined;
  let faultEndedMs = 0;
  let steadyFrom = Number.POSITIVE_INFINITY;
  let rssBeforeBytes = Number.NaN;
  let openedBefore: number | undefined;

  const runPhases = async (): Promise<void> => {
    await sleep(BEFORE_MS);
    rssBeforeBytes = harness.subject.peakRssBytes();
    openedBefore = harness.store().opened();
    harness.engineProxy.resetCounts();
    const traceOf = await row.effect.watch(harness);
    const faultEndsMs = clock.monotonicMs() + (row.faultMs ?? FAULT_MS);
    phase = 'fault';
    try {
      await row.begin(harness);
      await sleep(Math.max(0, faultEndsMs - clock.monotonicMs()));
      trace = await traceOf();
    } catch (error) {
      // The fault is removed all the same, because the next row uses the same harness.
      await row.end?.(harness).catch(() => undefined);
      throw error;
    }
    await row.end?.(harness);
    phase = 'after';
    const firstAfterFault = arrivals;
    recovery.begin(firstAfterFault);
    faultEndedMs = clock.monotonicMs();
    const giveUpMs =
      faultEndedMs + ({ ...BOUNDS, ...row.bounds }.recoverySeconds + WINDOW / RATE_PER_SECOND + 2) * 1000;
    while (recovery.recoveredAt() === undefined && clock.monotonicMs() < giveUpMs) await sleep(50);
    phase = 'steady';
    steadyFrom = arrivals;
    await sleep(STEADY_MS);
    // A burst of late answers just after recovery may pass: the steady phase starts again, up to STEADY_LOOKS times.
    for (let look = 1; look < STEADY_LOOKS && !isCalm(samples, steadyFrom); look += 1) {
      steadyFrom = arrivals;
      await sleep(STEADY_MS);
    }
  };

  try {
    await runPhases().catch((error: unknown) => {
      failure = error instanceof Error ? error.message : String(error);
    });
    loop.stop();
    await loop.ended;
    for (const all of Object.values(samples)) {
      for (const [at, sample] of all.entries()) {
        if (sample.phase === 'steady' && sample.arrival < steadyFrom) all[at] = { ...sample, phase: 'after' };
      }
    }
    const engine = harness.engineProxy.counts();
    const peakRssBytes = harness.subject.peakRssBytes();
    const opened = harness.store().opened();
    const recoveredAt = recovery.recoveredAt();
    await learnMissing(harness, samples.subject, clients.control);
    return {
      row: row.name,
      trace,
      failure,
      subject: phaseReports(samples.subject),
      control: phaseReports(samples.control),
      ...violationsOf(harness, samples),
      recoveredAfterMs: recoveredAt === undefined ? undefined : (sentAt[recoveredAt] ?? faultEndedMs) - faultEndedMs,
      engine,
      rssBeforeBytes,
      peakRssBytes,
      connectionsOpened: opened === undefined || openedBefore === undefined ? undefined : opened - openedBefore,
      generatorLagP99Ms: percentile(loop.lagMs(), 0.99),
      samples: samples.subject,
    };
  } finally {
    loop.stop();
    stalls.stop();
    for (const client of Object.values(clients)) client.close();
  }
}

const TICK_MS = 20;
const LATE_MS = 30;

/** Total time in which this process was blocked. An answer that arrives during that time is read after its deadline. */
function watchStalls(clock: Clock): { readonly totalMs: () => number; readonly stop: () => void } {
  let tickedMs = clock.monotonicMs();
  let totalMs = 0;
  const lateMs = (): number => Math.max(0, clock.monotonicMs() - tickedMs - TICK_MS - LATE_MS);
  const timer = setInterval(() => {
    totalMs += lateMs();
    tickedMs = clock.monotonicMs();
  }, TICK_MS);
  // Includes a delay that no tick has noticed yet.
  return { totalMs: () => totalMs + lateMs(), stop: () => clearInterval(timer) };
}

/** Whether answers are as fast as before the fault, or as fast as the control's. */
function isCalm(
  samples: { readonly subject: readonly Sample[]; readonly control: readonly Sample[] },
  from: number,
): boolean {
  const before = samples.subject.filter(({ phase }) => phase === 'before');
  const since = (all: readonly Sample[]): readonly Sample[] => all.filter(({ arrival }) => arrival >= from);
  return (
    quantileMs(since(samples.subject), 0.95) <=
    calmBoundMs(quantileMs(before, 0.95), quantileMs(since(samples.control), 0.95))
  );
}

/** Asks the control again for every search that it has not answered with a page, now that the stream has ended. */
async function learnMissing(
  harness: Harness,
  samples: readonly Sample[],
  control: ReturnType<typeof createClient>,
): Promise<void> {
  const unknown = new Set(samples.map(({ text }) => text).filter((text) => !harness.reference.knows(text)));
  for (const text of unknown) harness.reference.learn(text, verdictOf(await control.get(searchPath(text)), text));
}

function violationsOf(
  harness: Harness,
  { subject, control }: { subject: readonly Sample[]; control: readonly Sample[] },
) {
  const wrong: string[] = [];
  const brokenConnections: string[] = [];
  const dishonest: string[] = [];
  let hung = 0;
  let unknown = 0;
  let stalledMs = 0;
  for (const { text, verdict, ...sample } of subject) {
    if (verdict.kind === 'hung' && sample.stalledMs > BUSY_MS) stalledMs = Math.max(stalledMs, sample.stalledMs);
    else if (verdict.kind === 'hung') hung += 1;
    else if (verdict.kind === 'broken') brokenConnections.push(verdict.why);
    else if (verdict.kind === 'dishonest') dishonest.push(`${text}: ${verdict.why}`);
    else if (verdict.kind === 'page') {
      const agrees = harness.reference.agrees(text, verdict);
      if (agrees === false) wrong.push(`${text} (${verdict.outcome})`);
      else if (agrees === undefined) unknown += 1;
    }
  }
  const controlFaults = [
    ...control
      .filter(({ verdict }) => verdict.kind !== 'page')
      .map(({ text, verdict }) => `${text}: ${JSON.stringify(verdict)}`),
    ...harness.reference.contradictions().map((text) => `two different pages for ${text}`),
    // These requests do not count as hung: the answer may have arrived while the generator was blocked.
    ...(stalledMs > 0 ? [`the generator stood still for ${Math.round(stalledMs)} ms`] : []),
    // These pages do not count as wrong: there is no page of the engine to compare them with.
    ...(unknown > 0 ? [`no page to compare ${unknown} pages with`] : []),
  ];
  return { wrong, hung, brokenConnections, dishonest, controlFaults };
}

/**
 * Prepares each row and reads its effect before and after some traffic, without injecting the fault.
 * @returns whether no row found its effect and every reading worked.
 */
export async function checkEffectsWithoutFaults(
  rows: readonly Row[],
  {
    print,
    ...subject
  }: { readonly checkout: string; readonly server: SearchServer; readonly print: (line: string) => void },
): Promise<boolean> {
  let asExpected = true;
  for (const [layout, own] of Map.groupBy(rows, (row) => row.layout ?? 'plain')) {
    const harness = await startHarness({ ...subject, ...SMALL_HARNESS, layout });
    try {
      for (const [first, ...others] of Map.groupBy(own, ({ store }) => store).values()) {
        if (first === undefined) continue;
        await harness.prepare(first);
        harness.engineProxy.resetCounts();
        const watches: (readonly [name: string, traceOf: Awaited<ReturnType<FaultEffect['watch']>>])[] = [];
        // One after the other, so that no reading counts the connection of another one.
        for (const row of [first, ...others]) watches.push([row.name, await row.effect.watch(harness)]);
        await traffic(harness);
        for (const [name, traceOf] of watches) {
          const { found, evidence } = await traceOf();
          const isExpected = !found && !evidence.includes('could not be read');
          print(`${isExpected ? 'no trace' : 'WRONG   '} ${name.padEnd(22)} ${evidence}`);
          asExpected &&= isExpected;
        }
      }
    } finally {
      await harness.stop();
    }
  }
  return asExpected;
}

/** A harness with few searches and documents, which starts fast. */
const SMALL_HARNESS = { repeated: 60, documents: 600 };

/** Asks repeated and new searches, so that every counter grows that traffic alone increases. */
async function traffic(harness: Harness): Promise<void> {
  const client = createClient({ baseUrl: harness.subject.url, patienceMs: HUNG_MS, maxConnections: 4 });
  for (const text of harness.queries.repeated) await client.get(searchPath(text));
  for (let search = 0; search < 20; search += 1) await client.get(searchPath(harness.newSearch()));
  client.close();
}
