/** The cost of a miss: misses at a low rate through the service, and the same searches without it. */
import { randomInt } from 'node:crypto';
import { createHistogram } from 'node:perf_hooks';
import { createAdapters, searchDomainOf } from '../../src/engines/create-engines.ts';
import { systemClock } from '../../src/runtime.ts';
import { openLoop } from '../http-driver/loops.ts';
import { type HttpPlan, outcomeText, servedShare, timesOf } from '../http-driver/plan.ts';
import { inTurns } from '../labs/kit/rounds.ts';
import { httpDriven } from '../labs/peers/driven.ts';
import type { Generator } from './load.ts';
import { processorTime } from './measure.ts';
import { preparedBy } from './pages.ts';
import type { Server, Service } from './processes.ts';
import { median } from './verdict.ts';

const [ROUNDS, SECONDS, PER_SECOND] = [2, 3, 50];

interface Rate {
  readonly paths: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
  readonly leadSeconds?: number;
}

/** Upper bounds that no price reaches and no other search has. */
export function missesOf(target: string, count: number): readonly string[] {
  const first = randomInt(1_000_000_000, 2_000_000_000);
  return Array.from({ length: count }, (_, at) => `${target}&filter=price:..${first + at}`);
}

/** An open loop of a process of its own, on the processor of the client. @throws when a request failed */
export async function driven({ folder, cores }: Generator, { url }: Server, { paths, ...rate }: Rate) {
  const place = { folder, cores: { generator: `${cores.client}` }, signal: AbortSignal.timeout(60_000) };
  const plan: HttpPlan = { replicas: [url], paths, pace: { kind: 'rate', ...rate }, patienceMs: 5000 };
  const result = await httpDriven(place, plan);
  if (servedShare(result) < 1 || result.servedMs === undefined) throw new Error(`${url}: ${outcomeText(result)}`);
  return result.servedMs;
}

type Way = (paths: readonly string[]) => Promise<Readonly<Record<'p50' | 'p99' | 'cpuMs', number>>>;

/** Rows of a table: each service, node:http with the engine adapter, and the adapter without a server. */
export async function missCells(
  services: ReadonlyMap<string, Service>,
  origin: Server,
  { target, generator }: { readonly target: string; readonly generator: Generator },
): Promise<readonly (readonly string[])[]> {
  const throughHttp =
    (server: Server): Way =>
    async (paths) => {
      const before = processorTime(server);
      const times = await driven(generator, server, { paths, perSecond: PER_SECOND, seconds: SECONDS });
      return { ...times, cpuMs: (processorTime(server) - before) / paths.length };
    };
  const ways = [...services].map(([name, service]) => ({ name, way: throughHttp(service) }));
  ways.push({ name: 'node:http + engine', way: throughHttp(origin) });
  const [first] = services.values();
  if (first !== undefined) ways.push({ name: 'the adapter alone', way: await adapterOf(first) });
  const measured = await inTurns(ways, 1 + ROUNDS, ({ way }) => way(missesOf(target, PER_SECOND * SECONDS)));
  const rows = measured.map(({ variant, runs }) => {
    // The first round warms up.
    const middle = (of: 'p50' | 'p99' | 'cpuMs'): string => median(runs.slice(1).map((run) => run[of])).toFixed(2);
    return [variant.name, middle('p50'), middle('p99'), middle('cpuMs')];
  });
  return [[`miss, ${PER_SECOND}/s`, 'p50 ms', 'p99', 'CPU ms'], ...rows];
}

/** Runs in this process, which has nothing else to do. */
async function adapterOf(service: Service): Promise<Way> {
  const [settings] = service.settings.domains;
  if (settings === undefined) throw new Error('a service without a domain');
  const quiet = { clock: systemClock, random: Math.random, observe: () => {} };
  const [engine] = await createAdapters(settings.engine, searchDomainOf(settings), quiet);
  if (engine === undefined) throw new Error('a domain without an engine');
  const prepared = preparedBy(service);
  return async (paths) => {
    const us = createHistogram();
    const before = process.cpuUsage();
    const send = async (n: number, dueMs: number): Promise<void> => {
      await engine.search(prepared(paths[n] ?? '').request, AbortSignal.timeout(5000));
      us.record(Math.max(1, Math.round((performance.now() - dueMs) * 1000)));
    };
    await openLoop({ ratePerSecond: PER_SECOND, maxRequests: paths.length, send }).ended;
    const { user, system } = process.cpuUsage(before);
    return { ...timesOf(us), cpuMs: (user + system) / 1000 / paths.length };
  };
}
