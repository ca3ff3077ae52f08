import { type HttpDriven, servedShare } from '../../http-driver/plan.ts';
import type { Limit } from '../kit/finding.ts';
import type { Cores, Lab } from '../kit/lab.ts';
import { limitOf } from '../kit/meters.ts';
import { type FullSpeed, fullSpeed, httpDriven } from './driven.ts';
import { fillMemory, type MemoryFigures } from './memory.ts';
import type { Backend, Peer } from './peer.ts';
import { LONG, type Sizes, type Try } from './peers.ts';
import { fillPages, type Replicas, startReplicas } from './replicas.ts';

/** Cost of one replica: CPU time for cached pages, memory for keeping them. */
export interface Served {
  readonly page?: PageFigures;
  readonly many?: PageFigures;
  readonly memory?: MemoryFigures;
}

export interface ServingOptions {
  readonly lab: Lab;
  readonly backend: Backend;
  readonly peers: readonly Peer[];
  /** Pages requested in turn, then pages of the memory task. */
  readonly paths: readonly string[];
  readonly sizes: Sizes;
  readonly seconds: number;
  readonly attempt: Try;
}

interface Runner {
  readonly peer: Peer;
  readonly replicas: Replicas;
  readonly memory: MemoryFigures | undefined;
  readonly page: PageRound[];
  readonly many: PageRound[];
}

/**
 * All peers run at the same time and take turns, A B C, A B C, so that disturbances hit all of them. The others
 * are idle meanwhile.
 */
export async function measureServing(options: ServingOptions): Promise<ReadonlyMap<Peer, Served>> {
  const { lab, peers, sizes, attempt } = options;
  const runners: Runner[] = [];
  for (const peer of peers) {
    const runner = await attempt(peer, 'it serves no cached pages', () => begin(options, peer));
    if (runner !== undefined) runners.push(runner);
  }
  for (let round = 1; round <= sizes.rounds; round += 1) {
    for (const runner of runners) {
      // A peer that failed once is not measured again: half of the rounds is no figure.
      if (runner.page.length < round - 1) continue;
      lab.say(`cached pages, round ${round} of ${sizes.rounds}: ${runner.peer.name}`);
      await attempt(runner.peer, 'cached pages were not measured', () => oneRound(options, runner));
    }
  }
  const served = new Map<Peer, Served>();
  for (const { peer, replicas, memory, page, many } of runners) {
    await replicas.stop();
    const cores = coresFor(peer, lab.cores);
    served.set(peer, {
      ...(page.length === sizes.rounds && { page: pageFigures(page, cores), many: pageFigures(many, cores) }),
      ...(memory !== undefined && { memory }),
    });
  }
  return served;
}

/** Cores that a server can use of the servers' half, and the half of wrk and the store. */
export function coresFor(
  { mostCores = 1 }: Pick<Peer, 'mostCores'>,
  { storeCount, generatorCount }: Pick<Cores, 'storeCount' | 'generatorCount'>,
): { readonly server: number; readonly client: number } {
  return { server: Math.min(storeCount, mostCores), client: generatorCount };
}

/** Memory comes first: allocations left from a load at full speed would hide the memory of pages. */
async function begin({ lab, backend, paths, sizes, attempt }: ServingOptions, peer: Peer): Promise<Runner> {
  lab.say(`${peer.name}: one replica, ${sizes.pages} pages`);
  const replicas = await startReplicas(lab, backend, peer, { count: 1, ...LONG });
  try {
    const [pages, more] = [paths.slice(0, sizes.pages), paths.slice(sizes.pages, sizes.pages + sizes.memoryPages)];
    await fillPages(lab, replicas.urls, pages);
    lab.say(`memory: ${peer.name}, ${sizes.memoryPages} more pages`);
    const memory = await attempt(peer, 'memory was not measured', () => fillMemory(lab, backend, replicas, more));
    await warmUp(lab, replicas, pages);
    return { peer, replicas, memory, page: [], many: [] };
  } catch (error) {
    await replicas.stop();
    throw error;
  }
}

async function oneRound({ lab, paths, sizes, seconds }: ServingOptions, runner: Runner): Promise<void> {
  const { replicas } = runner;
  const asked = { seconds, perSecond: sizes.perSecond };
  const page = await pageRound(lab, replicas, { ...asked, paths: paths.slice(0, 1) });
  const many = await pageRound(lab, replicas, { ...asked, paths: paths.slice(0, sizes.pages) });
  runner.page.push(page);
  runner.many.push(many);
}

/** One round of requests to one replica for cached pages. */
export interface PageRound {
  readonly perSecond: number;
  /** Requests per second of the server's processor time, all its processes together. */
  readonly perCore: number;
  readonly serverCores: number;
  /** wrk and the store beside it. */
  readonly clientCores: number;
  /** Cores of the store among them. */
  readonly storeCores: number;
  /** CPU time of the store per request, µs. */
  readonly storeUs: number;
  /** Store commands per request: at least 1 where every page comes from the store, 0 where none does. */
  readonly storeCommands: number;
  /** The same at the fixed rate, where no concurrent requests can share one store command. */
  readonly storeCommandsAtRate: number;
  /** Times at the fixed rate. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface PageFigures extends PageRound {
  readonly limit: Limit;
  /** Largest round ÷ smallest: how far this server differs from itself. */
  readonly spreads: Readonly<Record<Spread, number>>;
}

