import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, pin } from '../../stack/process.ts';
import { processorMs, processorsOf } from '../../stack/processors.ts';
import { type Certificates, type Flavour, makeCertificates, startRedisNode } from '../../stack/redis-node.ts';
import { verdictOf } from './claims.ts';
import type { Chart, Claim, Finding, FindingTable } from './finding.ts';

export interface Experiment {
  /** The varied setting, in one line for the list. */
  readonly varies: string;
  /** The parts of loadtest/stack/install.ts that it needs. */
  readonly parts: readonly string[];
  /** Undefined: it can run here. Else one line about what is missing: `needs root for network namespaces`. */
  readonly cannotRun?: () => Promise<string | undefined>;
  /** Takes at most two minutes. @throws when a row could not be measured for a reason that is not a finding. */
  readonly run: (lab: Lab) => Promise<Omit<Finding, 'name'>>;
}

interface ExperimentDefinition<Measured>
  extends Pick<Experiment, 'varies' | 'parts' | 'cannotRun'>,
    Pick<Finding, 'title' | 'published' | 'sentence'> {
  readonly measure: (lab: Lab) => Promise<Measured>;
  readonly tables: (measured: Measured) => readonly FindingTable[];
  readonly charts: (measured: Measured) => readonly Chart[];
  readonly claims: (measured: Measured) => readonly Claim[];
  readonly notes: (measured: Measured) => readonly string[];
}

/** `findingOf` makes the finding from the measured rows. */
export function defineExperiment<Measured>(
  own: ExperimentDefinition<Measured>,
): Experiment & { readonly findingOf: (measured: Measured) => Omit<Finding, 'name'> } {
  const { varies, parts, cannotRun, title, published, sentence } = own;
  const findingOf = (measured: Measured): Omit<Finding, 'name'> => {
    const claims = own.claims(measured);
    return {
      title,
      published,
      claims,
      verdict: verdictOf(claims),
      sentence,
      tables: own.tables(measured),
      charts: own.charts(measured),
      notes: own.notes(measured),
    };
  };
  return { varies, parts, findingOf, cannotRun, run: async (lab) => findingOf(await own.measure(lab)) };
}

export type Cores = ReturnType<typeof coresOf>;

/**
 * The processors of stores and of generators, as lists for taskset: the first half, and the rest. They are separate so that
 * each side's capacity can be measured. With a single processor both lists are the same, and every row is limited by both sides.
 * @param allowed processors that this process may use: `0-1,4`.
 */
export function coresOf(allowed: string) {
  const all = processorsOf(allowed);
  const half = Math.floor(all.length / 2);
  const [stores, generators] = half === 0 ? [all, all] : [all.slice(0, half), all.slice(half)];
  return {
    store: stores.join(','),
    generator: generators.join(','),
    storeCount: stores.length,
    generatorCount: generators.length,
  };
}

/** A real store, pinned to its processors. */
export type LabStore = Awaited<ReturnType<typeof startLabStore>>;

export interface LabStoreOptions {
  readonly flavour?: Flavour;
  /** Lines that are appended to deploy/redis/*-cache.conf; a later line wins. */
  readonly config?: readonly string[];
  readonly tls?: true;
  /** Its address if it is not loopback, and the command that starts it there: see namespace.ts. */
  readonly place?: { readonly host: string; readonly through: readonly string[] };
  /** Default: the lab's processors for stores. `any`: not pinned. */
  readonly cores?: string | 'any';
}

/** The environment of an experiment: real servers that are stopped with it, processors, and the duration of a row. */
export interface Lab {
  readonly cores: Cores;
  /** A folder that is removed at the end. */
  readonly folder: string;
  /** The duration of a row: `--seconds` if it was given, else what the experiment wants. */
  readonly seconds: (wanted: number) => number;
  readonly startStore: (options?: LabStoreOptions) => Promise<LabStore>;
  /** Registers a function for the end, also of a failed experiment. They are called in reverse order. */
  readonly atEnd: (stop: () => Promise<unknown>) => void;
  /** Calls the registered functions now, for experiments that need the resources for the next row. */
  readonly clear: () => Promise<void>;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
  /** Paths of further Redis-protocol servers: `--server`. */
  readonly servers: readonly string[];
}

export interface LabOptions extends Pick<Lab, 'cores' | 'say' | 'signal'> {
  readonly rowSeconds?: number;
  readonly servers?: readonly string[];
}

/** @returns the result of `work`, after everything that it started was stopped. */
export async function inLab<T>(options: LabOptions, work: (lab: Lab) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'serpcache-lab-'));
  const stops: (() => Promise<unknown>)[] = [];
  let isOver = false;
  // A server that was still starting when the lab was stopped is stopped as soon as it registers.
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
    certificates ??= wanted.tls ? makeCertificates(folder) : undefined;
    const tls = wanted.tls ? await certificates : undefined;
    return startLabStore(folder, { cores: options.cores.store, ...wanted }, tls, atEnd);
  };
  const onAbort = new Promise<never>((_, reject) => {
    options.signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
  });
  onAbort.catch(() => undefined);
  try {
    const seconds = (wanted: number): number => options.rowSeconds ?? wanted;
    return await Promise.race([work({ servers: [], ...options, folder, seconds, startStore, atEnd, clear }), onAbort]);
  } finally {
    isOver = true;
    await clear();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function startLabStore(
  folder: string,
  { flavour = 'redis', config, cores = 'any', place }: LabStoreOptions,
  tls: Certificates | undefined,
  atEnd: Lab['atEnd'],
) {
  const port = await freePort();
  const directory = join(folder, String(port));
  const node = await startRedisNode({ flavour, port, directory, config, tls, ...place });
  atEnd(node.stop);
  const pinStore = async (): Promise<void> => {
    if (cores !== 'any') await pin([node.pid()], cores);
  };
  await pinStore();
  return {
    ...node,
    restart: async () => {
      await node.restart();
      await pinStore();
    },
    flavour,
    directory,
    /** Processor time of all its threads since its start. */
    processorMs: () => processorMs(node.pid()),
    /** `INFO <section>` by field. */
    info: async (section: string): Promise<Readonly<Record<string, string>>> => {
      const fields = String(await node.command('INFO', section)).matchAll(/^(\w+):(.*?)\r?$/gm);
      return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]));
    },
    /** The CA as a file and as PEM, if it uses TLS. */
    caFile: tls?.caFile,
    ca: tls?.ca,
  };
}
