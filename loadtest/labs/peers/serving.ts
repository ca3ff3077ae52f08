import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpDriven, servedShare } from '../../http-driver/plan.ts';
import type { Cores, Lab } from '../kit/lab.ts';
import { limitOf } from '../kit/meters.ts';
import type { Backend } from './backend.ts';
import { type FullSpeed, fullSpeed, httpDriven } from './driven.ts';
import { LONG, type Peer, type Sizes, type Try } from './peer.ts';
import { fillPages, type Replicas, startReplicas } from './replicas.ts';

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

/**
 * All peers run at the same time and take turns, A B C, A B C, so that disturbances hit all of them. The others
 * are idle meanwhile.
 */
export async function measureServing(options: ServingOptions) {
  const { lab, peers, paths, sizes, seconds, attempt } = options;
  const runners: Awaited<ReturnType<typeof begin>>[] = [];
  for (const peer of peers) {
    const runner = await attempt(peer, 'it serves no cached pages', () => begin(options, peer));
    if (runner !== undefined) runners.push(runner);
  }
  for (let round = 1; round <= sizes.rounds; round += 1) {
    for (const { peer, replicas, rounds } of runners) {
      // A peer that failed once is not measured again: half of the rounds is no figure.
      if (rounds.length < round - 1) continue;
      lab.say(`cached pages, round ${round} of ${sizes.rounds}: ${peer.name}`);
      await attempt(peer, 'cached pages were not measured', async () => {
        const load = { paths: paths.slice(0, sizes.pages), seconds, perSecond: sizes.perSecond };
        const page = await pageRound(lab, replicas, { ...load, paths: load.paths.slice(0, 1) });
        rounds.push({ page, many: await pageRound(lab, replicas, load) });
      });
    }
  }
  /** Cost of one replica: CPU time for cached pages, memory for keeping them. */
  const served = new Map<Peer, { memory?: MemoryFigures; page?: PageFigures; many?: PageFigures }>();
  for (const { peer, replicas, memory, rounds } of runners) {
    await replicas.stop();
    const figures = (of: 'page' | 'many') => {
      const own = rounds.map((round) => round[of]);
      return own.length === sizes.rounds ? pageFigures(own, coresFor(peer, lab.cores)) : undefined;
    };
    served.set(peer, { memory, page: figures('page'), many: figures('many') });
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
async function begin({ lab, backend, paths, sizes, attempt }: ServingOptions, peer: Peer) {
  lab.say(`${peer.name}: one replica, ${sizes.pages} pages`);
  const replicas = await startReplicas(lab, backend, peer, { count: 1, ...LONG });
  try {
    const [pages, more] = [paths.slice(0, sizes.pages), paths.slice(sizes.pages, sizes.pages + sizes.memoryPages)];
    await fillPages(lab, replicas.urls, pages);
    lab.say(`memory: ${peer.name}, ${sizes.memoryPages} more pages`);
    const memory = await attempt(peer, 'memory was not measured', () => fillMemory(lab, backend, replicas, more));
    await warmUp(lab, replicas, pages);
    return { peer, replicas, memory, rounds: [] as { readonly page: PageRound; readonly many: PageRound }[] };
  } catch (error) {
    await replicas.stop();
    throw error;
  }
}

export type PageRound = ReturnType<typeof roundOf>;

export type PageFigures = ReturnType<typeof pageFigures>;

export type Spread = 'perCore' | 'p50Ms' | 'p99Ms';

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

/**
 * Full speed, then `perSecond` requests a second, at which times are measured.
 * @throws when answers are not 200, because then another page was measured.
 */
export async function pageRound(
  lab: Lab,
  replicas: Replicas,
  { paths, seconds, perSecond }: Pick<ServingOptions, 'paths' | 'seconds'> & Pick<Sizes, 'perSecond'>,
): Promise<PageRound> {
  const [url = ''] = replicas.urls;
  const before = await lookAt(replicas);
  const fast = await fullSpeed(lab, { url, paths, seconds });
  const between = await lookAt(replicas);
  const pace = { kind: 'rate', perSecond, seconds, leadSeconds: LEAD_SECONDS } as const;
  const calm = await httpDriven(lab, { replicas: [url], paths, pace, patienceMs: PATIENCE_MS });
  return roundOf({ looks: [before, between, await lookAt(replicas)], fast, calm, perSecond });
}

type Look = Awaited<ReturnType<typeof lookAt>>;

/** CPU time and commands since the start of server and store. */
async function lookAt({ store, processorSeconds }: Replicas) {
  return {
    atMs: performance.now(),
    serverSeconds: processorSeconds(),
    storeMs: store.processorMs(),
    commands: Number((await store.info('stats'))['total_commands_processed']),
  };
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
export function roundOf({ looks: [before, between, after], fast, calm, perSecond }: Looked) {
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
    /** Requests per second of the server's processor time, all its processes together. */
    perCore: fast.requests / serverSeconds,
    serverCores: serverSeconds / tookSeconds,
    /** wrk and the store beside it. */
    clientCores: fast.clientCores + storeCores,
    storeCores,
    /** CPU time of the store per request, µs. */
    storeUs: (storeMs * 1000) / fast.requests,
    /** Store commands per request: at least 1 where every page comes from the store, 0 where none does. */
    storeCommands: commandsEach(before, between, fast.requests),
    /** The same at the fixed rate, where no concurrent requests can share one store command. */
    storeCommandsAtRate: commandsEach(between, after, calm.requests + perSecond * LEAD_SECONDS),
    p50Ms: calm.servedMs.p50,
    p99Ms: calm.servedMs.p99,
  };
}

/**
 * The best of all rounds, because disturbances of the machine are no cost of the peer. The limit is that of the
 * fastest round. @param available cores that this server can use, and cores of wrk and the store
 */
export function pageFigures(rounds: readonly PageRound[], available: { server: number; client: number }) {
  const most = (of: keyof PageRound): number => Math.max(...rounds.map((round) => round[of]));
  const least = (of: keyof PageRound): number => Math.min(...rounds.map((round) => round[of]));
  const fastest = rounds.find((one) => one.perSecond === most('perSecond'));
  if (fastest === undefined) throw new Error('no round was measured');
  const { serverCores, clientCores, storeCores } = fastest;
  // wrk and the store work in one thread each, however many cores there are for them.
  const clientShare = Math.max(clientCores / available.client, clientCores - storeCores, storeCores);
  const spread = (of: Spread): number => most(of) / least(of);
  return {
    ...fastest,
    /** Largest round ÷ smallest: how far this server differs from itself. */
    spreads: { perCore: spread('perCore'), p50Ms: spread('p50Ms'), p99Ms: spread('p99Ms') },
    perCore: most('perCore'),
    p50Ms: least('p50Ms'),
    p99Ms: least('p99Ms'),
    limit: limitOf(
      { storeCores: serverCores, generatorCores: clientShare },
      { storeCores: available.server, generatorCores: 1 },
    ),
  };
}

export type MemoryFigures = ReturnType<typeof memoryFiguresOf>;

const SAMPLE = 200;
/** Store writes end after the reply, and memory returns to the system when the process is idle. */
const SETTLE_MS = 700;

/**
 * Fills one replica with new pages after it had others, so that its first allocations are not counted.
 * @throws when pages are not answered, or hardly any is kept.
 */
export async function fillMemory(lab: Lab, backend: Backend, replicas: Replicas, paths: readonly string[]) {
  const before = await memoryOf(replicas);
  const filled = await fillPages(lab, replicas.urls, paths);
  const after = await memoryOf(replicas);
  const sample = paths.filter((_, at) => at % Math.max(1, Math.floor(paths.length / SAMPLE)) === 0);
  const searchesBefore = backend.searches();
  await fillPages(lab, replicas.urls, sample, 1);
  const missedShare = (backend.searches() - searchesBefore) / sample.length;
  return memoryFiguresOf({ before, after, pages: paths.length, filled, missedShare });
}

type MemoryLook = Awaited<ReturnType<typeof memoryOf>>;

/** Bytes. */
async function memoryOf(replicas: Replicas) {
  await sleep(SETTLE_MS);
  /** All processes of the replica, with garbage. */
  const whole = replicas.residentBytes();
  await replicas.collectGarbage();
  await sleep(SETTLE_MS);
  const memory = await replicas.store.info('memory');
  return {
    whole,
    resident: replicas.residentBytes(),
    store: Number(memory['used_memory']),
    disk: await replicas.diskBytes(),
  };
}

export interface MemoryLooked {
  readonly before: MemoryLook;
  readonly after: MemoryLook;
  /** Number of pages filled between the two readings. */
  readonly pages: number;
  readonly filled: { readonly bodyBytes: number; readonly requests: number };
  /** Sampled pages that reached the engine again. */
  readonly missedShare: number;
}

const LEAST_KEPT = 0.05;

/** @throws when hardly any is kept */
export function memoryFiguresOf({ before, after, pages, filled, missedShare }: MemoryLooked) {
  const keptShare = Math.max(0, 1 - missedShare);
  const kept = pages * keptShare;
  if (keptShare < LEAST_KEPT) throw new Error(`of ${pages} pages it keeps ${Math.round(kept)}`);
  return {
    pageBytes: filled.bodyBytes / filled.requests,
    /** Share of the pages that are still cached, by a sample: 0–1. An evicted page takes no memory. */
    keptShare,
    /** Growth of resident memory per kept page. Node processes collect their garbage before and after. */
    residentPerPage: (after.resident - before.resident) / kept,
    /** Growth of the store's memory per kept page, by its own count. */
    storePerPage: (after.store - before.store) / kept,
    /** Growth of the replica's files per kept page: they are read from the page cache, which is charged to no process. */
    diskPerPage: (after.disk - before.disk) / kept,
    /** Resident memory of the replica with all those pages and its garbage. */
    residentBytes: after.whole,
  };
}

export function bytesPerPage(of: Pick<MemoryFigures, 'residentPerPage' | 'storePerPage' | 'diskPerPage'>): number {
  return of.residentPerPage + of.storePerPage + of.diskPerPage;
}
