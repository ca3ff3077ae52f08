/**
 * `npm run traffic`: people who search the demo catalogue, so that there is something to drill: searches that come again
 * (Zipf 1.0 over 300), at a steady rate, whatever the answers are. Loopback only; ends by itself.
 */
import { DEMO_DOMAINS, demoDocuments } from '../../src/catalogue/demo.ts';
import { systemClock } from '../../src/clock.ts';
import { numberOf, type Program, runProgram, UsageError, type Words } from '../../src/commands/arguments.ts';
import { EXIT } from '../../src/commands/exit-status.ts';
import { createClient } from './client.ts';
import { queriesOf } from './queries.ts';
import { startStream } from './stream.ts';
import { createZipf } from './zipf.ts';

const QUERIES = 300;
const BOUND_MS = 5000;
const SAY_MS = 5000;
const PORTS = { least: 1, most: 65_535, whole: true };
const DOMAINS: readonly string[] = DEMO_DOMAINS.map(({ name }) => name);

const PROGRAM: Program = {
  command: 'npm run traffic --',
  usage: '[options]',
  about: ['People who search the demo catalogue of a service on this machine, at a steady rate, for some minutes.'],
  options: [
    { name: 'domain', takes: 'D', about: `${DOMAINS.join(', ')}; goods by default` },
    { name: 'port', takes: 'N', variable: 'PORT', about: 'public port of the service; 8080 by default' },
    { name: 'rps', takes: 'N', about: 'searches per second, 1 to 2000; 60 by default' },
    { name: 'seconds', takes: 'N', about: '1 to 3600; 180 by default' },
  ],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, traffic);

async function traffic(words: Words): Promise<number> {
  const domain = words.text('domain') ?? 'goods';
  if (!DOMAINS.includes(domain)) throw new UsageError(`--domain takes one of ${DOMAINS.join(', ')}, not "${domain}"`);
  const port = words.number('port', PORTS) ?? numberOf('PORT', process.env['PORT'] || '8080', PORTS);
  const rps = words.number('rps', { least: 1, most: 2000, whole: true }) ?? 60;
  const seconds = words.number('seconds', { least: 1, most: 3600, whole: true }) ?? 180;

  const { repeated } = queriesOf(demoDocuments(domain), QUERIES);
  const rank = createZipf({ size: QUERIES, exponent: 1 });
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, boundMs: BOUND_MS, maxConnections: 256 });
  const counts = new Map<string, number>();
  const over = Promise.withResolvers<number>();
  const stream = startStream({
    ratePerSecond: rps,
    random: Math.random,
    clock: systemClock,
    arrive: async () => {
      const reply = await client.get(
        `/search?domain=${domain}&q=${encodeURIComponent(repeated[rank(Math.random)] ?? '')}`,
      );
      const timing = reply.kind === 'answer' ? String(reply.headers['server-timing']) : '';
      const how =
        /\bcache;desc=([a-z0-9-]+)/.exec(timing)?.[1] ?? (reply.kind === 'answer' ? reply.status : reply.kind);
      counts.set(String(how), (counts.get(String(how)) ?? 0) + 1);
    },
  });
  const say = setInterval(() => {
    if (counts.size === 1 && counts.has('broken')) {
      over.reject(new Error(`nobody answers at 127.0.0.1:${port}: is it started? (--port, or PORT)`));
    }
    console.log([...counts].map(([how, count]) => `${how} ${count}`).join('  '));
    counts.clear();
  }, SAY_MS);
  const limit = setTimeout(() => over.resolve(EXIT.passed), seconds * 1000);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => over.resolve(EXIT.passed));
  try {
    return await over.promise;
  } finally {
    clearInterval(say);
    clearTimeout(limit);
    stream.stop();
    client.close();
  }
}