/** The compared figures of a round. */
export type Spread = 'perCore' | 'p50Ms' | 'p99Ms';

export interface PageOptions {
  readonly paths: readonly string[];
  readonly seconds: number;
  /** Requests per second at which times are measured. */
  readonly perSecond: number;
}

/** Maximum share of failed requests. A connection that a server closes after a number of requests can lose one. */
const MOST_ERRORS = 0.001;
const PATIENCE_MS = 5000;
/** Warm-up of the server's compiler. */
const WARM_SECONDS = 1;
/** Warm-up of the client, connections included; its start would be the p99 otherwise. */
const LEAD_SECONDS = 0.7;

export async function warmUp(lab: Lab, { urls }: Replicas, paths: readonly string[]): Promise<void> {
  await fullSpeed(lab, { url: urls[0] ?? '', paths, seconds: WARM_SECONDS });
}

/** @throws when answers are not 200, because then another page was measured. */
export async function pageRound(lab: Lab, replicas: Replicas, options: PageOptions): Promise<PageRound> {
  const { paths, seconds, perSecond } = options;
  const { urls, store } = replicas;
  const [url = ''] = urls;
  const look = async (): Promise<Look> => ({
    atMs: performance.now(),
    serverSeconds: replicas.processorSeconds(),
    storeMs: store.processorMs(),
    commands: Number((await store.info('stats'))['total_commands_processed'] ?? 0),
  });
  const before = await look();
  const fast = await fullSpeed(lab, { url, paths, seconds });
  const between = await look();
  const pace = { kind: 'rate', perSecond, seconds, leadSeconds: LEAD_SECONDS } as const;
  const calm = await httpDriven(lab, { replicas: [url], paths, pace, patienceMs: PATIENCE_MS });
  return roundOf({ looks: [before, between, await look()], fast, calm, perSecond });
}

/** CPU time and commands since the start of server and store. */
interface Look {
  readonly atMs: number;
  readonly serverSeconds: number;
  readonly storeMs: number;
  readonly commands: number;
}

export interface Looked {
  /** Readings before wrk, between wrk and the fixed rate, and after it. */
  readonly looks: readonly [Look, Look, Look];
  readonly fast: FullSpeed;
  /** Seconds without the warm-up, whose commands the store counts as well. */
  readonly calm: HttpDriven;
  readonly perSecond: number;
}

/** The two `INFO` commands of the readings themselves. */
const ASKING = 2;

/** @throws when answers are not 200 */
export function roundOf({ looks: [before, between, after], fast, calm, perSecond }: Looked): PageRound {
  if (fast.errors > fast.requests * MOST_ERRORS)
    throw new Error(`${fast.errors} of ${fast.requests} answers were errors`);
  if (calm.servedMs === undefined || servedShare(calm) < 1 - MOST_ERRORS)
    throw new Error(`at ${perSecond}/s: ${JSON.stringify(calm.outcomes)}, ${calm.hung} hung`);
  const tookSeconds = (between.atMs - before.atMs) / 1000;
  const serverSeconds = between.serverSeconds - before.serverSeconds;
  const storeMs = between.storeMs - before.storeMs;
  const storeCores = storeMs / 1000 / tookSeconds;
  const commandsEach = (from: Look, to: Look, requests: number): number =>
    Math.max(0, (to.commands - from.commands - ASKING) / requests);
  return {
    perSecond: fast.perSecond,
    perCore: fast.requests / serverSeconds,
    serverCores: serverSeconds / tookSeconds,
    clientCores: fast.clientCores + storeCores,
    storeCores,
    storeUs: (storeMs * 1000) / fast.requests,
    storeCommands: commandsEach(before, between, fast.requests),
    storeCommandsAtRate: commandsEach(between, after, calm.requests + perSecond * LEAD_SECONDS),
    p50Ms: calm.servedMs.p50,
    p99Ms: calm.servedMs.p99,
  };
}

/**
 * The best of all rounds, because disturbances of the machine are no cost of the peer. The limit is that of the
 * fastest round. @param available cores that this server can use, and cores of wrk and the store
 */
export function pageFigures(rounds: readonly PageRound[], available: { server: number; client: number }): PageFigures {
  const most = (pick: (round: PageRound) => number): number => Math.max(...rounds.map(pick));
  const least = (pick: (round: PageRound) => number): number => Math.min(...rounds.map(pick));
  const perSecond = most((one) => one.perSecond);
  const fastest = rounds.find((one) => one.perSecond === perSecond);
  if (fastest === undefined) throw new Error('no round was measured');
  const { serverCores, clientCores, storeCores } = fastest;
  // wrk and the store work in one thread each, however many cores there are for them.
  const clientShare = Math.max(clientCores / available.client, clientCores - storeCores, storeCores);
  const spread = (of: Spread): number => most((one) => one[of]) / least((one) => one[of]);
  return {
    ...fastest,
    spreads: { perCore: spread('perCore'), p50Ms: spread('p50Ms'), p99Ms: spread('p99Ms') },
    perCore: most((one) => one.perCore),
    p50Ms: least((one) => one.p50Ms),
    p99Ms: least((one) => one.p99Ms),
    limit: limitOf(
      { storeCores: serverCores, generatorCores: clientShare },
      { storeCores: available.server, generatorCores: 1 },
    ),
  };
}
