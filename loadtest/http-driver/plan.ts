/** `node loadtest/http-driver/plan.ts <plan.json>`: runs the plan and prints its result as JSON. */
import { readFileSync } from 'node:fs';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { createClient, type Reply } from './client.ts';
import { closedLoop, openLoop } from './loops.ts';

/** A bounded load on the replicas of one service. */
export interface HttpPlan {
  /** `http://127.0.0.1:1234`. Requests go to the replicas in turn. */
  readonly replicas: readonly string[];
  /** `/search?q=…` */
  readonly paths: readonly string[];
  readonly pace: HttpPace;
  /** A request without an answer after this time counts as hung. */
  readonly patienceMs: number;
}

type HttpPace =
  /** Closed loop: each path once. */
  | { readonly kind: 'once'; readonly connections: number }
  /** Open loop: paths in turn at equal intervals. Requests of the lead are in no figure. */
  | {
      readonly kind: 'rate';
      readonly perSecond: number;
      readonly seconds: number;
      readonly leadSeconds?: number;
    }
  /** Sends each path `times` times at one moment, `pathsAtOnce` paths together; the next ones when all of these have ended. */
  | { readonly kind: 'burst'; readonly times: number; readonly pathsAtOnce: number };

/** Times are milliseconds from when a request was due to its whole answer, connecting included. */
export type HttpDriven = Awaited<ReturnType<typeof driveHttp>>;

/** A request of an open loop that is due beyond this waits. */
export const MAX_IN_FLIGHT = 512;

export async function driveHttp({ replicas, paths, pace, patienceMs }: HttpPlan) {
  const clients = replicas.map((baseUrl) =>
    createClient({ baseUrl, patienceMs, maxConnections: Number.POSITIVE_INFINITY, discardsBodies: true }),
  );
  const [servedTimes, failedTimes] = [createHistogram(), createHistogram()];
  const pathsServed = new Set<string>();
  /** Count of each end: `200`, `503`, … and `broken` (no answer, or an incomplete one). */
  const outcomes: Record<string, number> = {};
  let [sent, hung, bodyBytes] = [0, 0, 0];

  const pathAt = (n: number): string => paths[n % paths.length] ?? '/';
  const replyOf = (path: string, n: number): Promise<Reply> => {
    const client = clients[n % clients.length];
    if (client === undefined) throw new Error('a plan without replicas');
    return client.getOnce(path);
  };
  const ask = async (path: string, dueMs: number): Promise<void> => {
    sent += 1;
    const reply = await replyOf(path, sent - 1);
    if (reply.kind === 'hung') {
      hung += 1;
      return;
    }
    const name = reply.kind === 'answer' ? String(reply.status) : 'broken';
    outcomes[name] = (outcomes[name] ?? 0) + 1;
    const isServed = reply.kind === 'answer' && reply.status === 200;
    (isServed ? servedTimes : failedTimes).record(Math.max(1, Math.round((performance.now() - dueMs) * 1000)));
    if (!isServed) return;
    bodyBytes += reply.bytes;
    pathsServed.add(path);
  };

  const startedMs = performance.now();
  switch (pace.kind) {
    case 'once':
      await closedLoop(paths, pace.connections, (path) => ask(path, performance.now()));
      break;
    case 'rate': {
      const { perSecond: ratePerSecond, seconds, leadSeconds = 0 } = pace;
      const atRate = (forSeconds: number, send: (n: number, dueMs: number) => Promise<unknown>): Promise<void> => {
        const maxRequests = Math.max(1, Math.round(ratePerSecond * forSeconds));
        return openLoop({ ratePerSecond, maxRequests, maxInFlight: MAX_IN_FLIGHT, send }).ended;
      };
      if (leadSeconds > 0) await atRate(leadSeconds, (n) => replyOf(pathAt(n), n + 1));
      await atRate(seconds, (n, dueMs) => ask(pathAt(n), dueMs));
      break;
    }
    case 'burst':
      for (let from = 0; from < paths.length; from += pace.pathsAtOnce) {
        const some = paths.slice(from, from + pace.pathsAtOnce);
        const dueMs = performance.now();
        // Copies of a path follow each other, so it is asked of every replica.
        await Promise.all(some.flatMap((path) => Array.from({ length: pace.times }, () => ask(path, dueMs))));
      }
  }
  for (const client of clients) client.close();
  return {
    requests: sent,
    seconds: (performance.now() - startedMs) / 1000,
    outcomes,
    /** Count of requests without an answer within the patience. */
    hung,
    /** Different paths that got at least one answer with status 200. */
    pathsServed: pathsServed.size,
    // Times of answers with status 200, and of all other ends except hung; absent when there was none.
    ...(servedTimes.count > 0 && { servedMs: timesOf(servedTimes) }),
    ...(failedTimes.count > 0 && { failedMs: timesOf(failedTimes) }),
    /** Bytes of the bodies of answers with status 200. */
    bodyBytes,
  };
}

/** @param us a histogram of microseconds that is not empty. @returns milliseconds. */
export function timesOf(us: RecordableHistogram) {
  return {
    p50: us.percentile(50) / 1000,
    p99: us.percentile(99) / 1000,
    p999: us.percentile(99.9) / 1000,
    max: us.max / 1000,
  };
}

export function servedShare({ outcomes, requests }: Pick<HttpDriven, 'outcomes' | 'requests'>): number {
  return requests === 0 ? 0 : (outcomes['200'] ?? 0) / requests;
}

/** `503`, `502, 8 of 20 hung`: the most frequent outcome, then the counts of all others. */
export function outcomeText({ outcomes, hung, requests }: Pick<HttpDriven, 'outcomes' | 'hung' | 'requests'>): string {
  const names = Object.entries(outcomes).toSorted(([, a], [, b]) => b - a);
  const answered = names.map(([name, count], at) => (at === 0 ? name : `${count} of ${requests} ${name}`));
  return [...answered, ...(hung === 0 ? [] : [`${hung} of ${requests} hung`])].join(', ');
}

if (import.meta.main) {
  console.log(JSON.stringify(await driveHttp(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')))));
  process.exit(0);
}
