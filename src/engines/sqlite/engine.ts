import { type Engine, EngineError } from '../../search/engine.ts';
import { type OpenIndexOptions, openIndex } from './open-index.ts';
import { createPool } from './pool.ts';
import { startThread } from './thread.ts';

export interface SqliteEngineOptions extends OpenIndexOptions {
  /** Threads, and with it searches at work at once. More than the machine has cores only adds latency. */
  readonly workers: number;
  /** Searches that may wait for a thread. A permit stands before the engine, so this is a bound, not a queue. */
  readonly maxWaiting?: number;
  /** How long a thread may go on after its search was aborted, before it is ended and replaced (a replacement takes ~60 ms). */
  readonly abortGraceMs?: number;
  /** In [0, 1). */
  readonly random?: () => number;
  readonly observe?: (event: SqliteEvent) => void;
  /** The module each thread runs, where it is not worker.ts. */
  readonly program?: URL;
}

/** Raised when the same request may get another page: it is part of every key. */
export const SQLITE_REVISION = 1;

const WORKER = new URL('./worker.ts', import.meta.url);

/**
 * The embedded engine: a SQLite FTS5 index made by buildIndex, searched in worker threads.
 * @throws IndexError when the file is missing, no index, or built for other attributes.
 */
export async function createSqliteEngine(options: SqliteEngineOptions): Promise<Engine> {
  const { file, domain, snippetLength, workers, program = WORKER } = options;
  // Opened here once for the error: a thread could only say that it failed.
  openIndex({ file, domain, snippetLength }).close();
  const pool = createPool({
    start: () => startThread(program, { file, domain, snippetLength }),
    size: workers,
    maxWaiting: options.maxWaiting ?? 1024,
    abortGraceMs: options.abortGraceMs ?? 25,
    random: options.random ?? Math.random,
    observe: options.observe ?? (() => undefined),
  });
  try {
    await pool.ready;
  } catch (error) {
    await pool.close();
    throw error;
  }
  return {
    search: async (request, signal) => {
      const page = await pool.ask({ kind: 'search', request }, signal);
      if (page === undefined) throw new EngineError('engine-unavailable', 'a search worker sent no page');
      return page;
    },
    probe: async (signal) => {
      await pool.ask({ kind: 'probe' }, signal);
    },
    close: pool.close,
    abortEndsWork: true,
  };
}

/** What the worker threads of an index say happened, once; metrics, logs and tests read it. */
export type SqliteEvent =
  | { readonly kind: 'worker'; readonly state: 'ready' | 'ended' }
  /** It ended by itself or could not start; the next start is tried after `restartMs`. */
  | { readonly kind: 'worker'; readonly state: 'crashed'; readonly detail: string; readonly restartMs: number };

/**
 * - `missing`: no index file. `incompatible`: not an index, of another schema, or built for other attributes.
 * - `invalid-document`: a document that cannot be indexed; `row` counts from 1.
 * - `failed`: the file system refused, or the build was aborted.
 */
export type IndexErrorCode = 'missing' | 'incompatible' | 'invalid-document' | 'failed';

/** An index that cannot be opened or built. The message names the file and says what to do. */
export class IndexError extends Error {
  override readonly name = 'IndexError';
  readonly code: IndexErrorCode;
  readonly file: string;
  /** Which document, counted from 1, for `invalid-document`. */
  readonly row: number | undefined;

  constructor(code: IndexErrorCode, file: string, message: string, options?: ErrorOptions & { readonly row?: number }) {
    super(message, options);
    this.code = code;
    this.file = file;
    this.row = options?.row;
  }
}
