/**
 * `npm run starts`: starts the service many times and compares the CPU time of an L1 hit between the starts; each start
 * is measured beside a bare Node server, in turns, because the speed of a shared machine changes. V8 decides in the first
 * second of a process how fast its code is, and may decide otherwise in the next process. Server on the first processor,
 * client on the last. Needs wrk; eight seconds for each start.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { wrkReport } from '../loadtest/http-driver/wrk.ts';
import { accepts, freePorts, startProcess } from '../loadtest/stack/process.ts';
import { processorMs, processorsHere, processorsOf } from '../loadtest/stack/processors.ts';
import { EXIT, numberOf, type ParsedArguments, type Program, runProgram } from '../src/commands/arguments.ts';
import { embeddedDomains } from '../src/config/load.ts';

const PROGRAM: Program = {
  command: 'npm run starts --',
  usage: '[--starts N] [--collect] [--checkout FOLDER]',
  about: [
    'Compares the CPU time of an L1 hit between starts of the service.',
    'Undecided: a start is slower than the bound, by itself or by other work on the machine.',
  ],
  options: [
    { name: 'starts', takes: 'N', about: 'how often the service is started, 2 to 100; 20 by default' },
    {
      name: 'collect',
      about: 'force garbage collections on the idle service first: what it may meet later in its life',
    },
    { name: 'checkout', takes: 'FOLDER', about: 'start another checkout of serpcache' },
  ],
  takes: { min: 0, max: 0 },
};
/** Slowest start, as a multiple of the median. */
const BOUND = 1.25;
const [WARM_UP_SECONDS, ROUND_SECONDS, ROUNDS] = [1, 1, 3];
const ROOT = resolve(import.meta.dirname, '..');
/** SIGUSR2 collects all garbage ten times, in turns without a pending tick. */
const COLLECT = "process.on('SIGUSR2', () => { for (let n = 1; n <= 10; n += 1) setTimeout(gc, n * 10); });";
const PRELOAD = `data:text/javascript,${encodeURIComponent(COLLECT)}`;
const COLLECTION_MS = 1000;
const BARE =
  "const b=Buffer.alloc(4000,97);require('http').createServer((q,s)=>s.end(b)).listen(+process.argv[1],'127.0.0.1')";
const run = promisify(execFile);

process.exitCode = await runProgram(PROGRAM, main);

async function main({ text, has }: ParsedArguments): Promise<number> {
  const starts = numberOf('--starts', text('starts') ?? '20', { least: 2, most: 100, whole: true });
  const checkout = resolve(text('checkout') ?? ROOT);
  const processors = processorsOf(processorsHere());
  const cores = { server: processors[0] ?? 0, client: processors.at(-1) ?? 0 };
  if (cores.server === cores.client) throw new Error('two processors are needed');
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-starts-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(EXIT.undecided));
  }

  const measured: Start[] = [];
  while (measured.length < starts) {
    const start = await measureStart({ folder, checkout, cores, collects: has('collect') });
    measured.push(start);
    console.log(`start ${measured.length}: ${start.hitUs.toFixed(1)} µs a hit, ${start.ratio.toFixed(2)} × bare`);
  }
  const ratios = measured.map(({ ratio }) => ratio).toSorted((a, b) => a - b);
  const spread = (ratios.at(-1) ?? Number.NaN) / (ratios[Math.floor(ratios.length / 2)] ?? Number.NaN);
  console.log(`the slowest start costs ${spread.toFixed(2)} × the median (bound ${BOUND})`);
  return spread <= BOUND ? EXIT.passed : EXIT.undecided;
}

interface Start {
  /** CPU time of a hit, in microseconds. */
  readonly hitUs: number;
  /** The same, divided by that of the bare server's answer. */
  readonly ratio: number;
}

interface Place {
  readonly folder: string;
  readonly checkout: string;
  readonly cores: { readonly server: number; readonly client: number };
  readonly collects: boolean;
}

async function measureStart({ folder, checkout, cores, collects }: Place): Promise<Start> {
  const [port = 0, barePort = 0] = await freePorts(2);
  const configuration = join(folder, 'serpcache.yaml');
  writeFileSync(configuration, configurationOf(folder));
  const start = (name: string, listens: number, args: readonly string[], env: Record<string, string>) =>
    startProcess({
      name,
      command: 'taskset',
      args: ['-c', `${cores.server}`, process.execPath, ...args],
      cwd: ROOT,
      env,
      logFile: join(folder, `${name}-${listens}.log`),
      ready: () => accepts(listens),
    });
  const ports = { PORT: `${port}`, ADMIN_PORT: `${port + 10_000}` };
  const service = await start('service', port, ['--expose-gc', '--import', PRELOAD, join(checkout, 'src/main.ts')], {
    SERPCACHE_CONFIG: configuration,
    ...ports,
    LOG_LEVEL: 'warn',
  });
  const bare = await start('bare', barePort, ['--eval', BARE, `${barePort}`], {});
  try {
    const servers = [
      { pid: service.pid, url: `http://127.0.0.1:${port}/search?q=${encodeURIComponent('кроссовки')}` },
      { pid: bare.pid, url: `http://127.0.0.1:${barePort}/` },
    ].map((server) => ({ ...server, requests: 0, cpuMs: 0 }));
    for (const { url } of servers) await wrk(url, WARM_UP_SECONDS, cores.client);
    if (collects) {
      service.signal('SIGUSR2');
      await sleep(COLLECTION_MS);
      // V8 meets what it has forgotten.
      await wrk(servers[0]?.url ?? '', WARM_UP_SECONDS, cores.client);
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const server of servers) {
        const before = processorMs(server.pid);
        server.requests += await wrk(server.url, ROUND_SECONDS, cores.client);
        server.cpuMs += processorMs(server.pid) - before;
      }
    }
    const [hitUs = Number.NaN, bareUs = Number.NaN] = servers.map(({ cpuMs, requests }) => (cpuMs * 1000) / requests);
    return { hitUs, ratio: hitUs / bareUs };
  } finally {
    await Promise.all([service.stop(), bare.stop()]);
  }
}

async function wrk(url: string, seconds: number, core: number): Promise<number> {
  const { stdout } = await run('taskset', ['-c', `${core}`, 'wrk', '-t1', '-c64', `-d${seconds}s`, url], {
    timeout: (seconds + 20) * 1000,
  });
  const { requests, errors } = wrkReport(stdout);
  if (errors > 0) throw new Error(`${errors} errors of ${requests} requests to ${url}`);
  return requests;
}

function configurationOf(folder: string): string {
  const { engine, attributes } = embeddedDomains(join(folder, 'data'))['goods'] ?? {};
  return `memory: { maxBytes: 64MiB }
compression: { coding: identity }
domains:
  goods:
    store: { kind: none }
    engine: ${JSON.stringify(engine)}
    freshness: { ttl: 1h }
    attributes: ${JSON.stringify(attributes)}
`;
}
