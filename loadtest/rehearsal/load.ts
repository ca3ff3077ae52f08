import { systemClock } from '../../src/runtime.ts';
import type { Outcome } from '../../src/search/outcome.ts';
import { createClient, outcomeOf, type Reply } from '../http-driver/client.ts';
import { openLoop } from '../http-driver/loops.ts';
import { createZipf } from '../traffic/zipf.ts';
import type { Bed } from './bed.ts';

/** People: searches that come again, each to one replica in turn, at a steady rate whatever the answers are. */
export interface Load {
  /** Answers of the last minutes, in the order they came. */
  readonly answers: readonly Answered[];
  readonly nowMs: () => number;
  /** Called with each answer. */
  onAnswer: (answered: Answered) => void;
  /** How late the generator itself was, worst of the last arrivals. */
  readonly lagMs: () => number;
  readonly stop: () => void;
}

export interface Answered {
  readonly sentMs: number;
  readonly atMs: number;
  /** Index of the replica. */
  readonly replica: number;
  readonly text: string;
  readonly result: Outcome | 'refused' | 'broken';
  readonly body: string;
}

const BOUND_MS = 5000;
const KEPT = 60_000;
/** Whatever happens, it ends. */
const LONGEST_MS = 20 * 60_000;
const ZIPF_EXPONENT = 1;

export function startLoad({ replicas, queries, domain }: Bed, ratePerSecond: number): Load {
  const clients = replicas.map(({ url }) => createClient({ baseUrl: url, patienceMs: BOUND_MS, maxConnections: 512 }));
  const rank = createZipf({ size: queries.repeated.length, exponent: ZIPF_EXPONENT });
  const answers: Answered[] = [];
  const nowMs = systemClock.monotonicMs;

  const ask = async (arrival: number): Promise<void> => {
    const replica = arrival % clients.length;
    const text = queries.repeated[rank(Math.random)] ?? '';
    const sentMs = nowMs();
    const reply = await clients[replica]?.get(targetOf(text, domain));
    if (reply === undefined) return;
    const body = reply.kind === 'answer' ? reply.body : '';
    const answered = { sentMs, atMs: nowMs(), replica, text, result: resultOf(reply), body };
    // Bodies are only looked at as they come.
    answers.push({ ...answered, body: '' });
    if (answers.length > KEPT) answers.splice(0, KEPT / 2);
    load.onAnswer(answered);
  };
  const loop = openLoop({ ratePerSecond, random: Math.random, send: ask });
  const stop = (): void => {
    loop.stop();
    clearTimeout(limit);
    for (const client of clients) client.close();
  };
  const limit = setTimeout(stop, LONGEST_MS);
  const load: Load = {
    answers,
    nowMs,
    onAnswer: () => undefined,
    lagMs: () => Math.max(0, ...loop.lagMs().slice(-1000)),
    stop,
  };
  return load;
}

export function targetOf(text: string, domain: string): string {
  return `/search?domain=${domain}&q=${encodeURIComponent(text)}`;
}

/** `server-timing` says the outcome of a page. */
export function resultOf(reply: Reply): Answered['result'] {
  if (reply.kind !== 'answer') return 'broken';
  if (reply.status !== 200) return 'refused';
  return (outcomeOf(reply) ?? 'broken') as Answered['result'];
}

export function isHit({ result }: Pick<Answered, 'result'>): boolean {
  return result === 'hit-l1' || result === 'hit-l2';
}

/** 0–1; NaN of nothing. */
export function hitRatio(answers: readonly Answered[]): number {
  return answers.filter(isHit).length / answers.length;
}
