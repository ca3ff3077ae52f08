import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesText, countText } from '../../../src/report/format.ts';
import { sum } from '../../judge/series.ts';
import { createRandom } from '../../random.ts';
import { processFile } from '../../stack/processors.ts';
import { benchmark, massImport } from '../kit/benchmark.ts';
import { driven, type LabDriven } from '../kit/driven.ts';
import type { DrivePlan } from '../kit/driver/drive.ts';
import type { Lab, LabStore } from '../kit/lab.ts';
import { loadFigures } from '../kit/meters.ts';
import { fillCommands, MIX_COMMANDS, PUBLISHED_MIX, randomDigits, valueBytes } from '../kit/mix.ts';
import type { TableParts } from '../kit/table.ts';

export type WideStore = Awaited<ReturnType<typeof startWideStore>>;

/**
 * Local ports are counted for each address that is connected to: about 28,000, and a closed connection may keep its own
 * for a minute. All of 127.0.0.0/8 is this machine.
 */
const ADDRESSES = Array.from({ length: 8 }, (_, at) => `127.0.0.${at + 1}`);

/** Keys as `redis-benchmark -t get -r` asks for them, with values of the published mix. */
export const BENCHMARK_KEYS = 10_000;
/** Bytes of the values of `GET small:__rand_int__`, for rows that are not about the size of values. */
export const SMALL_BYTES = 100;

/** A filled store without a limit on the memory of connections, so that their cost shows and not an eviction. */
export async function startWideStore(lab: Lab, options: { readonly tls?: true } = {}) {
  // The certificate is for the first address only.
  const addresses = options.tls ? ADDRESSES.slice(0, 1) : ADDRESSES;
  const store = await lab.startStore({
    config: [`bind ${addresses.join(' ')}`, 'maxclients 70000', 'maxmemory 6gb', 'maxmemory-clients 0'],
    ...options,
  });
  lab.say('filling the store');
  await massImport(lab, store, everyKey());
  // The same store by several addresses: each has local ports of its own.
  return { store, targets: addresses.map((host) => ({ host, port: store.port })) };
}

function* everyKey(): Iterable<readonly (string | Buffer)[]> {
  const random = createRandom(1).next;
  yield* fillCommands(PUBLISHED_MIX, random);
  const bytes = Buffer.alloc(PUBLISHED_MIX.mostBytes, 'x');
  for (let at = 0; at < BENCHMARK_KEYS; at += 1) {
    yield ['SET', `key:${randomDigits(at)}`, bytes.subarray(0, valueBytes(PUBLISHED_MIX, random))];
    yield ['SET', `small:${randomDigits(at)}`, bytes.subarray(0, SMALL_BYTES)];
  }
}

const CLOSED_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 50;
/** The connection that asks, and one that may be ending. */
const FEW_CLIENTS = 2;

