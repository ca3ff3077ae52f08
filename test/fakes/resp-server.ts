import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { commandOf, createRespFramer } from '../../loadtest/fault-proxy/resp-proxy.ts';

/** A command in upper case, its arguments as they came. */
export type RespCommand = readonly string[];

/** The bytes of a reply; undefined sends nothing. */
export type RespAnswer = (command: RespCommand) => string | Buffer | undefined;

export type RespServer = Awaited<ReturnType<typeof startRespServer>>;

/**
 * One server that is a standalone Redis, the only master of a cluster, and a sentinel whose master it is, and that sends
 * whatever `answer` says instead. For the replies that no real server sends.
 */
export async function startRespServer(stored: ReadonlyMap<string, Buffer> = new Map()) {
  const sockets = new Set<Socket>();
  let opened = 0;
  let answer: RespAnswer = () => undefined;
  let isSilent = false;

  const server = createServer((socket) => {
    const framer = createRespFramer();
    opened += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      const replies = framer.push(chunk).map((value) => {
        const [name = '', ...args] = commandOf(value).map(String);
        const command = [name.toUpperCase(), ...args];
        return answer(command) ?? (isSilent ? '' : healthyReply(command, port, stored));
      });
      socket.write(Buffer.concat(replies.map((reply) => Buffer.from(reply))));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  return {
    host: '127.0.0.1',
    port,
    /** Called for each command; a command that it gives nothing for gets the healthy reply, or none with `silent`. */
    answer: (next: RespAnswer = () => undefined, { silent = false } = {}): void => {
      answer = next;
      isSilent = silent;
    },
    /** Sends bytes that nobody asked for to every connection. */
    send: (bytes: string | Buffer): void => {
      for (const socket of sockets) socket.write(bytes);
    },
    /** Connections since the start. */
    opened: () => opened,
    stop: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const bulk = (text: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`$${Buffer.byteLength(text)}\r\n`), Buffer.from(text), Buffer.from('\r\n')]);

const INFO = ['# Server', 'redis_version:7.0.15', 'redis_mode:standalone', 'role:master', 'loading:0', ''].join('\r\n');

/** The reply of a healthy server to a command of a store. */
export function healthyReply(
  [name = '', ...args]: RespCommand,
  port: number,
  stored: ReadonlyMap<string, Buffer>,
): string | Buffer {
  switch (name) {
    case 'INFO':
      return bulk(INFO);
    case 'PING':
      return '+PONG\r\n';
    case 'CLUSTER':
      return Buffer.concat([
        Buffer.from('*1\r\n*3\r\n:0\r\n:16383\r\n*4\r\n'),
        ...[bulk('127.0.0.1'), Buffer.from(`:${port}\r\n`), bulk('a'.repeat(40)), Buffer.from('*0\r\n')],
      ]);
    case 'SENTINEL':
      if (args[0] !== 'get-master-addr-by-name') return '*0\r\n';
      return Buffer.concat([Buffer.from('*2\r\n'), bulk('127.0.0.1'), bulk(String(port))]);
    case 'GET': {
      const value = stored.get(args[0] ?? '');
      return value === undefined ? '$-1\r\n' : bulk(value);
    }
    case 'SCAN':
      return '*2\r\n$1\r\n0\r\n*0\r\n';
    case 'EVAL':
      return '*1\r\n$1\r\na\r\n';
    case 'STRLEN':
    case 'DBSIZE':
      return ':1\r\n';
    case 'CLIENT':
    case 'SET':
    case 'SELECT':
    case 'READONLY':
      return '+OK\r\n';
    default:
      return '-ERR unknown command\r\n';
  }
}
