import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../../loadtest/traffic/client.ts';
import { personOf, targetOf } from '../bed.ts';
import { ENGINE_DEADLINE_MS, HUNG_MS, PATIENCE_MS } from '../configuration.ts';
import { verdictOf } from '../verdict.ts';
import { type Asked, isFault, isPage, isShed, type OpenLoop, quantileMs, startOpenLoop } from './open-loop.ts';

/** One load on one way of limiting. */
export interface Overload {
  /** Arrivals a second. */
  readonly offered: number;
  /** Pages within the engine's deadline, a second. */
  readonly good: number;
  readonly pageP99Ms: number;
  readonly shedP99Ms: number;
  readonly shedMaxMs: number;
  /** Of everything. */
  readonly maxMs: number;
  /** What was neither a page nor an honest refusal. */
  readonly faults: readonly string[];
  /** Pages, to be compared with what the engine says. */
  readonly pages: readonly Asked[];
  readonly lagMs: number;
}

/** A search nobody ever asked. */
export interface NewSearch {
  readonly text: string;
  readonly target?: string;
}

/** A load that stays is told from a burst after one patience, and what was promised until then takes up to another. */
const SETTLE_MS = 2 * PATIENCE_MS;
const MEASURE_MS = 6500;

/** Nobody waits for anybody: arrivals at that rate, each a search nobody asked before. */
export async function overload(options: {
  readonly url: string;
  readonly ratePerSecond: number;
  readonly random: () => number;
  readonly next: () => NewSearch;
  readonly settleMs?: number;
}): Promise<Overload> {
  const { url, next, settleMs = SETTLE_MS } = options;
  const loop = startOpenLoop({ ...options, urls: [url], next: () => ({ ...next(), to: [0] }) });
  await sleep(settleMs + MEASURE_MS);
  await loop.stop();
  return figuresOf(loop, settleMs);
}

function figuresOf(loop: OpenLoop, fromMs: number): Overload {
  const counted = loop.asked.filter(({ sentMs }) => sentMs >= fromMs && sentMs < fromMs + MEASURE_MS);
  const pages = counted.filter(isPage);
  const sheds = counted.filter(isShed);
  const perSecond = (asked: readonly Asked[]): number => (asked.length * 1000) / MEASURE_MS;
  return {
    offered: perSecond(counted),
    good: perSecond(pages.filter(({ durationMs }) => durationMs <= ENGINE_DEADLINE_MS)),
    pageP99Ms: quantileMs(pages, 0.99),
    shedP99Ms: quantileMs(sheds, 0.99),
    shedMaxMs: quantileMs(sheds, 1),
    maxMs: quantileMs(loop.asked, 1),
    faults: loop.asked.filter(isFault).map(({ text, verdict }) => `${text}: ${JSON.stringify(verdict)}`),
    pages,
    lagMs: loop.lagMs(),
  };
}

const SATURATE_MS = 2500;

/** What the engine gives at the most: so many clients, each of whom asks again as soon as he has his answer. Pages a second. */
export async function saturate(url: string, clients: number, next: () => NewSearch): Promise<number> {
  const client = createClient({ baseUrl: url, boundMs: HUNG_MS, maxConnections: clients });
  const startMs = performance.now();
  let pages = 0;
  const visitor = async (at: number): Promise<void> => {
    while (performance.now() - startMs < SATURATE_MS) {
      const { text, target = targetOf(text) } = next();
      const verdict = verdictOf(await client.get(target, personOf(at)), text);
      if (verdict.kind === 'page') pages += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, at) => visitor(at)));
  client.close();
  return (pages * 1000) / (performance.now() - startMs);
}
