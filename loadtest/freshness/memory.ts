import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Change } from '../../src/changes/change.ts';
import { createRandom } from '../random.ts';
import { processFile, residentBytesIn } from '../stack/processors.ts';
import { startLoad } from './load.ts';
import type { Fleet } from './phase.ts';
import type { Searches } from './searches.ts';
import type { FreshnessStack } from './stack.ts';

/** Memory and garbage collections of one replica over some time. */
export interface MemoryFigures {
  readonly changes: number;
  readonly seconds: number;
  readonly longestGcMs: number;
  readonly gcMsPerSecond: number;
  /** Resident memory, after the first half of the time and at the end. Bytes. */
  readonly rssMiddle: number;
  readonly rssEnd: number;
}

const BATCH = 1000;
/** Smaller calls at small rates: several a second. */
const CALLS_PER_SECOND = 5;
const LOOK_MS = 1000;

/** Changes of prices as fast as the feed takes them up to a rate, without the engine. */
export async function flood(
  { documents, sendChanges }: FreshnessStack,
  { count, perSecond, signal }: { readonly count: number; readonly perSecond: number; readonly signal: AbortSignal },
): Promise<number> {
  const { pick, between } = createRandom(1);
  const startedMs = performance.now();
  const batch = Math.min(BATCH, Math.ceil(perSecond / CALLS_PER_SECOND));
  let sent = 0;
  while (sent < count && !signal.aborted) {
    const changes = Array.from({ length: Math.min(batch, count - sent) }, (): Change => {
      const { id, title, description, attributes } = pick(documents);
      const was = { attributes: { price: attributes['price'] ?? 0 } };
      const now = { ...attributes, price: between(1, 100_000) };
      return { id, op: 'upsert', text: `${title} ${description}`, attributes: now, was };
    });
    await sendChanges(changes);
    sent += changes.length;
    await sleep(Math.max(0, (sent / perSecond) * 1000 - (performance.now() - startedMs)));
  }
  return sent;
}

/** Measures the first replica, which was started with `--trace-gc`, while searches are answered and `work` runs. */
export async function measureMemory(options: {
  readonly stack: FreshnessStack;
  readonly fleet: Fleet;
  readonly searches: Searches;
  readonly searchesPerSecond: number;
  readonly work: (signal: AbortSignal) => Promise<number>;
  readonly limitSeconds: number;
}): Promise<MemoryFigures> {
  const { stack, fleet, searches, searchesPerSecond, work, limitSeconds } = options;
  const [replica] = fleet.replicas;
  if (replica === undefined) throw new Error('a fleet without replicas');
  const ending = new AbortController();
  const limit = AbortSignal.timeout(limitSeconds * 1000);
  const load = startLoad({
    targets: fleet.targets,
    searches,
    engine: stack.engine,
    indexer: { lastOf: () => undefined },
    perSecond: searchesPerSecond,
    seconds: limitSeconds,
    signal: ending.signal,
  });
  const logBefore = readFileSync(replica.logFile, 'utf8').length;
  const startedMs = performance.now();
  const rss: { readonly atMs: number; readonly bytes: number }[] = [];
  const watching = (async (): Promise<void> => {
    while (!ending.signal.aborted) {
      rss.push({ atMs: performance.now(), bytes: residentBytesIn(processFile(replica.pid, 'status')) ?? 0 });
      await sleep(LOOK_MS);
    }
  })();
  const changes = await work(limit);
  const seconds = (performance.now() - startedMs) / 1000;
  ending.abort();
  await Promise.all([load.ended, watching]);
  const pauses = gcPausesIn(readFileSync(replica.logFile, 'utf8').slice(logBefore));
  return {
    changes,
    seconds,
    longestGcMs: Math.max(0, ...pauses),
    gcMsPerSecond: pauses.reduce((sum, ms) => sum + ms, 0) / seconds,
    rssMiddle: rss[Math.floor(rss.length / 2)]?.bytes ?? 0,
    rssEnd: rss.at(-1)?.bytes ?? 0,
  };
}

/** The durations in the lines of `--trace-gc`: `… MB, 1.23 / 0.00 ms (average …`. */
export function gcPausesIn(log: string): readonly number[] {
  return Array.from(log.matchAll(/ms: .*? MB, ([\d.]+) \/ [\d.]+ ms/g), ([, ms]) => Number(ms));
}
