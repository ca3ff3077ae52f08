/**
 * `npm run traffic`: people who search the demo catalogue, so that there is something to drill: searches that come again
 * (Zipf 1.0 over 300), at a steady rate, whatever the answers are. Loopback only; ends by itself.
 */
import { parseArgs } from 'node:util';
import { DEMO_DOMAINS, demoDocuments } from '../../src/catalogue/demo.ts';
import { systemClock } from '../../src/clock.ts';
import { createClient } from './client.ts';
import { queriesOf } from './queries.ts';
import { startStream } from './stream.ts';
import { createZipf } from './zipf.ts';

const USAGE = 'npm run traffic -- [--domain goods] [--port 8080] [--rps 60] [--seconds 180]';
const QUERIES = 300;
const MOST = { rps: 2000, seconds: 3600, port: 65_535 };
const BOUND_MS = 5000;
const SAY_MS = 5000;

const { values } = parseArgs({
  options: {
    domain: { type: 'string', default: 'goods' },
    port: { type: 'string', default: process.env['PORT'] ?? '8080' },
    rps: { type: 'string', default: '60' },
    seconds: { type: 'string', default: '180' },
  },
});
const { domain } = values;
const [port, rps, seconds] = [number('port'), number('rps'), number('seconds')];
const known: readonly string[] = DEMO_DOMAINS.map(({ name }) => name);
if (!known.includes(domain)) wrong(`--domain takes one of ${known.join(', ')}, not ${domain}`);

const { repeated } = queriesOf(demoDocuments(domain), QUERIES);
const rank = createZipf({ size: QUERIES, exponent: 1 });
const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, boundMs: BOUND_MS, maxConnections: 256 });
const counts = new Map<string, number>();
const stream = startStream({
  ratePerSecond: rps,
  random: Math.random,
  clock: systemClock,
  arrive: async () => {
    const reply = await client.get(
      `/search?domain=${domain}&q=${encodeURIComponent(repeated[rank(Math.random)] ?? '')}`,
    );
    const timing = reply.kind === 'answer' ? String(reply.headers['server-timing']) : '';
    const how = /\bcache;desc=([a-z0-9-]+)/.exec(timing)?.[1] ?? (reply.kind === 'answer' ? reply.status : reply.kind);
    counts.set(String(how), (counts.get(String(how)) ?? 0) + 1);
  },
});
const say = setInterval(() => {
  if (counts.size === 1 && counts.has('broken')) {
    console.error(`nobody answers at 127.0.0.1:${port}: is it started? (--port, or PORT)`);
    process.exitCode = 1;
    return end();
  }
  console.log([...counts].map(([how, count]) => `${how} ${count}`).join('  '));
  counts.clear();
}, SAY_MS);

const end = (): void => {
  clearInterval(say);
  clearTimeout(limit);
  stream.stop();
  client.close();
};
const limit = setTimeout(end, seconds * 1000);
process.once('SIGINT', end);
process.once('SIGTERM', end);

function number(name: keyof typeof MOST): number {
  const value = Number(values[name]);
  const isRight = Number.isInteger(value) && value >= 1 && value <= MOST[name];
  return isRight ? value : wrong(`--${name} takes a number from 1 to ${MOST[name]}, not ${values[name]}`);
}

function wrong(what: string): never {
  console.error(`${what}\n${USAGE}`);
  process.exit(2);
}
