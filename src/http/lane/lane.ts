import type { Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { BufferBudget } from '../transport/buffer-budget.ts';
import type { ReadHead, SearchHead } from './head.ts';

/** Answers the searches whose heads the lane has read. Answers are whole: status line, fields and body. */
export interface LaneSearch {
  /** The answer, when it can be given at once. Its bytes may change with the next call. */
  readonly atOnce: (head: SearchHead, socket: Socket) => Buffer | undefined;
  /** The socket still reads the bytes of the last answer: they must not change any more. */
  readonly keep: () => void;
  /** Answers later, when `atOnce` could not. Never rejects. */
  readonly later: (head: SearchHead, socket: Socket) => Promise<Buffer>;
}

interface LaneOptions {
  readonly server: Server;
  readonly readHead: ReadHead;
  readonly search: LaneSearch;
  /** While true, every connection is left to Node, which says `Connection: close`. */
  readonly closesConnections: () => boolean;
  readonly monotonicMs: () => number;
  readonly buffers: Pick<BufferBudget, 'hold' | 'release'>;
}

export interface Lane {
  /** Closes the connections without a request. */
  readonly closeIdle: () => void;
  /** Connections now in the lane, and how many have left it. */
  readonly counts: () => { readonly open: number; readonly left: number };
}

const SWEEP_MS = 1000;
/** Node allows a client this much more than it says in `Keep-Alive`. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/**
 * Serves searches in front of Node's HTTP parser, on the connections of the same server. A connection stays in the lane as
 * long as its bytes are whole heads that `readHead` understands. Any other bytes, unread, are given to Node together with
 * the connection, once and for good, between two answers.
 */
export function createLane({ server, readHead, search, closesConnections, monotonicMs, buffers }: LaneOptions): Lane {
  const [toNode] = server.listeners('connection') as [(this: Server, connection: Duplex) => void];
  server.removeListener('connection', toNode);
  const connections = new Set<LaneConnection>();
  let left = 0;

  server.on('connection', (connection: Duplex) => {
    // Only a socket of the listener has no bytes before it; client-error.ts connects streams in memory.
    if (connection instanceof Socket && !closesConnections()) enter(connection);
    else toNode.call(server, connection);
  });

  const enter = (socket: Socket): void => {
    /** Something to do for this connection is under way: an answer that comes later. */
    let isPending = false;
    /** The time and the bytes of the last change, for the timeouts. */
    let [spoke, changedMs, changedBytes] = [false, monotonicMs(), 0];
    /** Bytes that came while an answer was pending. */
    let waiting: Buffer | undefined;

    const write = (answer: Buffer): void => {
      socket.write(answer);
      const bytes = socket.writableLength;
      if (bytes === 0) return;
      search.keep();
      buffers.hold(socket, bytes);
      // Called when the bytes before it were sent.
      socket.write(NOTHING, () => buffers.release(socket, bytes));
      if (socket.writableNeedDrain) {
        socket.pause();
        socket.once('drain', () => isPending || socket.resume());
      }
    };

    const leave = (unread: Buffer): void => {
      connections.delete(own);
      left += 1;
      socket.off('data', receive).off('end', end).off('error', fail).off('close', forget);
      toNode.call(server, socket);
      if (unread.length > 0) socket.unshift(unread);
      socket.resume();
    };

    /** Answers all heads in the bytes, with one write. */
    const serve = (bytes: Buffer): void => {
      const answers: Buffer[] = [];
      const flush = (): void => {
        if (answers.length > 0) write(Buffer.concat(answers.splice(0)));
      };
      for (let from = 0; from < bytes.length; ) {
        const head = closesConnections() ? undefined : readHead(bytes, from);
        const answer = head && search.atOnce(head, socket);
        if (head === undefined || answer === undefined) {
          flush();
          // Node answers several requests of one connection side by side.
          if (head === undefined || head.end < bytes.length) return leave(bytes.subarray(from));
          return serveLater(head);
        }
        if (from === 0 && head.end === bytes.length) return write(answer);
        from = head.end;
        answers.push(Buffer.from(answer));
      }
      flush();
    };

    const serveLater = (head: SearchHead): void => {
      isPending = true;
      void search.later(head, socket).then((answer) => {
        isPending = false;
        changedMs = monotonicMs();
        if (socket.destroyed) return;
        write(answer);
        const next = waiting;
        waiting = undefined;
        if (next !== undefined) serve(next);
        if (!isPending && !socket.writableNeedDrain) socket.resume();
      });
    };

    const receive = (bytes: Buffer): void => {
      spoke = true;
      changedMs = monotonicMs();
      if (!isPending) return serve(bytes);
      // At most what the socket reads at once: nothing more is read until the answer was written.
      socket.pause();
      waiting = waiting === undefined ? bytes : Buffer.concat([waiting, bytes]);
    };
    // As Node does: a client that ends its side gets no further answer.
    const end = (): void => void socket.end();
    const fail = (): void => void socket.destroy();
    const forget = (): void => void connections.delete(own);

    const own: LaneConnection = {
      isIdle: () => !isPending && socket.writableLength === 0,
      close: () => socket.destroy(),
      sweep: (nowMs) => {
        const bytes = socket.bytesWritten - socket.writableLength;
        if (bytes !== changedBytes) [changedBytes, changedMs] = [bytes, nowMs];
        const silentMs = nowMs - changedMs;
        if (isPending) return;
        if (!spoke && silentMs > Math.min(server.headersTimeout, server.requestTimeout)) {
          connections.delete(own);
          server.emit('clientError', timeoutError(), socket);
        } else if (silentMs > server.timeout) socket.destroy();
        else if (spoke && own.isIdle() && silentMs > server.keepAliveTimeout + KEEP_ALIVE_MARGIN_MS) socket.destroy();
      },
    };
    connections.add(own);
    socket.on('data', receive).on('end', end).on('error', fail).on('close', forget);
  };

  const sweep = setInterval(() => {
    const nowMs = monotonicMs();
    for (const connection of connections) connection.sweep(nowMs);
  }, SWEEP_MS).unref();
  server.once('close', () => clearInterval(sweep));

  return {
    closeIdle: () => {
      for (const connection of connections) if (connection.isIdle()) connection.close();
    },
    counts: () => ({ open: connections.size, left }),
  };
}

const NOTHING = Buffer.alloc(0);

interface LaneConnection {
  readonly isIdle: () => boolean;
  readonly close: () => void;
  readonly sweep: (nowMs: number) => void;
}

/** Node's own error of a request that does not arrive, which client-error.ts answers. */
function timeoutError(): Error {
  return Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}
