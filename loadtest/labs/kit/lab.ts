import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificates, makeCertificates } from '../../stack/certificates.ts';
import { freePorts } from '../../stack/process.ts';
import { pin, processorMs } from '../../stack/processors.ts';
import { type Flavour, type RedisNode, startRedisNode } from '../../stack/redis-node.ts';
import type { Cores } from './cores.ts';

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
