import { createClient, type Reply } from '../../loadtest/traffic/client.ts';
import { startStream } from '../../loadtest/traffic/stream.ts';
import { createZipf } from '../../loadtest/traffic/zipf.ts';
import { systemClock } from '../../src/runtime.ts';
import type { Outcome } from '../../src/search/events.ts';

/** People: searches that come again, to each process in turn, at a steady rate whatever the answers are. */
export interface People {
  readonly answers: readonly PeoplesAnswer[];
  readonly stop: () => Promise<void>;
}

export interface PeoplesAnswer {
  readonly sentMs: number;
  readonly process: number;
  readonly text: string;
  /** `refused`: another status than 200; `broken`: no answer. */
  readonly result: Outcome | 'refused' | 'broken';
  /** Ids on the page. */
  readonly ids: readonly string[];
}

export interface PeopleOptions {
  readonly urls: readonly string[];
  readonly domain: string;
  readonly texts: readonly string[];
  readonly ratePerSecond?: number;
}

const BOUND_MS = 8000;
/** Whatever a test does, they leave. */
const LONGEST_MS = 120_000;

/** Resolves when every text was asked once of each process: the cache is warm when the first of them comes. */
export async function startPeople(options: PeopleOptions): Promise<People> {
  const { urls, domain, texts, ratePerSecond = 60 } = options;
  const clients = urls.map((baseUrl) => createClient({ baseUrl, boundMs: BOUND_MS, maxConnections: 64 }));
  const answers: PeoplesAnswer[] = [];
  const inFlight = new Set<Promise<void>>();
  const ask = async (text: string, process: number): Promise<PeoplesAnswer> => {
    const sentMs = systemClock.monotonicMs();
    const reply = await clients[process]?.get(`/search?domain=${domain}&q=${encodeURIComponent(text)}`);
    return { sentMs, process, text, result: resultOf(reply), ids: idsOf(reply) };
  };
  for (const process of urls.keys()) {
    // Few at a time: an engine with one worker sheds more.
    for (let from = 0; from < texts.length; from += 4) {
      await Promise.all(texts.slice(from, from + 4).map((text) => ask(text, process)));
    }
  }
  const rank = createZipf({ size: texts.length, exponent: 1 });
  const arrive = (n: number): void => {
    const asked = ask(texts[rank(Math.random)] ?? '', n % urls.length).then((answer) => {
      answers.push(answer);
      inFlight.delete(asked);
    });
    inFlight.add(asked);
  };
  const stream = startStream({ ratePerSecond, random: Math.random, clock: systemClock, arrive });
  const limit = setTimeout(stream.stop, LONGEST_MS);
  return {
    answers,
    stop: async () => {
      stream.stop();
      clearTimeout(limit);
      await Promise.all(inFlight);
      for (const client of clients) client.close();
    },
  };
}

function resultOf(reply: Reply | undefined): PeoplesAnswer['result'] {
  if (reply?.kind !== 'answer') return 'broken';
  if (reply.status !== 200) return 'refused';
  const outcome = /\bcache;desc=([a-z0-9-]+)/.exec(String(reply.headers['server-timing']))?.[1];
  return (outcome ?? 'broken') as PeoplesAnswer['result'];
}

function idsOf(reply: Reply | undefined): readonly string[] {
  if (reply?.kind !== 'answer' || reply.status !== 200) return [];
  const { results = [] } = JSON.parse(reply.body) as { results?: readonly { readonly id: string }[] };
  return results.map(({ id }) => id);
}

/** 0–1; NaN of nothing. */
export function hitRatio(answers: readonly PeoplesAnswer[]): number {
  return answers.filter(({ result }) => result === 'hit-l1' || result === 'hit-l2').length / answers.length;
}
