/**
 * `npm run traffic`: searches of the demo catalogue, so that a drill has traffic. First each search once, so that the
 * cache is warm, then repeated searches in an open loop. Loopback only; until it is stopped, one hour at most.
 *
 * A drill of 1 % of the keys has to see something: of 2,000 searches about twenty lie in such a cohort, and with the head of
 * the Zipf curve flattened (as users do not all ask for one thing) they get 3 of 300 searches a second, one in a thousand
 * cohorts less than 0.6.
 */
import { once } from 'node:events';
import { DEMO_DOMAINS, demoDocuments } from '../../src/catalogue/demo.ts';
import {
  EXIT,
  numberOf,
  type ParsedArguments,
  type Program,
  runProgram,
  UsageError,
} from '../../src/commands/arguments.ts';
import { createClient, outcomeOf, type Reply } from '../http-driver/client.ts';
import { closedLoop, openLoop } from '../http-driver/loops.ts';
import { stopOnSignals } from '../stack/process.ts';
import { queriesOf } from './queries.ts';
import { createZipf } from './zipf.ts';

const QUERIES = 2000;
const FLATTENED = 30;
/** While the cache is filled: an engine with one worker sheds more. */
const WARM_AT_ONCE = 4;
const BOUND_MS = 5000;
const SAY_MS = 5000;
const PORTS = { least: 1, most: 65_535, whole: true };
const DOMAINS: readonly string[] = DEMO_DOMAINS.map(({ name }) => name);

const PROGRAM: Program = {
  command: 'npm run traffic --',
  usage: '[options]',
  about: ['Users who search the demo catalogue of a service on this machine, at a steady rate, until Ctrl-C.'],
  options: [
    { name: 'domain', takes: 'D', about: `${DOMAINS.join(', ')}; goods by default` },
    { name: 'port', takes: 'N', variable: 'PORT', about: 'public port of the service; 8080 by default' },
    { name: 'rps', takes: 'N', about: 'searches per second, 1 to 2000; 300 by default' },
    { name: 'seconds', takes: 'N', about: '1 to 3600; 3600 by default' },
  ],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, traffic);

async function traffic(words: ParsedArguments): Promise<number> {
  const domain = words.text('domain') ?? 'goods';
  if (!DOMAINS.includes(domain)) throw new UsageError(`--domain takes one of ${DOMAINS.join(', ')}, not "${domain}"`);
  const port = words.number('port', PORTS) ?? numberOf('PORT', process.env['PORT'] || '8080', PORTS);
  const rps = words.number('rps', { least: 1, most: 2000, whole: true }) ?? 300;
  const seconds = words.number('seconds', { least: 1, most: 3600, whole: true }) ?? 3600;

  const { repeated } = queriesOf(demoDocuments(domain), QUERIES);
  const rank = createZipf({ size: QUERIES, exponent: 1, offset: FLATTENED });
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, patienceMs: BOUND_MS, maxConnections: 256 });
  const counts = new Map<string, number>();
  const ask = async (text: string): Promise<Reply> => {
    const reply = await client.get(`/search?domain=${domain}&q=${encodeURIComponent(text)}`);
    const how = outcomeOf(reply) ?? (reply.kind === 'answer' ? String(reply.status) : reply.kind);
    counts.set(how, (counts.get(how) ?? 0) + 1);
    return reply;
  };

  using stopping = stopOnSignals(() => undefined);
  const over = AbortSignal.any([stopping.signal, AbortSignal.timeout(seconds * 1000)]);
  const say = setInterval(() => {
    console.log([...counts].map(([how, count]) => `${how} ${count}`).join('  '));
    counts.clear();
  }, SAY_MS);
  try {
    const startedMs = performance.now();
    const first = await ask(repeated[0] ?? '');
    if (first.kind === 'broken') throw new Error(`no answer at 127.0.0.1:${port}: is it started? (--port, or PORT)`);
    // Refusals are quick: the cache would be called warm without a page in it.
    if (first.kind === 'answer' && first.status === 404)
      throw new Error(`127.0.0.1:${port} has no domain ${domain}: this is traffic for the demo catalogue`);
    console.log(`asking each of ${QUERIES} searches once, so that the cache is warm`);
    await closedLoop(repeated, WARM_AT_ONCE, async (text) => over.aborted || ask(text));
    if (over.aborted) return EXIT.passed;
    const tookSeconds = Math.round((performance.now() - startedMs) / 1000);
    console.log(`warm after ${tookSeconds} s; now ${rps} searches a second until Ctrl-C, ${seconds} s at most`);
    const send = (): unknown => ask(repeated[rank(Math.random)] ?? '');
    const loop = openLoop({ ratePerSecond: rps, random: Math.random, send });
    await once(over, 'abort');
    loop.stop();
    return EXIT.passed;
  } finally {
    clearInterval(say);
    client.close();
  }
}
