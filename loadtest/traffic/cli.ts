/**
 * `npm run traffic`: people who search the demo catalogue, so that there is something to drill: searches that come again, at
 * a steady rate, whatever the answers are. First each of them once, so that the cache is warm. Loopback only; until it is
 * stopped, one hour at most.
 *
 * A drill of 1 % of the keys has to see something: of 2,000 searches about twenty lie in such a cohort, and with the head of
 * the Zipf curve flattened (as users do not all ask for one thing) they get 3 of 300 searches a second, one in a thousand
 * cohorts less than 0.6.
 */
import { parseArgs } from 'node:util';
import { DEMO_DOMAINS, demoDocuments } from '../../src/catalogue/demo.ts';
import { systemClock } from '../../src/clock.ts';
import { createClient } from './client.ts';
import { queriesOf } from './queries.ts';
import { type Stream, startStream } from './stream.ts';
import { createZipf } from './zipf.ts';

const USAGE = 'npm run traffic -- [--domain goods] [--port 8080] [--rps 300] [--seconds 3600]';
const QUERIES = 2000;
const FLATTENED = 30;
/** While the cache is filled: an engine with one worker sheds more. */
const WARM_AT_ONCE = 4;
const MOST = { rps: 2000, seconds: 3600, port: 65_535 };
const BOUND_MS = 5000;
const SAY_MS = 5000;

const { values } = parseArgs({
  options: {
    domain: { type: 'string', default: 'goods' },
    port: { type: 'string', default: process.env['PORT'] ?? '8080' },
    rps: { type: 'string', default: '300' },
    seconds: { type: 'string', default: '3600' },
  },
});
const { domain } = values;
const [port, rps, seconds] = [number('port'), number('rps'), number('seconds')];
const known: readonly string[] = DEMO_DOMAINS.map(({ name }) => name);
if (!known.includes(domain)) wrong(`--domain takes one of ${known.join(', ')}, not ${domain}`);

const { repeated } = queriesOf(demoDocuments(domain), QUERIES);
const rank = createZipf({ size: QUERIES, exponent: 1, offset: FLATTENED });
const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, boundMs: BOUND_MS, maxConnections: 256 });
const counts = new Map<string, number>();
let stream: Stream | undefined;
let isOver = false;

/** False: nobody answered. */
const ask = async (text: string): Promise<boolean> => {
  const reply = await client.get(`/search?domain=${domain}&q=${encodeURIComponent(text)}`);
  const timing = reply.kind === 'answer' ? String(reply.headers['server-timing']) : '';
  const how = /\bcache;desc=([a-z0-9-]+)/.exec(timing)?.[1] ?? (reply.kind === 'answer' ? reply.status : reply.kind);
  counts.set(String(how), (counts.get(String(how)) ?? 0) + 1);
  return reply.kind !== 'broken';
};

const end = (): void => {
  isOver = true;
  clearInterval(say);
  clearTimeout(limit);
  stream?.stop();
  client.close();
};
const say = setInterval(() => {
  console.log([...counts].map(([how, count]) => `${how} ${count}`).join('  '));
  counts.clear();
}, SAY_MS);
const limit = setTimeout(end, seconds * 1000);
process.once('SIGINT', end);
process.once('SIGTERM', end);

const waiting = [...repeated];
const warm = async (): Promise<void> => {
  for (let text = waiting.pop(); text !== undefined && !isOver; text = waiting.pop()) await ask(text);
};
const startedMs = systemClock.monotonicMs();
if (await ask(repeated[0] ?? '')) {
  console.log(`asking each of ${QUERIES} searches once, so that the cache is warm`);
  await Promise.all(Array.from({ length: WARM_AT_ONCE }, warm));
  if (!isOver) {
    const tookSeconds = Math.round((systemClock.monotonicMs() - startedMs) / 1000);
    console.log(`warm after ${tookSeconds} s; now ${rps} searches a second until Ctrl-C, ${seconds} s at most`);
    const arrive = (): void => void ask(repeated[rank(Math.random)] ?? '');
    stream = startStream({ ratePerSecond: rps, random: Math.random, clock: systemClock, arrive });
  }
} else {
  console.error(`nobody answers at 127.0.0.1:${port}: is it started? (--port, or PORT)`);
  process.exitCode = 1;
  end();
}

function number(name: keyof typeof MOST): number {
  const value = Number(values[name]);
  const isRight = Number.isInteger(value) && value >= 1 && value <= MOST[name];
  return isRight ? value : wrong(`--${name} takes a number from 1 to ${MOST[name]}, not ${values[name]}`);
}

function wrong(what: string): never {
  console.error(`${what}\n${USAGE}`);
  process.exit(2);
}
