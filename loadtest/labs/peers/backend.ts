import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEngineProxy } from '../../fault-proxy/engine-proxy.ts';
import { accepts, freePort, pin, startProcess } from '../../stack/process.ts';
import { sampleGoods, startSearchd } from '../../stack/sphinx.ts';
import { queriesOf } from '../../traffic/queries.ts';
import type { ReplicaSetup } from './peer.ts';
import { DOMAIN, serviceConfig } from './serpcache.ts';

/** The engine behind all peers, with its counts and faults. */
export type Backend = Awaited<ReturnType<typeof startBackend>>;

interface BackendOptions {
  /** Lifetime of a page in the origin's headers; the same as in the setups of the peers. */
  readonly ttlSeconds: number;
  readonly documents?: number;
  /** For searchd and the origin, as taskset takes them; absent: any. */
  readonly cores?: string;
}

const DOCUMENTS = 6000;

/**
 * A real searchd behind all peers, with a proxy that counts, delays and refuses its searches, and the origin of the HTTP caches.
 * @throws with the end of a log when a part will not start; what did start is ended then.
 */
export async function startBackend(folder: string, options: BackendOptions) {
  const { ttlSeconds, documents = DOCUMENTS, cores } = options;
  await using starting = new AsyncDisposableStack();
  const goods = sampleGoods(documents);
  const searchd = await startSearchd({
    directory: join(folder, 'searchd'),
    from: { domains: [{ ...goods, index: DOMAIN }] },
  });
  starting.defer(searchd.stop);
  const proxy = await startEngineProxy({ target: searchd });
  starting.defer(proxy.stop);
  const engine = { host: proxy.host, port: proxy.port, index: DOMAIN };
  const origin = await startOrigin(join(folder, 'origin'), engine, ttlSeconds);
  starting.defer(origin.stop);
  if (cores !== undefined) await pin([searchd.process.pid, origin.pid], cores);
  const started = starting.move();
  return {
    origin: origin.url,
    /** searchd, through the counting proxy. */
    engine,
    /** Searches of all clients at the engine since the start. */
    searches: () => proxy.counts().searches,
    /** Delays each search by `ms` until the next call. */
    delay: (delayMs: number): void => proxy.set({ delayMs }),
    /** New connections are refused, and open ones are reset: as after a SIGKILL. */
    die: async (): Promise<void> => {
      await proxy.refuse(true);
      proxy.cut();
    },
    revive: (): Promise<void> => proxy.refuse(false),
    /** `count` different searches with results. @throws when the catalogue has fewer. */
    texts: (count: number) => queriesOf(goods.documents, count).repeated,
    stop: () => started.disposeAsync(),
  };
}

async function startOrigin(folder: string, engine: ReplicaSetup['engine'], ttlSeconds: number) {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'config.json');
  await writeFile(file, serviceConfig({ engine, ttlSeconds, staleSeconds: 0, memory: '1MiB' }));
  const port = await freePort();
  const started = await startProcess({
    name: 'origin',
    command: process.execPath,
    args: [join(import.meta.dirname, 'origin-server.ts'), String(port), file, String(ttlSeconds)],
    cwd: folder,
    logFile: join(folder, 'origin.log'),
    ready: () => accepts(port),
  });
  return { url: `http://127.0.0.1:${port}`, pid: started.pid, stop: () => started.stop() };
}
