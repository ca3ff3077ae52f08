import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../stack/process.ts';
import { pin, processorMs, processorsOf } from '../../stack/processors.ts';

import {
  type Certificates,
  type Flavour,
  makeCertificates,
  type RedisNode,
  startRedisNode,
} from '../../stack/redis-node.ts';
import { verdictOf } from './claims.ts';
import type { Chart, Claim, Finding, FindingTable } from './finding.ts';

/** One published statement, and its check on this machine. */
export interface Experiment {
  /** The varied quantity, one line of the list. */
  readonly varies: string;
  /** Parts of loadtest/stack/install.ts that it needs. */
  readonly parts: readonly string[];
  /** Undefined: it can run here. Else one line that says what is missing: `needs root for network namespaces`. */
  readonly cannotRun?: () => Promise<string | undefined>;
  /** Two minutes at most. @throws when a row could not be measured for a reason that is not a finding. */
  readonly run: (lab: Lab) => Promise<Omit<Finding, 'name'>>;
}

/** An experiment as its file defines it: the measurement of its rows, then tables, charts and claims about them. */
export interface ExperimentParts<Measured>
  extends Pick<Experiment, 'varies' | 'parts' | 'cannotRun'>,
    Pick<Finding, 'title' | 'published' | 'sentence'> {
  readonly measure: (lab: Lab) => Promise<Measured>;
  readonly tables: (measured: Measured) => readonly FindingTable[];
  readonly charts: (measured: Measured) => readonly Chart[];
  readonly claims: (measured: Measured) => readonly Claim[];
  readonly notes: (measured: Measured) => readonly string[];
}

/** `findingOf` is the part after the measurement: rows in, finding out. */
export function defineExperiment<Measured>(
  own: ExperimentParts<Measured>,
): Experiment & { readonly findingOf: (measured: Measured) => Omit<Finding, 'name'> } {
  const { varies, parts, cannotRun, measure, title, published, sentence } = own;
  const findingOf = (measured: Measured): Omit<Finding, 'name'> => {
    const claims = own.claims(measured);
    return {
      ...{ title, published, claims, verdict: verdictOf(claims), sentence },
      ...{ tables: own.tables(measured), charts: own.charts(measured), notes: own.notes(measured) },
    };
  };
  return {
    ...{ varies, parts, findingOf, ...(cannotRun && { cannotRun }) },
    run: async (lab) => findingOf(await measure(lab)),
  };
}

/**
 * The processors of the stores and those of the load generators, as lists for taskset. They are disjoint, so that a full
 * side can be told; on a machine with one processor they are equal, and every row is limited by both.
 */
export interface Cores {
  readonly store: string;
  readonly generator: string;
  /** Number of processors of each side. */
  readonly storeCount: number;
  readonly generatorCount: number;
}

/** @param allowed processors this process may use, `0-1,4`: the first half for stores, the rest for generators. */
export function coresOf(allowed: string): Cores {
  const all = processorsOf(allowed);
  if (all.length < 2) {
    const only = String(all[0] ?? 0);
    return { store: only, generator: only, storeCount: 1, generatorCount: 1 };
  }
  const half = Math.floor(all.length / 2);
  const [store, generator] = [all.slice(0, half), all.slice(half)];
  return {
    store: store.join(','),
    generator: generator.join(','),
    storeCount: store.length,
    generatorCount: generator.length,
  };
}

/** A real store, pinned to its processors. */
export interface LabStore extends RedisNode {
  readonly flavour: Flavour;
  readonly directory: string;
  /** Processor time of all its threads since it was started. */
  readonly processorMs: () => number;
  /** `INFO <section>` by field. */
  readonly info: (section: string) => Promise<Readonly<Record<string, string>>>;
  /** CA file when it speaks TLS. */
  readonly caFile?: string;
}

export interface LabStoreOptions {
  readonly flavour?: Flavour;
  /** Lines after deploy/redis/*-cache.conf; a later line wins. */
  readonly config?: readonly string[];
  readonly tls?: true;
  /** Its address when it is not on loopback, and the program that starts it there: see namespace.ts. */
  readonly place?: { readonly host: string; readonly through: readonly string[] };
  /** Absent: the store's processors. `any` pins it to none. */
  readonly cores?: string | 'any';
}

/** The environment of an experiment: real servers that end with it, processors, and the duration of its rows. */
export interface Lab {
  readonly cores: Cores;
  /** Removed at the end. */
  readonly folder: string;
  /** Seconds of a row: those the experiment wants, unless `--seconds` sets them. */
  readonly seconds: (wanted: number) => number;
  readonly startStore: (options?: LabStoreOptions) => Promise<LabStore>;
  /** Registers a stop, called in reverse order at the end of the experiment, also after a failure. */
  readonly atEnd: (stop: () => Promise<unknown>) => void;
  /** Stops all that was registered since the last call; for experiments that need the memory for the next row. */
  readonly clear: () => Promise<void>;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
  /** Paths of further Redis-protocol servers, from `--server`. */
  readonly servers: readonly string[];
}

export interface LabOptions {
  readonly cores: Cores;
  /** Seconds of every row; absent: those that the experiment wants. */
  readonly rowSeconds?: number;
  readonly servers?: readonly string[];
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** @returns the result of `work`, after everything it started has been stopped. */
export async function inLab<T>(options: LabOptions, work: (lab: Lab) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'serpcache-lab-'));
  const stops: (() => Promise<unknown>)[] = [];
  let isOver = false;
  // A server that finishes starting after the end must be stopped here: no one else would stop it.
  const atEnd = (stop: () => Promise<unknown>): void => {
    if (isOver) void stop().catch(() => undefined);
    else stops.push(stop);
  };
  const clear = async (): Promise<void> => {
    for (const stop of stops.splice(0).toReversed()) await stop();
  };
  let certificates: Promise<Certificates> | undefined;
  const startStore = async (wanted: LabStoreOptions = {}): Promise<LabStore> => {
    options.signal.throwIfAborted();
    const { flavour = 'redis', config = [], cores = options.cores.store } = wanted;
    certificates ??= wanted.tls ? makeCertificates(folder) : undefined;
    const tls = wanted.tls ? await certificates : undefined;
    const [port = 0] = await freePorts(1);
    const directory = join(folder, String(port));
    const node = await startRedisNode({ flavour, port, directory, config, ...(tls && { tls }), ...wanted.place });
    atEnd(node.stop);
    const keepToCores = async (): Promise<void> => {
      if (cores !== 'any') await pin([node.pid()], cores);
    };
    await keepToCores();
    return {
      ...node,
      restart: async () => {
        await node.restart();
        await keepToCores();
      },
      flavour,
      directory,
      processorMs: () => processorMs(node.pid()),
      info: async (section) => fieldsOf(String(await node.command('INFO', section))),
      ...(tls && { caFile: tls.caFile }),
    };
  };
  const onAbort = new Promise<never>((_, reject) => {
    options.signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
  });
  onAbort.catch(() => undefined);
  try {
    const lab: Lab = {
      cores: options.cores,
      folder,
      seconds: (own) => options.rowSeconds ?? own,
      startStore,
      atEnd,
      clear,
      say: options.say,
      signal: options.signal,
      servers: options.servers ?? [],
    };
    return await Promise.race([work(lab), onAbort]);
  } finally {
    isOver = true;
    await clear();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function fieldsOf(info: string): Record<string, string> {
  return Object.fromEntries([...info.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]));
}
