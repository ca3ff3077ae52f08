import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../../src/search/outcome.ts';
import { createClient, outcomeOf, type Reply } from '../http-driver/client.ts';
import { openLoop } from '../http-driver/loops.ts';
import { createZipf } from '../traffic/zipf.ts';
import type { Harness } from './harness.ts';

export type Load = ReturnType<typeof startLoad>;

/** Replicas that a load or a probe asks, each for its own domain or for the domain of all. */
interface Asked extends Pick<Harness, 'queries'> {
  readonly replicas: readonly { readonly url: string; readonly domain?: string }[];
  readonly domain?: string;
}

export interface Answered {
  readonly sentMs: number;
  readonly atMs: number;
  readonly result: Outcome | 'refused' | 'broken';
  /** Empty in `answers`: bodies are only read as they come. */
  readonly body: string;
}

const PATIENCE_MS = 5000;
const KEPT = 60_000;
const MAX_LOAD_MS = 20 * 60_000;

/** Repeated searches in an open loop, sent to the replicas in turn. @param exponent of their Zipf distribution */
export function startLoad({ replicas, queries, domain }: Asked, ratePerSecond: number, exponent = 1) {
  const clients = clientsOf(replicas, 512);
  const rank = createZipf({ size: queries.repeated.length, exponent });
  const answers: Answered[] = [];

  const send = async (n: number): Promise<void> => {
    const text = queries.repeated[rank(Math.random)] ?? '';
    const sentMs = performance.now();
    const at = n % clients.length;
    const reply = await clients[at]?.get(targetOf(text, replicas[at]?.domain ?? domain));
    if (reply === undefined) return;
    const body = reply.kind === 'answer' ? reply.body : '';
    const answered = { sentMs, atMs: performance.now(), result: resultOf(reply), body };
    answers.push({ ...answered, body: '' });
    if (answers.length > KEPT) answers.splice(0, KEPT / 2);
    load.onAnswer(answered);
  };
  const loop = openLoop({ ratePerSecond, random: Math.random, send });
  const stop = (): void => {
    loop.stop();
    clearTimeout(limit);
    for (const client of clients) client.close();
  };
  const limit = setTimeout(stop, MAX_LOAD_MS);
  const load = {
    /** The latest answers, in the order in which they came. */
    answers: answers as readonly Answered[],
    onAnswer: (_: Answered): void => undefined,
    /** The largest lateness of the generator among the latest requests. */
    lagMs: (): number => Math.max(0, ...loop.lagMs().slice(-1000)),
    stop,
  };
  return load;
}

function clientsOf(replicas: Asked['replicas'], maxConnections: number) {
  return replicas.map(({ url }) => createClient({ baseUrl: url, patienceMs: PATIENCE_MS, maxConnections }));
}

function targetOf(text: string, domain = ''): string {
  return `/search?domain=${domain}&q=${encodeURIComponent(text)}`;
}

function resultOf(reply: Reply): Answered['result'] {
  if (reply.kind !== 'answer') return 'broken';
  if (reply.status !== 200) return 'refused';
  return (outcomeOf(reply) ?? 'broken') as Answered['result'];
}

export function isHit({ result }: Pick<Answered, 'result'>): boolean {
  return result === 'hit-l1' || result === 'hit-l2';
}

export function idsIn(body: string): readonly string[] {
  if (body === '') return [];
  const { results = [] } = JSON.parse(body) as { readonly results?: readonly { readonly id: string }[] };
  return results.map(({ id }) => id);
}

/** 0–1; NaN without answers. */
export function hitRatio(answers: readonly Answered[]): number {
  return answers.filter(isHit).length / answers.length;
}

/** The first `count` answers to searches that were sent after `sinceMs`. @throws when they take over a minute. */
export async function answersSince({ answers }: Load, sinceMs: number, count: number): Promise<readonly Answered[]> {
  const untilMs = performance.now() + 60_000;
  for (;;) {
    const found = answers.filter(({ sentMs }) => sentMs >= sinceMs);
    if (found.length >= count) return found.slice(0, count);
    if (performance.now() > untilMs) throw new Error(`${found.length} of ${count} answers came in a minute`);
    await sleep(100);
  }
}

/** Searches that the load never sends, cached in every replica: only a drill changes their entries. */
interface Planted {
  readonly texts: readonly string[];
  readonly limit: number;
}

export type Probe = ReturnType<typeof createProbe>;

export function createProbe({ replicas, domain, queries }: Asked) {
  const clients = clientsOf(replicas, 8);
  const all = [...replicas.keys()];
  const ask = (replica: number, text: string, limit?: number): Promise<Reply> => {
    const client = clients[replica];
    if (client === undefined) throw new Error(`there is no replica ${replica}`);
    return client.get(`${targetOf(text, domain)}${limit === undefined ? '' : `&limit=${limit}`}`);
  };
  const isHitAt = async (replica: number, text: string, limit: number): Promise<boolean> =>
    isHit({ result: resultOf(await ask(replica, text, limit)) });
  return {
    ask,
    /** Caches `count` searches in every L1 and in L2. @param limit different for each set: it makes the keys unique. */
    plant: async (count: number, limit: number): Promise<Planted> => {
      const texts = queries.repeated.slice(0, count);
      // Twice, so that each page is in every L1 and in L2.
      for (let round = 0; round < 2; round += 1) {
        for (const text of texts) for (const at of all) await isHitAt(at, text, limit);
      }
      return { texts, limit };
    },
    /** The share of planted searches that are hits at these replicas (all by default). A miss is computed and cached. */
    firstHits: async ({ texts, limit }: Planted, at: readonly number[] = all): Promise<number> => {
      let hits = 0;
      for (const replica of at) {
        const found = await Promise.all(texts.map((text) => isHitAt(replica, text, limit)));
        hits += found.filter(Boolean).length;
      }
      return hits / (texts.length * at.length);
    },
    close: () => {
      for (const client of clients) client.close();
    },
  };
}
