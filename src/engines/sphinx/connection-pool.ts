import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createConnection, type ConnectionOptions as DriverOptions } from 'mysql2';
import type { EngineTlsSettings } from '../../config/settings.ts';
import { EngineError } from '../../search/engine.ts';
import { classify } from './errors.ts';

/**
 * One row, every column as text: a 64-bit integer never becomes a JavaScript number, and a 4-byte character is decoded
 * correctly.
 */
export type Row = readonly (string | null)[];

export type ResultSets = readonly (readonly Row[])[];

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
  /** @throws EngineError; `engine-timeout` as soon as `signal` aborts. */
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
  /** Number of connections that are open or being opened. */
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
      for (const wake of [...waiting]) wake();
    },
  };
}

function timeout(): EngineError {
  return new EngineError('engine-timeout', 'no reply before the hard deadline');
}

/** One connection to searchd. The owner sends one statement at a time. */
export interface Connection {
  /** Version of the server, from its greeting. */
  readonly version: string;
  /** @throws EngineError. After any error but `engine-rejected` the connection is closed. */
  readonly send: (sql: string) => Promise<ResultSets>;
  /** Closes at once: a statement in flight rejects with `engine-unavailable`. */
  readonly destroy: () => void;
  /** False once either side has closed it. */
  readonly isOpen: () => boolean;
}

export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  /** Manticore only; searchd 2.2.11 has no accounts. */
  readonly user?: string;
  readonly password?: string;
  /** Absent: plain text. With it only the greeting is ever plain text, whatever the server offers. */
  readonly tls?: EngineTlsSettings;
  /**
   * Maximum time from the first packet to a connection that takes statements. A stopped searchd accepts connections and
   * sends nothing.
   */
  readonly connectTimeoutMs: number;
  /** Called once, when the connection has ended for any reason. */
  readonly onClose: (detail: string) => void;
}

/**
 * Makes text attributes compare without case, and with ё as е, like the canonical form. Sent on every connection, so that
 * it does not depend on the configuration of searchd.
 */
const COLLATION = 'SET collation_connection=utf8_general_ci';

/** @throws EngineError `engine-unavailable`, `engine-overloaded` when searchd has no connection left, `engine-timeout` on abort. */
export function openConnection(options: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
  return new Promise((resolve, reject) => {
    // Our own socket: only destroying it ends a query at once; mysql2's destroy() waits for the reply.
    const socket = connect({ host: options.host, port: options.port, noDelay: true, keepAlive: true });
    const driver = createConnection({
      ...(options.tls?.mode === 'tunnel' ? { stream: tunnel(options, options.tls, socket) } : { stream: socket }),
      ...(options.tls?.mode === 'mysql' && upgrade(options, options.tls)),
      ...(options.user === undefined ? {} : { user: options.user }),
      ...(options.password === undefined ? {} : { password: options.password }),
      connectTimeout: 0,
      // mysql2 would send an empty database name, which Manticore refuses (errno 1046).
      flags: ['-CONNECT_WITH_DB'],
      multipleStatements: true,
      rowsAsArray: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      // Every column as its UTF-8 text. searchd announces charset 33, which mysql2 decodes as CESU-8 and so breaks every
      // character of four bytes. A bigint must not become a number either.
      typeCast: (field) => field.buffer()?.toString('utf8') ?? null,
      // Statements are complete; a `?` in a search text is no placeholder.
      queryFormat: (sql: string) => sql,
    });

    let open = true;
    let failure: Error | undefined;
    const end = (error?: Error): void => {
      failure ??= error;
      if (!open) return;
      open = false;
      socket.destroy();
      settle();
      reject(failure === undefined ? lost('the connection closed') : classify(failure));
      options.onClose(failure === undefined ? 'closed' : classify(failure).message);
    };
    // These listeners stay: an unhandled 'error' would end the process.
    driver.on('error', end);
    driver.on('end', () => end());
    socket.on('close', () => end());
    socket.on('error', end);

    const abort = (): void => end(new EngineError('engine-timeout', 'no connection before the hard deadline'));
    const timer = setTimeout(
      () => end(lost(`no connection within ${options.connectTimeoutMs} ms`)),
      options.connectTimeoutMs,
    );
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    signal.addEventListener('abort', abort, { once: true });

    const send = (sql: string): Promise<ResultSets> =>
      new Promise((resolveSent, rejectSent) => {
        // An empty statement crashes searchd 2.2.11. Only this function sends statements.
        if (sql.trim() === '') throw new Error('an empty statement must never be sent');
        if (!open) return rejectSent(lost('the connection is closed'));
        driver.query({ sql }, (error: unknown, rows: unknown) => {
          if (error) {
            const known = classify(failure ?? error);
            if (known.code !== 'engine-rejected') end(known);
            rejectSent(known);
          } else resolveSent(setsOf(rows));
        });
      });

    driver.once('connect', (greeting: { readonly serverVersion?: string }) => {
      send(COLLATION).then(() => {
        settle();
        resolve({ version: greeting.serverVersion ?? '', send, destroy: () => end(), isOpen: () => open });
      }, end);
    });
  });
}

/** TLS first, SphinxQL inside it. */
function tunnel({ host }: ConnectionOptions, tls: EngineTlsSettings, socket: Socket): TLSSocket {
  const servername = tls.serverName ?? (isIP(host) === 0 ? host : undefined);
  // Without a name the address itself must be in the certificate.
  return connectTls({ ...certificatesOf(tls), socket, host, ...(servername !== undefined && { servername }) });
}

/** TLS after searchd's greeting and before the account is sent. A server without TLS is an error of the driver. */
function upgrade({ host }: ConnectionOptions, tls: EngineTlsSettings): Pick<DriverOptions, 'host' | 'ssl'> {
  return {
    // The driver expects this name in the certificate. It opens no connection: the stream is ours.
    host: tls.serverName ?? host,
    ssl: { ...certificatesOf(tls), rejectUnauthorized: true, verifyIdentity: true },
  };
}

function certificatesOf({ ca, cert, key }: EngineTlsSettings) {
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    minVersion: 'TLSv1.2' as const,
  };
}

/** mysql2 returns a single set as it is, several sets as a list, and an object for a statement without rows. */
function setsOf(rows: unknown): ResultSets {
  if (!Array.isArray(rows)) return [];
  const [first] = rows;
  // A row has at least one column, and a column is no list.
  const isSingle = first === undefined || (Array.isArray(first) && first.length > 0 && !Array.isArray(first[0]));
  return (isSingle ? [rows] : rows).map((set): readonly Row[] => (Array.isArray(set) ? set : []));
}

function lost(message: string): EngineError {
  return new EngineError('engine-unavailable', message);
}
