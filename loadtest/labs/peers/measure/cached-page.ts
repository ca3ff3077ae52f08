import { type HttpDriven, servedShare } from '../../../http-driver/plan.ts';
import type { Limit } from '../../kit/finding.ts';
import type { Lab } from '../../kit/lab.ts';
import { limitOf } from '../../kit/meters.ts';
import { type FullSpeed, fullSpeed } from './full-speed.ts';
import { httpDriven } from './http-driven.ts';
import type { Replicas } from './replicas.ts';

/** One round of asking one replica for pages it has. */
export interface PageRound {
  readonly perSecond: number;
  /** Requests per second of the server's processor time, all its processes together. */
  readonly perCore: number;
  readonly serverCores: number;
  /** wrk and the store beside it. */
  readonly clientCores: number;
  /** Of those, the store. */
  readonly storeCores: number;
  /** Processor time of the store, in microseconds of each request. */
  readonly storeUs: number;
  /** Commands the store got for each request: 1 and more where every page comes from there, 0 where none does. */
  readonly storeCommands: number;
  /** The same at the rate: who asks its store once for many requests at one moment asks it for each of these. */
  readonly storeCommandsAtRate: number;
  /** At the rate all are asked at. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface PageFigures extends PageRound {
  readonly limit: Limit;
  /** How many times more the largest of all rounds was than the smallest: what this very server differs by from itself. */
  readonly spreads: Readonly<Record<Spread, number>>;
}

/** Figures of a round that peers are compared by. */
export type Spread = 'perCore' | 'p50Ms' | 'p99Ms';

export interface PageOptions {
  readonly paths: readonly string[];
  readonly seconds: number;
  /** At which times of answers are taken. */
  readonly perSecond: number;
}

/** Of all requests. A connection that is closed after so many of them loses one now and then; more is no cached page. */
const MOST_ERRORS = 0.001;
const PATIENCE_MS = 5000;
/** A server compiles what is hot while it is asked. */
const WARM_SECONDS = 1;
/** So does the client, which opens its connections then as well: else its own start would be the p99 of all. */
const LEAD_SECONDS = 0.7;

export async function warmUp(lab: Lab, { urls }: Replicas, paths: readonly string[]): Promise<void> {
  await fullSpeed(lab, { url: urls[0] ?? '', paths, seconds: WARM_SECONDS });
}

/** @throws when answers are not 200: what was measured would not be the page. */
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

/** What has been used since the start of server and store. */
interface Look {
  readonly atMs: number;
  readonly serverSeconds: number;
  readonly storeMs: number;
  readonly commands: number;
}

export interface Looked {
  /** Before wrk, between it and the rate, after that. */
  readonly looks: readonly [Look, Look, Look];
  readonly fast: FullSpeed;
  /** Without its lead, which the store gets as well. */
  readonly calm: HttpDriven;
  readonly perSecond: number;
}

/** `INFO`, twice: asking for the figure is a command too. */
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
 * The best of all rounds: what else a machine did in a round is nobody's cost. Who was full was so in the round that was
 * fastest. @param room cores that this server can use, and those there are for wrk and the store
 */
export function pageFigures(rounds: readonly PageRound[], room: { server: number; client: number }): PageFigures {
  const most = (pick: (round: PageRound) => number): number => Math.max(...rounds.map(pick));
  const least = (pick: (round: PageRound) => number): number => Math.min(...rounds.map(pick));
  const perSecond = most((one) => one.perSecond);
  const fastest = rounds.find((one) => one.perSecond === perSecond);
  if (fastest === undefined) throw new Error('no round was measured');
  const { serverCores, clientCores, storeCores } = fastest;
  // wrk and the store work in one thread each, however many cores there are for them.
  const clientShare = Math.max(clientCores / room.client, clientCores - storeCores, storeCores);
  const spread = (of: Spread): number => most((one) => one[of]) / least((one) => one[of]);
  return {
    ...fastest,
    spreads: { perCore: spread('perCore'), p50Ms: spread('p50Ms'), p99Ms: spread('p99Ms') },
    perCore: most((one) => one.perCore),
    p50Ms: least((one) => one.p50Ms),
    p99Ms: least((one) => one.p99Ms),
    limit: limitOf(
      { storeCores: serverCores, generatorCores: clientShare },
      { storeCores: room.server, generatorCores: 1 },
    ),
  };
}
