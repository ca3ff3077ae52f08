import { EngineError } from '../../search/engine.ts';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import type { SphinxEvent } from './events.ts';
import type { ResultSets } from './reply.ts';

/**
 * A bounded set of connections. The permit stands before it, so that a connection is nearly always free; the few who
 * must wait do so in a queue as long as the set is large.
 */
export interface Connections {
  /** @throws EngineError; `engine-timeout` as soon as `signal` aborts. */
  readonly ask: (sql: string, signal: AbortSignal) => Promise<ResultSets>;
  readonly counts: () => { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Ends them all; later asks are `engine-unavailable`. */
  readonly close: () => void;
}

export interface ConnectionsOptions extends Omit<ConnectionOptions, 'onClose'> {
  readonly maxConnections: number;
  /** Below 300 s, when searchd may close it. Each idle connection counts toward its max_children. */
  readonly idleMs: number;
  readonly target: string;
  readonly observe: (event: SphinxEvent) => void;
}

export function createConnections(options: ConnectionsOptions): Connections {
  const { maxConnections, target, observe } = options;
  /** Most recently used last, and taken from there, so that surplus ones grow old and are closed. */
  const idle: { readonly connection: Connection; readonly timer: NodeJS.Timeout }[] = [];
  const all = new Set<Connection>();
  const waiting: (() => void)[] = [];
  /** Open ones and those being opened. */
  let held = 0;
  let closed = false;

  const forget = (): void => {
    held -= 1;
    waiting.shift()?.();
  };

  const open = async (signal: AbortSignal): Promise<Connection> => {
    held += 1;
    let connection: Connection | undefined;
    const onClose = (detail: string): void => {
      const at = idle.findIndex((entry) => entry.connection === connection);
      if (at >= 0) clearTimeout(idle.splice(at, 1)[0]?.timer);
      if (connection !== undefined) all.delete(connection);
      observe({ kind: 'connection', target, state: connection === undefined ? 'failed' : 'closed', detail });
      forget();
    };
    connection = await openConnection({ ...options, onClose }, signal);
    all.add(connection);
    observe({ kind: 'connection', target, state: 'open' });
    if (closed) connection.destroy();
    return connection;
  };

  const take = async (signal: AbortSignal): Promise<Connection> => {
    for (;;) {
      if (closed) throw new EngineError('engine-unavailable', 'the engine is closed');
      if (signal.aborted) throw timeout();
      const entry = idle.pop();
      if (entry !== undefined) {
        clearTimeout(entry.timer);
        return entry.connection;
      }
      if (held < maxConnections) return open(signal);
      if (waiting.length >= maxConnections) {
        throw new EngineError('engine-overloaded', `all ${maxConnections} connections are busy, and so is their queue`);
      }
      await turn(signal);
    }
  };

  /** Until a connection or a place for one may be free, or the signal aborts. */
  const turn = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        const at = waiting.indexOf(wake);
        if (at >= 0) waiting.splice(at, 1);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.push(wake);
      signal.addEventListener('abort', wake, { once: true });
    });

  const giveBack = (connection: Connection): void => {
    if (!connection.isOpen()) return;
    if (closed) {
      connection.destroy();
      return;
    }
    const timer = setTimeout(() => connection.destroy(), options.idleMs);
    timer.unref();
    idle.push({ connection, timer });
    waiting.shift()?.();
  };

  const ask = async (sql: string, signal: AbortSignal): Promise<ResultSets> => {
    const connection = await take(signal);
    if (signal.aborted) {
      giveBack(connection);
      throw timeout();
    }
    // searchd goes on with an aborted query and would answer the next one late: such a connection is never used again.
    let aborted = false;
    const abort = (): void => {
      aborted = true;
      observe({ kind: 'connection', target, state: 'discarded' });
      connection.destroy();
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await connection.send(sql);
    } catch (error) {
      throw aborted ? timeout() : error;
    } finally {
      signal.removeEventListener('abort', abort);
      giveBack(connection);
    }
  };

  return {
    ask,
    counts: () => ({ open: all.size, idle: idle.length, waiting: waiting.length }),
    close: () => {
      closed = true;
      for (const connection of all) connection.destroy();
      for (const wake of [...waiting]) wake();
    },
  };
}

function timeout(): EngineError {
  return new EngineError('engine-timeout', 'no reply before the hard deadline');
}
