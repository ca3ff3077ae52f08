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

/** One lesson that others published, and what checks it here. */
export interface Experiment {
  /** What it varies, in one line for the list. */
  readonly varies: string;
  /** Parts of loadtest/stack/install.ts that it needs. */
  readonly parts: readonly string[];
  /** Undefined: it can run here. Else one line that says what is missing: `needs root for network namespaces`. */
  readonly cannotRun?: () => Promise<string | undefined>;
  /** Two minutes at most. @throws when a row could not be measured for a reason that is not a finding. */
  readonly run: (lab: Lab) => Promise<Omit<Finding, 'name'>>;
}

/** An experiment as one file describes it: how its rows are measured, and what is shown and claimed of them. */
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
 * Which processors stores run on and which ones whoever asks them: lists as taskset takes them. Kept apart, each can be
 * seen to be full; on one processor alone both are the same, and every row is limited by both.
 */
export interface Cores {
  readonly store: string;
  readonly generator: string;
  /** How many each side has. */
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

/** A real store, kept to its processors. */
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
  /** Where it listens when not on loopback, and what starts it there: see namespace.ts. */
  readonly place?: { readonly host: string; readonly through: readonly string[] };
  /** Absent: the store's own. `any` leaves it to the system. */
  readonly cores?: string | 'any';
}

/** What an experiment is given: real servers that are taken down with it, processors, and a time to keep to. */
export interface Lab {
  readonly cores: Cores;
  /** Removed at the end. */
  readonly folder: string;
  /** How long a row is measured: what the experiment wants, unless somebody asked for less or more. */
  readonly seconds: (wanted: number) => number;
  readonly startStore: (options?: LabStoreOptions) => Promise<LabStore>;
  /** Called in reverse order when the experiment is over, however it ended. */
  readonly atEnd: (stop: () => Promise<unknown>) => void;
  /** Stops what was registered since, early; for experiments that need the room for the next row. */
  readonly clear: () => Promise<void>;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
  /** Paths of further Redis-protocol servers, as somebody named them. */
  readonly servers: readonly string[];
}

export interface LabOptions {
  readonly cores: Cores;
  /** Seconds for a row, whatever an experiment wants; absent: its own. */
  readonly rowSeconds?: number;
  readonly servers?: readonly string[];
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** @returns what `work` found; everything it started is gone then. */
export async function inLab<T>(options: LabOptions, work: (lab: Lab) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'serpcache-lab-'));
  const stops: (() => Promise<unknown>)[] = [];
  let isOver = false;
  // What was still being started when somebody stopped all must not stay behind: nobody comes for it any more.
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
