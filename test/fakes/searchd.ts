import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createPacketFramer } from '../../loadtest/fault-proxy/mysql-framing.ts';

const MORE_RESULTS = 0x0008;

const text = (value: string | null): Buffer => {
  if (value === null) return Buffer.of(0xfb);
  const bytes = Buffer.from(value);
  const length = bytes.length < 0xfb ? Buffer.of(bytes.length) : Buffer.of(0xfc, bytes.length & 255, bytes.length >> 8);
  return Buffer.concat([length, bytes]);
};

/** One packet, header included. */
export function packet(sequence: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUIntLE(payload.length, 0, 3);
  header[3] = sequence & 255;
  return Buffer.concat([header, payload]);
}

/** Payloads as searchd writes them. */
export const GREETING = Buffer.concat([
  Buffer.from('\x0a2.2.11\0\x01\0\0\0saltsalt\0', 'latin1'),
  // Capabilities, character set, status, the length of the salt, the rest of the salt.
  Buffer.from([0x08, 0x82, 33, 2, 0, 8, 0, 21, ...Array(10).fill(0)]),
  Buffer.from('saltsaltsalt\0mysql_native_password\0', 'latin1'),
]);
export const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0]);
export const eof = (more = false): Buffer => Buffer.from([0xfe, 0, 0, more ? MORE_RESULTS : 0, 0]);
export const errorOf = (errno: number, message: string): Buffer =>
  Buffer.concat([Buffer.from([0xff, errno & 255, errno >> 8]), Buffer.from(`#42000${message}\0`)]);
export const columnOf = (name: string): Buffer =>
  Buffer.concat([
    ...['def', '', '', '', name, name].map(text),
    Buffer.from([0x0c, 0x21, 0, 0xff, 0, 0, 0, 0xfe, 0, 0, 0, 0, 0]),
  ]);
export const rowOf = (row: readonly (string | null)[]): Buffer => Buffer.concat(row.map(text));

export interface FakeSet {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** The payloads of the reply to one statement. */
export function payloadsOf(sets: readonly FakeSet[]): readonly Buffer[] {
  return sets.flatMap(({ columns, rows }, at) => [
    Buffer.of(columns.length),
    ...columns.map(columnOf),
    eof(),
    ...rows.map(rowOf),
    eof(at < sets.length - 1),
  ]);
}

/** Payloads as the packets of one reply. */
export function reply(...payloads: readonly Buffer[]): Buffer {
  return Buffer.concat(payloads.map((payload, at) => packet(at + 1, payload)));
}

export interface FakeSearchdOptions {
  /** The bytes after a connect; by default the greeting. Undefined: none, here and below; `socket` is for later. */
  readonly greet?: (socket: Socket) => Buffer | undefined;
  /** The bytes after the login. */
  readonly welcome?: (socket: Socket) => Buffer | undefined;
  /** The bytes after a statement, except those that every connection begins with. */
  readonly answer?: (sql: string, socket: Socket) => Buffer | undefined;
}

export type FakeSearchd = Awaited<ReturnType<typeof startFakeSearchd>>;

/** A server whose replies are chosen by the test, byte for byte. */
export async function startFakeSearchd(options: FakeSearchdOptions = {}) {
  const { greet = () => packet(0, GREETING), welcome = () => packet(2, OK), answer = () => reply(OK) } = options;
  const sockets = new Set<Socket>();
  const asked: string[] = [];
  let accepted = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    const packetsOf = createPacketFramer();
    const write = (bytes: Buffer | undefined): void => {
      if (bytes !== undefined && socket.writable) socket.write(bytes);
    };
    accepted += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    write(greet(socket));
    socket.on('data', (data: Buffer) => {
      for (const { sequence, payload } of packetsOf(data)) {
        if (sequence !== 0) write(welcome(socket));
        else if (payload[0] === 0x03) {
          const sql = payload.toString('utf8', 1);
          asked.push(sql);
          write(sql.startsWith('SET ') ? reply(OK) : answer(sql, socket));
        }
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    /** Statements so far. */
    asked: (): readonly string[] => asked,
    /** Number of connections accepted so far. */
    accepted: () => accepted,
    /** The connections that are open, the oldest first. */
    sockets: (): readonly Socket[] => [...sockets],
    stop: (): void => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
