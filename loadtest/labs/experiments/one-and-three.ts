import { rowOf } from '../kit/benchmark.ts';
import type { Limit } from '../kit/finding.ts';
import type { Cores, Lab } from '../kit/lab.ts';
import { limitOf, storeCoresDuring } from '../kit/meters.ts';
import { runProgram } from '../kit/programs.ts';

/** What has to be known of a store to ask it: a store of the lab, or a node of a cluster. */
export interface Asked {
  readonly host: string;
  readonly port: number;
  readonly caFile?: string;
  readonly processorMs: () => number;
}

export interface ThreeClientsOptions {
  /** One for all three clients, or one for each. */
  readonly stores: readonly Asked[];
  /** Where the clients connect instead, in the same order: to relays before the stores. */
  readonly via?: readonly { readonly host: string; readonly port: number }[];
  /** Words of what client 0, 1 or 2 sends; `__rand_int__` stands for twelve digits. */
  readonly command: (client: number) => readonly string[];
  readonly keySpace: number;
  /** Prints what stores the keys that client 0, 1 or 2 asks for; absent: it needs none. */
  readonly fill?: (client: number, port: number) => string;
  readonly seconds: number;
  /** All clients together, as an earlier run had it; absent: a pilot finds out. */
  readonly expectedPerSecond?: number;
  /** Where stores and clients run: each side on its own cores, or wherever the system puts them. */
  readonly isAnywhere?: true;
}

export interface ThreeClients {
  /** Time that passed over all commands of all clients: what was published. */
  readonly usPerOp: number;
  readonly perSecond: number;
  /** Processor time of all stores together for one command. It hardly depends on how many cores there are. */
  readonly storeUsPerOp: number;
  readonly p99Ms: number;
  /** Of all stores together. */
  readonly storeCores: number;
  readonly generatorCores: number;
  readonly limit: Limit;
  readonly command: string;
}

export const CLIENTS = 3;

const PILOT_REQUESTS = 300;
const PILOT_SECONDS = 0.15;
const LEAST_REQUESTS = 50;

/**
 * Three processes of redis-benchmark with a connection each and one command under way, at the same time. The same
 * generator whatever the store is, so that it is not the tool that differs.
 */
export async function threeClients(lab: Lab, options: ThreeClientsOptions): Promise<ThreeClients> {
  let rate = options.expectedPerSecond;
  if (rate === undefined) {
    const pilot = async (own: number): Promise<number> =>
      figuresOf(await together(lab, options, own), own, 0).perSecond;
    rate = await pilot(requestsOf(await pilot(PILOT_REQUESTS), PILOT_SECONDS));
  }
  const requests = requestsOf(rate, options.seconds);
  const during = await storeCoresDuring(options.stores, () => together(lab, options, requests));
  const figures = figuresOf(during.result, requests, sum(during.eachCores) * during.seconds);
  return {
    ...figures,
    limit: limitOfStores(lab.cores, options.stores.length, figures, options),
    command: shown(options, requests),
  };
}

/** What one of the clients printed, and the processor time it took. */
type Client = ReturnType<typeof rowOf> & { readonly processorSeconds: number };

/** @param requests of each client. @param storeSeconds of processor, of all stores together. */
export function figuresOf(
  clients: readonly Client[],
  requests: number,
  storeSeconds: number,
): Omit<ThreeClients, 'limit' | 'command'> {
  const all = requests * clients.length;
  // Together they are done when the last one is.
  const elapsedSeconds = Math.max(...clients.map(({ perSecond }) => requests / perSecond));
  // Starting and ending take a few hundredths of a second, in which nobody is asked: cores are those of the load.
  const cores = (processorSeconds: number): number => processorSeconds / elapsedSeconds;
  return {
    usPerOp: (elapsedSeconds / all) * 1e6,
    perSecond: all / elapsedSeconds,
    storeUsPerOp: (storeSeconds / all) * 1e6,
    p99Ms: Math.max(...clients.map(({ latencyMs }) => latencyMs.p99)),
    storeCores: cores(storeSeconds),
    generatorCores: cores(sum(clients.map(({ processorSeconds }) => processorSeconds))),
  };
}

/**
 * What was full where several stores share their cores: no single one is, but all of them together are.
 * @param busy cores of all stores together, and of all clients.
 */
export function limitOfStores(
  cores: Cores,
  stores: number,
  busy: { readonly storeCores: number; readonly generatorCores: number },
  { isAnywhere, clients = CLIENTS }: { readonly isAnywhere?: true; readonly clients?: number } = {},
): Limit {
  const all = cores.store === cores.generator ? cores.storeCount : cores.storeCount + cores.generatorCount;
  const room = {
    storeCores: Math.min(stores, isAnywhere ? all : cores.storeCount),
    generatorCores: Math.min(clients, isAnywhere ? all : cores.generatorCount),
  };
  const limit = limitOf(busy, room);
  if (!isAnywhere) return limit;
  // Nobody has cores of their own there: when none is left, both wait for one.
  const everybody = { storeCores: busy.storeCores + busy.generatorCores, generatorCores: 0 };
  return limitOf(everybody, { storeCores: all, generatorCores: all }) === 'store' ? 'both' : limit;
}

export function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

function requestsOf(perSecond: number, seconds: number): number {
  return Math.max(LEAST_REQUESTS, Math.round((perSecond * seconds) / CLIENTS));
}

async function together(lab: Lab, options: ThreeClientsOptions, requests: number): Promise<readonly Client[]> {
  const { stores, via = stores, keySpace, seconds } = options;
  return Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const at = client % stores.length;
      const [target, caFile] = [via[at], stores[at]?.caFile];
      if (target === undefined) throw new Error('three clients need at least one store');
      const tls = caFile === undefined ? [] : ['--tls', '--cacert', caFile];
      const own = ['-c', '1', '-n', String(requests), '-r', String(keySpace), ...options.command(client)];
      const { output, processorSeconds } = await runProgram({
        command: 'redis-benchmark',
        args: ['-h', target.host, '-p', String(target.port), ...tls, '--csv', ...own],
        ...(options.isAnywhere === undefined && { cores: lab.cores.generator }),
        limitMs: (seconds + 30) * 1000,
        signal: lab.signal,
      });
      return { ...rowOf(output), processorSeconds };
    }),
  );
}

function shown({ stores, keySpace, command, fill }: ThreeClientsOptions, requests: number): string {
  const tls = stores[0]?.caFile === undefined ? '' : ' --tls --cacert ca.crt';
  const port = (client: number): number => 6379 + (client % stores.length);
  const one = (client: number): string =>
    `redis-benchmark -p ${port(client)}${tls} -c 1 -n ${requests} -r ${keySpace} ${command(client).join(' ')}`;
  const clients = Array.from({ length: CLIENTS }, (_, client) => client);
  const fills = fill === undefined ? [] : clients.map((client) => `${fill(client, port(client))} && `);
  // All of them are waited for: the next command must not meet the end of this one.
  return `${fills.join('')}{ ${clients.map(one).join(' & ')} & wait; }`;
}
