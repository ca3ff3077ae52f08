import { createClient } from '../../../loadtest/http-driver/client.ts';
import { openLoop } from '../../../loadtest/http-driver/loops.ts';
import { systemClock } from '../../../src/runtime.ts';
import { HUNG_MS } from '../configuration.ts';
import { clientHeaders, searchPath } from '../harness.ts';
import { percentile } from '../report.ts';
import { type ReplyVerdict, verdictOf } from '../verdict.ts';

/** One search sent to one process, and its result. */
export interface SentSearch {
  /** Number of the arrival from 0, the same for all processes that it was sent to. */
  readonly arrival: number;
  /** Time since the start of the stream. */
  readonly sentMs: number;
  readonly durationMs: number;
  /** Index of the process. */
  readonly to: number;
  readonly text: string;
  readonly target: string;
  readonly verdict: ReplyVerdict;
}

interface Arrival {
  readonly text: string;
  /** URL path and query. Default: a search for the text without further parameters. */
  readonly target?: string;
  /** Indexes of the processes that it is sent to. */
  readonly to: readonly number[];
}

export interface OpenLoop {
  /** In the order of the answers. */
  readonly asked: readonly SentSearch[];
  readonly sinceStartMs: () => number;
  readonly arrivals: () => number;
  /** Resolves after the last answer. */
  readonly stop: () => Promise<void>;
  /** p99 lateness of the generator. */
  readonly lagMs: () => number;
}

interface OpenLoopOptions {
  readonly urls: readonly string[];
  readonly ratePerSecond: number;
  readonly random: () => number;
  readonly next: (arrival: number) => Arrival;
  readonly onAnswer?: (asked: SentSearch) => void;
}

/** Sends arrivals without waiting for answers. */
export function startOpenLoop({ urls, ratePerSecond, random, next, onAnswer }: OpenLoopOptions): OpenLoop {
  const clients = urls.map((baseUrl) => createClient({ baseUrl, patienceMs: HUNG_MS, maxConnections: 4096 }));
  const asked: SentSearch[] = [];
  const startMs = systemClock.monotonicMs();
  const sinceStartMs = (): number => systemClock.monotonicMs() - startMs;
  let arrivals = 0;

  const send = async (arrival: number, to: number, { text, target = searchPath(text) }: Arrival): Promise<void> => {
    const client = clients[to];
    if (client === undefined) throw new Error(`no process ${to}`);
    const sentMs = sinceStartMs();
    const verdict = verdictOf(await client.get(target, clientHeaders(arrival)), text);
    const one: SentSearch = { arrival, sentMs, durationMs: sinceStartMs() - sentMs, to, text, target, verdict };
    asked.push(one);
    onAnswer?.(one);
  };
  const loop = openLoop({
    ratePerSecond,
    random,
    send: (arrival) => {
      arrivals = arrival + 1;
      const search = next(arrival);
      return Promise.all(search.to.map((to) => send(arrival, to, search)));
    },
  });
  return {
    asked,
    sinceStartMs,
    arrivals: () => arrivals,
    stop: async () => {
      loop.stop();
      await loop.ended;
      for (const client of clients) client.close();
    },
    lagMs: () => percentile(loop.lagMs(), 0.99),
  };
}

export const isPage = ({ verdict }: SentSearch): boolean => verdict.kind === 'page';
export const isShed = ({ verdict }: SentSearch): boolean => verdict.kind === 'shed';
/** No answer, or an answer that a client cannot act on. */
export const isFault = ({ verdict }: SentSearch): boolean => verdict.kind !== 'page' && verdict.kind !== 'shed';
