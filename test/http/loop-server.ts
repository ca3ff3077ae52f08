import { parentPort } from 'node:worker_threads';
import pino from 'pino';
import { createPublicServer } from '../../src/http/search-api/public-server.ts';
import { systemClock } from '../../src/runtime.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import { createFakeSearch } from '../fakes/search.ts';

/**
 * A public listener with its limits at their maxima, in a thread of its own, which reports the processor time of the
 * longest turn of its event loop. The processor time of the thread does not include other work on the machine. The engine
 * answers at once: a real one works in another thread or process.
 */

/** Milliseconds of processor time. */
export interface Turns {
  /** The longest turn since the previous message. */
  readonly longestMs: number;
  /** Mean of a fixed piece of work, repeated in this run: on a slow or busy machine both are longer. */
  readonly referenceMs: number;
}

const DOMAIN: SearchDomain = {
  name: 'goods',
  attributes: [
    ...Array.from({ length: 20 }, (_, i) => ({ name: `a${i}`, type: 'string', facet: true, sort: false }) as const),
    { name: 'price', type: 'number', facet: false, sort: true },
    { name: 'date', type: 'date', facet: false, sort: true },
  ],
  context: [{ name: 'region', source: 'query', values: ['ru', 'kz'] }],
  answerProfile: 'p1',
};

const search = createFakeSearch({ clock: systemClock, domains: [DOMAIN], coding: 'gzip', results: 100 });
// As with a real engine, the size of a page does not depend on the length of the query.
search.answer = async (prepared) => {
  const answer = await search.computed({
    ...prepared,
    request: { ...prepared.request, text: 'кроссовки '.repeat(20) },
  });
  search.memory.set(prepared.key, answer.entry);
  return answer;
};
const server = createPublicServer({
  domains: search.domains,
  observe: () => {},
  log: pino({ level: 'silent' }),
  clock: systemClock,
  random: () => 0.5,
  maxPageBytes: 2 ** 24,
  maxUrlBytes: 16 * 2 ** 10,
  maxBodyBytes: 2 ** 20,
  maxConnections: 100,
  maxInFlight: 1000,
  maxLoopDelayMs: 60_000,
  drainMs: 100,
  lameDuckMs: 0,
  hitSample: 0,
  version: 'test',
});

const usedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Sorting and text work, like the measured code. */
function referenceWork(): number {
  const startedMs = usedMs();
  const texts = Array.from({ length: 4000 }, (_, i) => `${(i * 7919) % 4001} слово ${i}`);
  JSON.parse(JSON.stringify(texts.sort().map((text) => ({ text: text.toUpperCase().normalize('NFKC') }))));
  return usedMs() - startedMs;
}
/** Some kernels count processor time in steps of 4 ms: a single run may take none. */
const references = Array.from({ length: 10 }, referenceWork);
const meanMs = (): number => references.reduce((sum, each) => sum + each, 0) / references.length;

let longestMs = 0;
let lastMs = usedMs();
// The loop never sleeps while this runs, so that each call comes in the next turn.
const turn = (): void => {
  const nowMs = usedMs();
  longestMs = Math.max(longestMs, nowMs - lastMs);
  lastMs = nowMs;
  setImmediate(turn);
};

parentPort?.on('message', () => {
  references.push(referenceWork());
  parentPort?.postMessage({ longestMs, referenceMs: meanMs() } satisfies Turns);
  longestMs = 0;
  lastMs = usedMs();
});
const url = await server.listen({ host: '127.0.0.1', port: 0 });
turn();
parentPort?.postMessage(url);
