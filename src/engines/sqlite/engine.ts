import { extname } from 'node:path';
import type { Engine, IndexChange, ResultPage } from '../../search/engine.ts';
import { type OpenIndexOptions, openIndex } from './open-index.ts';
import { createPool, type PoolOptions } from './pool.ts';

interface SqliteEngineOptions extends OpenIndexOptions, Partial<Omit<PoolOptions, 'index' | 'size'>> {
  /** Number of threads, which is the number of searches at once. More than the machine's cores only adds latency. */
  readonly workers: number;
  /** Wall time in milliseconds, the time of an update. */
  readonly wallMs?: () => number;
}

/** Part of every key. Raise it when the same request may get a different page. */
export const SQLITE_REVISION = 3;

/** A worker thread runs the file beside this one: `.ts` in a clone, `.js` in a package. */
const WORKER = new URL(`./worker${extname(import.meta.filename)}`, import.meta.url);

/**
 * The embedded engine: a SQLite FTS5 index made by buildIndex, searched in worker threads, updated in another one.
 * @throws IndexError when the file is missing, is no index, or was built for other attributes.
 */
export async function createSqliteEngine(options: SqliteEngineOptions): Promise<Engine> {
  const { file, domain, snippetLength, workers, program = WORKER, wallMs = Date.now } = options;
  // The index is opened here once for a precise error: a thread could only report that it failed.
  openIndex({ file, domain, snippetLength }).close();
  const pooled: PoolOptions = {
    program,
    index: { file, domain, snippetLength },
    size: workers,
    maxWaiting: options.maxWaiting ?? 1024,
    // To end and replace a thread takes about 60 ms.
    abortGraceMs: options.abortGraceMs ?? 25,
    random: options.random ?? Math.random,
    observe: options.observe ?? (() => undefined),
    onReplaced: options.onReplaced ?? (() => undefined),
  };
  const pool = createPool(pooled);
  let writer: typeof pool | undefined;
  let isClosed = false;
  try {
    await pool.ready;
  } catch (error) {
    await pool.close();
    throw error;
  }
  return {
    search: async (request, signal) => (await pool.ask({ kind: 'search', request }, signal)) as ResultPage,
    probe: async (signal) => {
      await pool.ask({ kind: 'probe' }, signal);
    },
    update: async (updates, signal) => {
      // Most engines are never updated, and need no such thread.
      writer ??= isClosed ? pool : createPool({ ...pooled, size: 1, onReplaced: () => undefined });
      writer.ready.catch(() => undefined);
      return (await writer.ask({ kind: 'update', updates, atMs: wallMs() }, signal)) as readonly IndexChange[];
    },
    close: async () => {
      isClosed = true;
      await Promise.all([pool.close(), writer?.close()]);
    },
    abortEndsWork: true,
  };
}
