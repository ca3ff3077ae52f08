import { randomUUID } from 'node:crypto';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../http-driver/client.ts';
import { closedLoop } from '../../http-driver/loops.ts';
import { type HttpDriven, servedShare } from '../../http-driver/plan.ts';
import { readProcess } from '../../sample/host.ts';
import { freePorts } from '../../stack/process.ts';
import type { Lab } from '../kit/lab.ts';
import type { Backend } from './backend.ts';
import { collectGarbage, isNode } from './collect-garbage.ts';
import { httpDriven } from './driven.ts';
import type { Peer, ReplicaSetup, RunningPeer } from './peer.ts';

/** Running replicas of one peer, and the store that they share. */
export type Replicas = Awaited<ReturnType<typeof startReplicas>>;

/**
 * Starts a store for each peer, also for peers without one, so that all have the same machine. It runs beside the
 * client, because its processor time is not the server's.
 * @throws with the end of its log when one will not start; what was started is gone then.
 */
export async function startReplicas(
  lab: Lab,
  backend: Backend,
  peer: Peer,
  { count, ...lifetimes }: Pick<ReplicaSetup, 'ttlSeconds' | 'staleSeconds'> & { readonly count: number },
) {
  const store = await lab.startStore({ cores: lab.cores.generator });
  const folder = join(lab.folder, `peer-${randomUUID()}`);
  const running: RunningPeer[] = [];
  await using starting = new AsyncDisposableStack();
  starting.defer(store.stop);
  for (const port of await freePorts(count)) {
    lab.signal.throwIfAborted();
    const own = join(folder, String(port));
    await mkdir(own, { recursive: true });
    const one = await peer.start({
      ...lifetimes,
      folder: own,
      port,
      origin: backend.origin,
      engine: backend.engine,
      store: { host: store.host, port: store.port },
      cores: lab.cores.store,
    });
    running.push(one);
    starting.defer(one.stop);
  }
  const started = starting.move();
  const stop = (): Promise<void> => started.disposeAsync();
  lab.atEnd(stop);
  const urls: readonly string[] = running.map((one) => one.url);
  /** The sum over all processes of all replicas, workers included. */
  const total = (of: 'cpuSeconds' | 'residentBytes'): number => {
    const pids = running.flatMap((one) => one.pids());
    return pids.reduce((sum, pid) => sum + (readProcess({ name: peer.name, pid })?.[of] ?? 0), 0);
  };
  return {
    urls,
    store,
    /** Since their start. */
    processorSeconds: () => total('cpuSeconds'),
    residentBytes: () => total('residentBytes'),
    /** Collects the garbage of all Node processes. @throws when one does not answer. */
    collectGarbage: async (): Promise<void> => {
      const pids = running.flatMap((one) => one.pids());
      for (const pid of pids.filter(isNode)) await collectGarbage(pid);
    },
    /** Bytes in their folders: some peers keep pages in files. */
    diskBytes: () => bytesBelow(folder),
    purge: () => purgeEach(running),
    /** Safe to call twice. */
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const PURGE_MS = 10_000;
const AGAIN_MS = 500;

/**
 * Purges one replica after the other, and retries a refusal as an operator's loop would.
 * @returns the number of refusals. @throws the last refusal after 10 s.
 */
export async function purgeEach(replicas: readonly Pick<RunningPeer, 'purge'>[]): Promise<number> {
  const untilMs = performance.now() + PURGE_MS;
  let refusals = 0;
  for (const one of replicas) {
    for (let isPurged = false; !isPurged; ) {
      try {
        await one.purge();
        isPurged = true;
      } catch (error) {
        if (performance.now() > untilMs) throw error;
        refusals += 1;
        await sleep(AGAIN_MS);
      }
    }
  }
  return refusals;
}

const BLOCK_BYTES = 512;

/** Blocks of all files except logs. */
async function bytesBelow(folder: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith('.log')) continue;
    // A file that was replaced meanwhile is gone.
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    sum += (found?.blocks ?? 0) * BLOCK_BYTES;
  }
  return sum;
}

/** The maximum of concurrent queries of a server at its engine. */
const CONNECTIONS = 8;
const PATIENCE_MS = 10_000;
/** A peer that protects its engine refuses some requests of a cold start; they are repeated. */
const PASSES = 4;

/** Requests each page of each replica until all are answered. @returns the last pass @throws when some never are. */
export async function fillPages(
  lab: Lab,
  urls: readonly string[],
  paths: readonly string[],
  passes = PASSES,
): Promise<HttpDriven> {
  const pace = { kind: 'once', connections: CONNECTIONS } as const;
  const [url = '', ...others] = urls;
  const pass = () => httpDriven(lab, { paths, pace, patienceMs: PATIENCE_MS, replicas: [url] });
  let last = await pass();
  for (let count = 1; count < passes && servedShare(last) < 1; count += 1) last = await pass();
  if (servedShare(last) < 1)
    throw new Error(`not all pages were answered: ${JSON.stringify({ ...last.outcomes, hung: last.hung })}`);
  return others.length === 0 ? last : fillPages(lab, others, paths, passes);
}

/** Size of a page's body, as in the project's benchmarks. */
const PAGE_BYTES = 4096;
const TOLERANCE = 0.25;
/** Variants of a search: another number of results, another order. */
const ORDERS = ['', '&sort=-date', '&sort=date', '&sort=price'];
const VARIANTS = ORDERS.flatMap((order) => [10, 9, 11, 8, 12].map((limit) => `&limit=${limit}${order}`));
const AT_ONCE = 8;
/** Pages that are measured before the number of fitting ones is checked. */
const LOOK_AT = 200;

/** Further texts are rare words, whose pages are short. */
const TEXTS = 2000;

/**
 * Searches whose pages have about 4 KB, the nearest one first, measured at the origin. All peers
 * serve the same ones in the same order.
 * @throws when the engine has fewer.
 */
export async function pagesOf(backend: Pick<Backend, 'origin' | 'texts'>, count: number): Promise<readonly string[]> {
  const texts = backend.texts(TEXTS);
  const found: { readonly path: string; readonly off: number }[] = [];
  const paths = VARIANTS.flatMap((variant) => texts.map((text) => `/search?q=${encodeURIComponent(text)}${variant}`));
  const client = createClient({
    baseUrl: backend.origin,
    patienceMs: PATIENCE_MS,
    maxConnections: AT_ONCE,
    discardsBodies: true,
  });
  for (let from = 0; from < paths.length && found.length < count; from += LOOK_AT) {
    const fitting: typeof found = [];
    await closedLoop(paths.slice(from, from + LOOK_AT), AT_ONCE, async (path) => {
      const reply = await client.getOnce(path);
      if (reply.kind !== 'answer' || reply.status !== 200) return;
      const off = Math.abs(reply.bytes - PAGE_BYTES);
      if (off <= PAGE_BYTES * TOLERANCE) fitting.push({ path, off });
    });
    found.push(...fitting.sort((a, b) => (a.path < b.path ? -1 : 1)));
  }
  client.close();
  if (found.length < count) throw new Error(`the engine has ${found.length} pages of about 4 KB, ${count} are wanted`);
  const pages = found.slice(0, count);
  const least = Math.min(...pages.map(({ off }) => off));
  const nearest = pages.findIndex(({ off }) => off === least);
  return [...pages.splice(nearest, 1), ...pages].map(({ path }) => path);
}
