import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createConnection, type ConnectionOptions as DriverOptions } from 'mysql2';
import type { EngineTlsSettings } from '../../config/settings.ts';
import { EngineError } from '../../search/engine.ts';
import type { SphinxEvent } from './engine.ts';
import { classify } from './errors.ts';
import type { ResultSets, Row } from './reply.ts';

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

/** One connection to searchd. It runs one statement at a time; who owns it sees to that. */
export interface Connection {
  /** @throws EngineError. After any error but `engine-rejected` the connection is over. */
  readonly send: (sql: string) => Promise<ResultSets>;
  /** At once, whatever is under way: what was sent rejects with `engine-unavailable`. */
  readonly destroy: () => void;
  /** False once either side has closed it. */
  readonly isOpen: () => boolean;
}

export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly user?: string;
  readonly password?: string;
  /** Absent: plain text. With it nothing but the greeting is ever plain, whatever the server offers. */
  readonly tls?: EngineTlsSettings;
  /** From the first packet to a connection that takes statements; a stopped searchd accepts and says nothing. */
  readonly connectTimeoutMs: number;
  /** Once, when it is over, for whatever reason. */
  readonly onClose: (detail: string) => void;
}

/**
 * Text attributes then compare without case, and with ё as е, as the canonical form has it. Part of the connection, so
 * that it does not depend on how somebody's searchd is configured.
 */
const COLLATION = 'SET collation_connection=utf8_general_ci';

/** @throws EngineError `engine-unavailable`, `engine-overloaded` when searchd has no connection left, `engine-timeout` on abort. */
export function openConnection(options: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
  return new Promise((resolve, reject) => {
    // Our own socket: destroying it is the only way to end a query at once, mysql2's destroy() waits for the reply.
    const socket = connect({ host: options.host, port: options.port, noDelay: true, keepAlive: true });
    const driver = createConnection({
      ...(options.tls?.mode === 'tunnel' ? { stream: tunnel(options, options.tls, socket) } : { stream: socket }),
      ...(options.tls?.mode === 'mysql' && upgrade(options, options.tls)),
      ...(options.user === undefined ? {} : { user: options.user }),
      ...(options.password === undefined ? {} : { password: options.password }),
      connectTimeout: 0,
      // Without a database there is nothing to name: Manticore refuses the empty name that mysql2 sends (errno 1046).
      flags: ['-CONNECT_WITH_DB'],
      multipleStatements: true,
      rowsAsArray: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      // Every column as its UTF-8 text. searchd announces charset 33, which mysql2 decodes as CESU-8 and so breaks all
      // characters of four bytes; and a bigint must not become a number on its way.
      typeCast: (field) => field.buffer()?.toString('utf8') ?? null,
      // Statements are complete; a `?` in somebody's text is no placeholder.
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
    // Both stay for the life of the connection: an unhandled 'error' would end the process.
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
        // A statement of no bytes crashes searchd 2.2.11; this is the only place that sends any.
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

    driver.once('connect', () => {
      send(COLLATION).then(() => {
        settle();
        resolve({ send, destroy: () => end(), isOpen: () => open });
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

/** TLS after searchd's greeting and before the account. A server without it is an error of the driver's. */
function upgrade({ host }: ConnectionOptions, tls: EngineTlsSettings): Pick<DriverOptions, 'host' | 'ssl'> {
  return {
    // The driver takes the name that it expects in the certificate from here; it dials nobody, the stream is ours.
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

/** mysql2 gives one set alone, several in a list; a statement without rows gives an object. */
function setsOf(rows: unknown): ResultSets {
  if (!Array.isArray(rows)) return [];
  return rows.map((set): readonly Row[] => (Array.isArray(set) ? set : []));
}

function lost(message: string): EngineError {
  return new EngineError('engine-unavailable', message);
}
