/** What one run of the HTTP driver does: a bounded load on the replicas of one peer, for what wrk cannot do. */
export interface HttpPlan {
  /** `http://127.0.0.1:1234`. The nth request goes to the nth of them, and round again. */
  readonly replicas: readonly string[];
  /** `/search?q=…` */
  readonly paths: readonly string[];
  readonly pace: HttpPace;
  /** Nobody waits longer for an answer: it counts as hung. */
  readonly patienceMs: number;
}

export type HttpPace =
  /** Closed loop: each path once, so many at a time. */
  | { readonly kind: 'once'; readonly connections: number }
  /** Open loop: paths in turn, so many a second whatever is answered. What is asked in the lead is in no figure. */
  | {
      readonly kind: 'rate';
      readonly perSecond: number;
      readonly seconds: number;
      readonly leadSeconds?: number;
    }
  /** Each path so often at one moment; so many paths at one moment, the next when all of those are answered. */
  | { readonly kind: 'burst'; readonly times: number; readonly pathsAtOnce: number };

/** What came of it. Times are milliseconds from when a request was due to its whole answer, connecting included. */
export interface HttpDriven {
  readonly requests: number;
  readonly seconds: number;
  /** How many of each: `200`, `503`, … and `broken` (no answer, or half of one). */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Longer than anybody waits. */
  readonly hung: number;
  /** Different paths that got at least one answer with status 200. */
  readonly pathsServed: number;
  /** Of answers with status 200; absent when there was none. */
  readonly servedMs?: Times;
  /** Of all other ends but hanging; absent when there was none. */
  readonly failedMs?: Times;
  /** Bodies of answers with status 200. */
  readonly bodyBytes: number;
}

export interface Times {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Answers with status 200, of all requests: 0–1. */
export function servedShare({ outcomes, requests }: Pick<HttpDriven, 'outcomes' | 'requests'>): number {
  return requests === 0 ? 0 : (outcomes['200'] ?? 0) / requests;
}

/** `503`, `502, 8 of 20 hung`: what most got, and who got something else or nothing. */
export function outcomeText({ outcomes, hung, requests }: Pick<HttpDriven, 'outcomes' | 'hung' | 'requests'>): string {
  const names = Object.entries(outcomes).toSorted(([, a], [, b]) => b - a);
  const answered = names.map(([name, count], at) => (at === 0 ? name : `${count} of ${requests} ${name}`));
  return [...answered, ...(hung === 0 ? [] : [`${hung} of ${requests} hung`])].join(', ');
}
