import { SearchError } from '../../resilience/search-error.ts';
import {
  type Connection,
  type ConnectionEnd,
  type ConnectionOptions,
  openConnection,
  type ResultSets,
} from './connection.ts';

/** `target` is `host:port/index`. */
export interface ConnectionEvent {
  readonly kind: 'connection';
  readonly target: string;
  /** `discarded`: closed during a query, which searchd does not stop. `failed`: never opened. */
  readonly state: 'open' | 'closed' | 'failed' | 'discarded';
  readonly detail?: string;
}

/**
 * A bounded set of connections. A concurrency limiter stands before it, so a connection is nearly always free. At most
 * `maxConnections` calls wait for one.
 */
export interface Connections {
  /** @throws SearchError; `engine-timeout` as soon as `signal` aborts. */
  readonly ask: (sql: string, signal: AbortSignal) => Promise<ResultSets>;
  readonly counts: () => { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Ends all connections; later asks are `engine-unavailable`. */
  readonly close: () => void;
}

interface ConnectionsOptions extends Omit<ConnectionOptions, 'onClose'> {
  readonly maxConnections: number;
  /** Below 300 s, after which searchd may close an idle connection. Each connection counts toward its max_children. */
  readonly idleMs: number;
  readonly target: string;
  readonly monotonicMs: () => number;
  readonly observe: (event: ConnectionEvent) => void;
}

export function createConnections(options: ConnectionsOptions): Connections {
  const { maxConnections, target, observe } = options;
  /**
   * The most recently used connection is last and is taken first, so that surplus connections stay idle and are closed.
   */
  const idle: { readonly connection: Connection; readonly timer: NodeJS.Timeout }[] = [];
  const all = new Set<Connection>();
  const waiting: (() => void)[] = [];
  const doubt = createDoubt({ monotonicMs: options.monotonicMs, onLate: () => wakeAll() });
  /** Number of connections that are open or being opened. */
  let held = 0;
  let closed = false;

  const wakeAll = (): void => {
    for (const wake of [...waiting]) wake();
  };

  const forget = (): void => {
    held -= 1;
    waiting.shift()?.();
  };

  const open = async (signal: AbortSignal): Promise<Connection> => {
    held += 1;
    let connection: Connection | undefined;
    const onClose = ({ detail, isLoss }: ConnectionEnd): void => {
      const at = idle.findIndex((entry) => entry.connection === connection);
      if (at >= 0) clearTimeout(idle.splice(at, 1)[0]?.timer);
      if (connection !== undefined) all.delete(connection);
      observe({ kind: 'connection', target, state: connection === undefined ? 'failed' : 'closed', detail });
      if (isLoss) doubt.begin();
      forget();
    };
    connection = await openConnection({ ...options, onClose }, signal);
    doubt.end();
    all.add(connection);
    observe({ kind: 'connection', target, state: 'open' });
    if (closed) connection.destroy();
    return connection;
  };

  const take = async (signal: AbortSignal): Promise<Connection> => {
    for (;;) {
      if (closed) throw new SearchError('engine-unavailable', 'the engine is closed');
      if (signal.aborted) throw timeout();
      const entry = idle.pop();
      if (entry !== undefined) {
        clearTimeout(entry.timer);
        if (entry.connection.isOpen()) return entry.connection;
        continue;
      }
      if (doubt.isLate()) throw noGreeting();
      if (held < maxConnections) return doubt.orLeave({ open, signal, giveBack });
      if (waiting.length >= maxConnections) {
        throw new SearchError('engine-overloaded', `all ${maxConnections} connections are busy, and so is their queue`);
      }
      await wait(signal);
    }
  };

  /** Waits until a connection may be idle or may be opened, or the signal aborts. */
  const wait = (signal: AbortSignal): Promise<void> =>
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
    // searchd goes on with an aborted query and would delay the next one: such a connection is never used again.
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
      wakeAll();
    },
  };
}

/**
 * Wait for a connection to a server in doubt, as a multiple of the time that the last one took, and its bounds. A searchd that
 * is well and near opens one within a few milliseconds; one that is far, or a busy machine, takes longer every time.
 */
const DOUBTED = { timesUsual: 4, leastMs: 25, mostMs: 250 };
/** Time that an attempt has after its caller has left. The server may have lost it, and would greet a new one. */
const LEFT_MS = 2000;

/**
 * Doubt begins when the server ends a connection or lets one wait for its greeting, and ends with the next one that opens.
 * A searchd that was told to end (SIGTERM) closes each connection at its next statement, but goes on listening until the
 * last client has left, for three seconds at most: a new connection is accepted and never greeted. Its caller does not
 * wait for it, nor do others; the attempt goes on for a while and shows that the server is back.
 */
function createDoubt({ monotonicMs, onLate }: { readonly monotonicMs: () => number; readonly onLate: () => void }) {
  const attempts = new Set<() => void>();
  let doubted = false;
  /** Time that the last connection took to open. */
  let usualMs = 0;
  /** Number of attempts that their callers have left. */
  let late = 0;

  return {
    begin: (): void => {
      doubted = true;
      for (const hurry of attempts) hurry();
    },
    end: (): void => {
      doubted = false;
    },
    /** A caller has left an attempt, which has not ended: a further one would wait like it. */
    isLate: (): boolean => doubted && late > 0,
    /** Opens a connection. Its caller leaves while the server is in doubt; `giveBack` then gets the connection. */
    orLeave: ({ open, signal, giveBack }: Attempt): Promise<Connection> =>
      new Promise((resolve, reject) => {
        const ends = new AbortController();
        let timer: NodeJS.Timeout | undefined;
        let turn: NodeJS.Immediate | undefined;
        let isLate = false;
        const leave = (): void => {
          timer = undefined;
          if (!doubted) return;
          isLate = true;
          late += 1;
          timer = setTimeout(() => ends.abort(), LEFT_MS);
          reject(noGreeting());
          onLate();
        };
        const hurry = (): void => {
          if (isLate) return;
          // One more turn: after a blocked event loop the greeting may be in the socket already.
          const waitMs = Math.min(DOUBTED.mostMs, Math.max(DOUBTED.leastMs, DOUBTED.timesUsual * usualMs));
          timer ??= setTimeout(() => {
            turn = setImmediate(leave);
          }, waitMs);
        };
        const sinceMs = monotonicMs();
        const settle = (): void => {
          attempts.delete(hurry);
          clearTimeout(timer);
          clearImmediate(turn);
          if (isLate) late -= 1;
        };
        attempts.add(hurry);
        if (doubted) hurry();
        open(AbortSignal.any([signal, ends.signal])).then(
          (connection) => {
            settle();
            usualMs = monotonicMs() - sinceMs;
            if (isLate) giveBack(connection);
            else resolve(connection);
          },
          (error: unknown) => {
            settle();
            reject(error);
          },
        );
      }),
  };
}

interface Attempt {
  readonly open: (signal: AbortSignal) => Promise<Connection>;
  readonly signal: AbortSignal;
  readonly giveBack: (connection: Connection) => void;
}

function noGreeting(): SearchError {
  return new SearchError('engine-unavailable', 'the server ends or hangs: it accepts connections and does not greet');
}

function timeout(): SearchError {
  return new SearchError('engine-timeout', 'no reply before the hard deadline');
}
