import { sum } from '../../judge/series.ts';
import { pilotRate, requestsFor, runBenchmark } from '../kit/benchmark.ts';
import type { Limit } from '../kit/finding.ts';
import type { Cores, Lab, LabStore } from '../kit/lab.ts';
import { limitOf, storeCoresDuring } from '../kit/meters.ts';

export type Endpoint = Pick<LabStore, 'host' | 'port'>;

export type MeteredStore = Endpoint & Pick<LabStore, 'processorMs'>;

interface ThreeClientsOptions {
  /** One for all three clients, or one for each. */
  readonly stores: readonly MeteredStore[];
  /** Where the clients connect instead, in the same order: to relays before the stores. */
  readonly via?: readonly Endpoint[] | undefined;
  /** The command of client 0, 1 or 2; `__rand_int__` stands for twelve digits. */
  readonly command: (client: number) => readonly string[];
  readonly keySpace: number;
  readonly seconds: number;
  /** The rate of all clients together in an earlier run; undefined: a pilot measures it. */
  readonly expectedPerSecond: number | undefined;
  /** The system chooses the cores of stores and clients; otherwise each side has its own. */
  readonly isAnywhere?: boolean;
}

export type ThreeClients = Awaited<ReturnType<typeof threeClients>>;

export const CLIENTS = 3;

const PILOT_REQUESTS = 300;

/**
 * Three processes of redis-benchmark at the same time, each with one connection and one command in flight. The generator
 * is the same for every store, so that the tool makes no difference.
 */
export async function threeClients(lab: Lab, options: ThreeClientsOptions) {
  const rateOf = async (own: number): Promise<number> =>
    figuresOf(await runClients(lab, options, own), own, 0).perSecond / CLIENTS;
  const expected = options.expectedPerSecond;
  const perClient = expected === undefined ? await pilotRate(rateOf, PILOT_REQUESTS) : expected / CLIENTS;
  const requests = requestsFor(perClient, { clients: 1, seconds: options.seconds });
  const during = await storeCoresDuring(options.stores, () => runClients(lab, options, requests));
  const figures = figuresOf(during.result, requests, sum(during.eachCores) * during.seconds);
  return { ...figures, limit: limitOfStores(lab.cores, options.stores.length, figures, options) };
}

type Client = Pick<Awaited<ReturnType<typeof runBenchmark>>, 'perSecond' | 'p99Ms' | 'processorSeconds'>;

/** @param requests of each client. @param storeSeconds processor time of all stores together. */
export function figuresOf(clients: readonly Client[], requests: number, storeSeconds: number) {
  const all = requests * clients.length;
  // All are done when the slowest one is.
  const elapsedSeconds = Math.max(...clients.map(({ perSecond }) => requests / perSecond));
  // Starting and ending a client takes a few hundredths of a second without load: cores are counted over the load alone.
  const cores = (processorSeconds: number): number => processorSeconds / elapsedSeconds;
  return {
    /** Elapsed time over the commands of all clients: the published figure. */
    usPerOp: (elapsedSeconds / all) * 1e6,
    perSecond: all / elapsedSeconds,
    /** Processor time of all stores together per command. It hardly depends on the number of cores. */
    storeUsPerOp: (storeSeconds / all) * 1e6,
    p99Ms: Math.max(...clients.map(({ p99Ms }) => p99Ms)),
    storeCores: cores(storeSeconds),
    generatorCores: cores(sum(clients.map(({ processorSeconds }) => processorSeconds))),
  };
}

/**
 * The limit where several stores share their cores: all of them together may fill the cores while no single one does.
 * @param busy cores of all stores together, and of all clients together.
 */
export function limitOfStores(
  cores: Cores,
  stores: number,
  busy: { readonly storeCores: number; readonly generatorCores: number },
  { isAnywhere, clients = CLIENTS }: { readonly isAnywhere?: boolean; readonly clients?: number } = {},
): Limit {
  const all = cores.store === cores.generator ? cores.storeCount : cores.storeCount + cores.generatorCount;
  const room = {
    storeCores: Math.min(stores, isAnywhere ? all : cores.storeCount),
    generatorCores: Math.min(clients, isAnywhere ? all : cores.generatorCount),
  };
  const limit = limitOf(busy, room);
  if (!isAnywhere) return limit;
  // Stores and clients share all cores there: when none is left, both wait for one.
  const together = { storeCores: busy.storeCores + busy.generatorCores, generatorCores: 0 };
  return limitOf(together, { storeCores: all, generatorCores: all }) === 'store' ? 'both' : limit;
}

/** Share of the time per operation that another choice of stores saves against one store; undefined for that store itself. */
export function savedShare(one: ThreeClients | undefined, other: ThreeClients | undefined): number | undefined {
  return one === undefined || other === undefined || one === other ? undefined : 1 - other.usPerOp / one.usPerOp;
}

export function negated(value: number | undefined): number | undefined {
  return value === undefined ? undefined : -value;
}

function runClients(lab: Lab, options: ThreeClientsOptions, requests: number): Promise<readonly Client[]> {
  const { stores, via = stores, keySpace, seconds, isAnywhere } = options;
  return Promise.all(
    Array.from({ length: CLIENTS }, (_, client) => {
      const store = via[client % stores.length];
      if (store === undefined) throw new Error('three clients need at least one store');
      const { host, port } = store;
      const own = { clients: 1, keySpace, command: options.command(client), seconds, isAnywhere };
      // Without its flavour: the tool is the same for every store.
      return runBenchmark(lab, { ...own, store: { host, port } }, requests);
    }),
  );
}