/** Waits until the connections of the row before are gone: together with the next ones they would be too many. */
export async function allClosed(lab: Lab, store: LabStore): Promise<void> {
  const endMs = performance.now() + CLOSED_WITHIN_MS;
  while (!lab.signal.aborted) {
    const clients = Number((await store.info('clients'))['connected_clients']);
    if (clients <= FEW_CLIENTS) return;
    if (performance.now() > endMs) throw new Error(`${clients} connections of the row before are still at the store`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** A filled store, and the published numbers of connections that are possible here. @param share of the maximum */
export async function startLadder(lab: Lab, share = 1, published = RUNGS) {
  const wide = await startWideStore(lab);
  const { most, why } = await maximumHere(wide.store);
  return { wide, rungs: rungsOf(Math.floor(most * share), published), whyNoMore: why };
}

/** As published: 2,000 were, 60,000–70,000 were required. */
const RUNGS = [200, 2000, 10_000, 30_000, 65_000];
const TOP = RUNGS.at(-1) ?? 0;
/** A last rung that is nearer to the one before shows nothing new. */
const NEXT_RUNG = 1.25;
/** Files of the driver itself, and other clients of the store. */
const [OWN_FILES, OWN_CLIENTS] = [64, 32];
/** Closed connections keep their ports for a while. */
const SHARE_OF_PORTS = 0.5;
/** Buffers of the store, and of the kernel at both ends. */
const BYTES_EACH = 100 * 1024;
const ROUNDED_TO = 100;

/** The published numbers up to `most`, and `most` itself when it is well above the last of them. */
function rungsOf(most: number, published: readonly number[] = RUNGS): readonly number[] {
  const rungs = published.filter((rung) => rung <= most);
  return most >= (rungs.at(-1) ?? 0) * NEXT_RUNG && most < (published.at(-1) ?? 0) ? [...rungs, most] : rungs;
}

/** The maximum number of connections between one driver process and this store, and a sentence with the limits it comes from. */
async function maximumHere(store: Pick<LabStore, 'command'>) {
  const [, accepted = '0'] = (await store.command('CONFIG', 'GET', 'maxclients')) as readonly string[];
  const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const [first = 0, last = 0] = range.trim().split(/\s+/).map(Number);
  const [ports, freeBytes, maxClients] = [last - first + 1, freemem(), Number(accepted)];
  // Node raises its own soft limit to the hard one.
  const files = Number(
    /^Max open files\s+\S+\s+(\d+)/m.exec(processFile('self', 'limits'))?.[1] ?? Number.POSITIVE_INFINITY,
  );
  const bounds = [
    [files - OWN_FILES, `a process may open ${countText(files)} files and the driver needs one for each`],
    [
      maxClients - OWN_CLIENTS,
      `the store took its own maxclients down to ${countText(maxClients)}, as its file limit demands`,
    ],
    [
      ports * ADDRESSES.length * SHARE_OF_PORTS,
      `there are ${countText(ports)} local ports to each of ${ADDRESSES.length} loopback addresses`,
    ],
    [freeBytes / BYTES_EACH, `${bytesText(freeBytes)} of memory are free`],
  ] as const;
  const least = Math.min(...bounds.map(([most]) => most));
  if (least >= TOP) return { most: TOP, why: `The rungs end at ${countText(TOP)}, where the published ones do.` };
  const most = Math.max(1, least < ROUNDED_TO ? least : Math.floor(least / ROUNDED_TO) * ROUNDED_TO);
  const reasons = bounds.filter(([bound]) => bound < least + ROUNDED_TO).map(([, why]) => why);
  return { most, why: `The rungs end at ${countText(most)} connections: ${reasons.join(', and ')}.` };
}

export type LoadRow = Pick<
  LabDriven,
  'perSecond' | 'p50Ms' | 'p99Ms' | 'storeCores' | 'generatorCores' | 'storeUs' | 'limit'
>;

type Columns<Row> = TableParts<Row>['columns'];

export const CORES: Columns<Pick<LoadRow, 'storeCores' | 'generatorCores'>> = [
  ['store cores', 'cores', (row) => row.storeCores],
  ['generator cores', 'cores', (row) => row.generatorCores],
];
export const STORE_TIME: Columns<LoadRow> = [['store time per command', 'us', (row) => row.storeUs]];

export interface DrivenRow
  extends LoadRow,
    Pick<LabDriven, 'meanMs' | 'generatorUs' | 'connects' | 'seconds' | 'answered'> {
  /** All kinds of errors; a command that is still under way when the time is over is none. */
  readonly errors: number;
  readonly errorShare: number;
}

export async function mixRow(
  lab: Lab,
  { store, targets }: WideStore,
  plan: Omit<DrivePlan, 'targets' | 'commands' | 'seed' | 'ca'>,
): Promise<DrivenRow> {
  const run = await driven(lab, [store], { ...plan, targets, commands: MIX_COMMANDS });
  const errors = sum(Object.values(run.errors));
  return { ...run, errors, errorShare: errors / Math.max(1, errors + run.answered) };
}

/** redis-benchmark watches no file with a higher number: its event loop has 1024 × 10. */
export const MOST_CLIENTS = 10_000;
/** It sleeps 50 ms after every 65 connections that it opens, to spare listeners: redis-benchmark.c, createMissingClients. */
const [PAUSE_AFTER, PAUSE_SECONDS] = [65, 0.05];
/** A run has this time and half a minute more: opening 10,000 connections alone takes eight seconds. */
const MOST_SECONDS = 30;

/**
 * Runs redis-benchmark with a known number of requests: a pilot with 10,000 clients would take eight seconds. Each run goes
 * to the next address of the store. Cores are those of the time in which the program did not sleep.
 */
export function countedBenchmark(lab: Lab, { store, targets }: WideStore) {
  let runs = 0;
  return async (clients: number, requests: number): Promise<LoadRow & { readonly clients: number }> => {
    await allClosed(lab, store);
    runs += 1;
    const host = targets[runs % targets.length]?.host ?? store.host;
    const own = { store: { ...store, host }, keySpace: BENCHMARK_KEYS, test: 'get', seconds: MOST_SECONDS };
    const run = await benchmark(lab, { ...own, clients, requests });
    const awakeSeconds = run.seconds - Math.floor(clients / PAUSE_AFTER) * PAUSE_SECONDS;
    const storeCores = (run.storeCores * run.seconds) / awakeSeconds;
    return { ...run, ...loadFigures({ ...run, seconds: awakeSeconds }, storeCores), clients };
  };
}
