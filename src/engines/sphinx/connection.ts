import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createConnection, type Connection as Driver, type ConnectionOptions as DriverOptions } from 'mysql2';
import type { EngineTlsSettings } from '../../config/settings.ts';
import { SearchError } from '../../resilience/search-error.ts';
import { readAs } from '../../runtime.ts';
import { engineErrorOf } from './errors.ts';
import { createPacketReader, type PacketReader } from './packets.ts';

/** Every column as text: a 64-bit integer never becomes a JavaScript number, and characters of 4 bytes stay whole. */
export type Row = readonly (string | null)[];

export type ResultSets = readonly (readonly Row[])[];

/** One connection to searchd. Statements are sent one after another. */
export interface Connection {
  readonly version: string;
  /** @throws SearchError. After any error but `engine-rejected` the connection is closed. */
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
  /** From the first packet to a connection that takes statements: a stopped searchd accepts and sends nothing. */
  readonly connectTimeoutMs: number;
  /** Called once, after the connection has ended for any reason. */
  readonly onClose: (end: ConnectionEnd) => void;
}

export interface ConnectionEnd {
  readonly detail: string;
  /** The server ended it, or did not greet in time: it may be about to end, or hang. */
  readonly isLoss: boolean;
}

/**
 * Makes text attributes compare without case, and with ё as е, like the canonical form. Sent on every connection, so that
 * it does not depend on the configuration of searchd.
 */
const COLLATION = 'SET collation_connection=utf8_general_ci';

/** @throws SearchError `engine-unavailable`, `engine-overloaded` when searchd has no connection left, `engine-timeout` on abort. */
export function openConnection(options: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
  return new Promise((resolve, reject) => {
    // Our own socket: only destroying it ends a query at once; mysql2's destroy() waits for the reply.
    const socket = connect({ host: options.host, port: options.port, noDelay: true, keepAlive: true });
    const upgraded = options.tls?.mode === 'mysql' ? upgrade(options, options.tls) : undefined;
    const driver = createConnection({
      stream: options.tls?.mode === 'tunnel' ? tunnel(options, options.tls, socket) : socket,
      ...upgraded,
      user: options.user,
      password: options.password,
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
    /** Rejects the statements in flight: the driver drops one without a word when a reply is out of order. */
    const inFlight = new Set<(error: SearchError) => void>();
    const end = (how: { readonly error?: unknown; readonly isOurs?: boolean } = {}): void => {
      if (!open) return;
      open = false;
      socket.destroy();
      settle();
      const error = how.error === undefined ? lost('the connection closed') : engineErrorOf(how.error);
      reject(error);
      for (const fail of inFlight) fail(error);
      const isLoss = how.isOurs !== true && error.reason !== 'engine-overloaded';
      // Outside of the driver, which catches what its listeners throw and takes it for a fault of the reply.
      queueMicrotask(() => options.onClose({ detail: how.error === undefined ? 'closed' : error.message, isLoss }));
    };
    // These listeners stay: an unhandled 'error' would end the process.
    driver.on('error', (error) => end({ error }));
    driver.on('end', () => end());
    socket.on('close', () => end());
    socket.on('error', (error) => end({ error }));
    const reader = readPackets(driver, { isOpen: () => open, onFault: (error) => end({ error }) });

    const abort = (): void =>
      end({ error: new SearchError('engine-timeout', 'no connection before the hard deadline') });
    const timer = setTimeout(
      () => end({ error: lost(`no connection within ${options.connectTimeoutMs} ms`) }),
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
        inFlight.add(rejectSent);
        reader.expectReply();
        driver.query({ sql }, (error: unknown, rows: unknown) => {
          inFlight.delete(rejectSent);
          if (error) {
            const known = engineErrorOf(error);
            if (known.reason !== 'engine-rejected') end({ error: known });
            rejectSent(known);
          } else resolveSent(setsOf(rows));
        });
      });

    driver.once('connect', (greeting: { readonly serverVersion?: string }) => {
      send(COLLATION).then(
        () => {
          settle();
          resolve({
            version: greeting.serverVersion ?? '',
            send,
            destroy: () => end({ isOurs: true }),
            isOpen: () => open,
          });
        },
        (error: unknown) => end({ error }),
      );
    });
  });
}

/** The entrance of mysql2: every byte, after TLS too, goes through the first. Its types do not name these members. */
interface DriverEntrance {
  packetParser: { execute: (bytes: Buffer) => void };
  readonly sequenceId: number;
}

/**
 * Puts the reader of packets before the driver. Whatever the driver throws over a packet becomes the end of this
 * connection; a fault of the reader itself stays one.
 */
function readPackets(
  driver: Driver,
  { isOpen, onFault }: { readonly isOpen: () => boolean; readonly onFault: (error: unknown) => void },
): PacketReader {
  const entrance = driver as Driver & DriverEntrance;
  const parser = entrance.packetParser;
  const reader = createPacketReader({
    sequence: () => entrance.sequenceId,
    isOpen,
    pass: (packet) => readAs(onFault, () => parser.execute(packet)),
  });
  entrance.packetParser = {
    execute: (bytes) => {
      const fault = reader.receive(bytes);
      if (fault !== undefined) onFault(lost(`a damaged reply: ${fault}`));
    },
  };
  return reader;
}

/** TLS first, SphinxQL inside it. */
function tunnel({ host }: ConnectionOptions, tls: EngineTlsSettings, socket: Socket): TLSSocket {
  const servername = tls.serverName ?? (isIP(host) === 0 ? host : undefined);
  // Without a name the address itself must be in the certificate.
  return connectTls({ ...certificatesOf(tls), socket, host, servername });
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
  return { ca, cert, key, minVersion: 'TLSv1.2' as const };
}

/** mysql2 returns a single set as it is, several sets as a list, and an object for a statement without rows, which is no set. */
function setsOf(rows: unknown): ResultSets {
  if (!Array.isArray(rows)) return [];
  const [first] = rows;
  // A row has at least one column, and a column is no list.
  const isSingle = first === undefined || (Array.isArray(first) && first.length > 0 && !Array.isArray(first[0]));
  return (isSingle ? [rows] : rows).filter((set): set is readonly Row[] => Array.isArray(set));
}

function lost(message: string): SearchError {
  return new SearchError('engine-unavailable', message);
}
