import type { Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { LaneHead, ReadHead } from './head.ts';
import { createOutput, keepAliveFields, LaneReply } from './reply.ts';

/** Answers one request by the reply, now or later. Never throws. */
export type LaneHandler = (head: LaneHead, reply: LaneReply, socket: Socket) => void;

export interface LaneOptions {
  readonly server: Server;
  readonly readHead: ReadHead;
  readonly handle: LaneHandler;
  /** While true, every connection is left to Node. */
  readonly drain: { readonly closesConnections: boolean };
  readonly monotonicMs: () => number;
  /** The limit on the bytes that are buffered for slow clients. */
  readonly buffers: {
    readonly hold: (connection: Duplex, bytes: number) => void;
    readonly release: (connection: Duplex, bytes: number) => void;
  };
}

export type Lane = ReturnType<typeof createLane>;

const SWEEP_MS = 1000;
/** Node allows a client this much more than it says in `Keep-Alive`. */
const KEEP_ALIVE_MARGIN_MS = 1000;
/** A chunk with more pipelined requests is left to Node, where listener.ts limits them. */
const MAX_HEADS = 32;
/** Answers to pipelined requests are written when they have this size together. */
const WRITE_BYTES = 48 * 1024;

/**
 * Serves known requests in front of Node's HTTP parser, on the connections of the same server. A connection stays in the
 * lane as long as each chunk of its bytes is one or more whole heads that `readHead` understands. Any other chunk is given to Node
 * unread, together with the connection, once and for good, between two answers.
 */
export function createLane({ server, readHead, handle, drain, monotonicMs, buffers }: LaneOptions) {
  const [toNode] = server.listeners('connection') as [(this: Server, connection: Duplex) => void];
  server.removeListener('connection', toNode);
  const connections = new Set<LaneConnection>();
  let handedOver = 0;
  const hold = (socket: Socket, bytes: number): (() => void) => {
    buffers.hold(socket, bytes);
    return () => buffers.release(socket, bytes);
  };
  /** `later` is for an answer that comes later: it may end while another connection is served. */
  const [output, later] = [createOutput(hold), createOutput(hold)];
  let isServing = false;
  let keepAlive = { timeoutMs: server.keepAliveTimeout, fields: keepAliveFields(server.keepAliveTimeout) };
  const keepsAlive = (): string => {
    const timeoutMs = server.keepAliveTimeout;
    if (timeoutMs !== keepAlive.timeoutMs) keepAlive = { timeoutMs, fields: keepAliveFields(timeoutMs) };
    return keepAlive.fields;
  };

  server.on('connection', (connection: Duplex) => {
    // A stream in memory, by client-error.ts, brings a request that Node has refused before.
    if (connection instanceof Socket && !drain.closesConnections) connections.add(enter(connection));
    else toNode.call(server, connection);
  });

  const enter = (socket: Socket): LaneConnection => {
    let pending: LaneReply | undefined;
    /** Chunks that wait: for an answer that comes later, or for a client that reads slowly. */
    let waiting: Buffer[] = [];
    /** The client must read before it gets further answers. */
    let isBlocked = false;
    /** Time and byte count of the last change, for the timeouts. */
    let [hasSpoken, changedMs, changedBytes] = [false, monotonicMs(), 0];

    const refuse = (error: Error): void => {
      connections.delete(own);
      socket.off('data', receive);
      server.emit('clientError', error, socket);
    };

    const leave = (unread: Buffer): void => {
      if (isOfRtsp(unread)) {
        refuse(Object.assign(new Error('not HTTP'), { code: 'HPE_INVALID_CONSTANT' }));
        return;
      }
      connections.delete(own);
      handedOver += 1;
      socket.off('data', receive).off('end', end).off('error', fail).off('close', forget);
      toNode.call(server, socket);
      socket.unshift(Buffer.concat([unread, ...waiting]));
      waiting = [];
      socket.resume();
    };

    /** Writes what was answered. False: the client must read first. */
    const flush = (from = output): boolean => {
      // `writableNeedDrain` alone is true until the next tick also when the kernel has taken everything.
      if (from.write(socket) || !socket.writableNeedDrain) return true;
      isBlocked = true;
      socket.pause();
      socket.once('drain', () => {
        isBlocked = false;
        proceed();
      });
      return false;
    };

    /** Goes on with the bytes that wait, and with reading. */
    const proceed = (): void => {
      while (pending === undefined && !isBlocked && connections.has(own)) {
        const bytes = waiting.shift();
        if (bytes === undefined) {
          socket.resume();
          return;
        }
        serve(bytes);
      }
    };

    const serve = (bytes: Buffer): void => {
      isServing = true;
      serveHeads(bytes);
      isServing = false;
    };

    const serveHeads = (bytes: Buffer): void => {
      const heads = drain.closesConnections ? undefined : headsOf(bytes, readHead);
      if (heads === undefined) {
        leave(bytes);
        return;
      }
      for (const head of heads) {
        const reply = new LaneReply(to, output, head.isHead);
        handle(head, reply, socket);
        if (!reply.isDone) {
          flush();
          pending = reply;
          reply.output = later;
        } else if (!reply.shouldKeepAlive) {
          flush();
          socket.destroySoon();
          return;
        } else if (output.length() < WRITE_BYTES || flush()) continue;
        // Nothing is served from here on until `proceed`.
        if (head.end < bytes.length) waiting.unshift(bytes.subarray(head.end));
        return;
      }
      flush();
    };

    const to = {
      socket,
      keepsAlive,
      answered: (reply: LaneReply): void => {
        if (reply !== pending) return;
        pending = undefined;
        changedMs = monotonicMs();
        if (!socket.writable) later.drop();
        else flush(later);
        if (!reply.shouldKeepAlive) socket.destroySoon();
        else if (isServing) setImmediate(proceed);
        else proceed();
      },
    };

    const receive = (bytes: Buffer): void => {
      hasSpoken = true;
      changedMs = monotonicMs();
      if (pending === undefined && !isBlocked && waiting.length === 0) {
        serve(bytes);
        return;
      }
      // One read at most, so no limit on its requests is needed; and a socket that is not read does not notice that its
      // client has gone.
      socket.pause();
      waiting.push(bytes);
    };
    // As Node does: a client that ends its side gets no further answer.
    const end = (): void => {
      waiting = [];
      socket.end();
    };
    const fail = (): void => void socket.destroy();
    const forget = (): void => void connections.delete(own);

    const isIdle = (): boolean => pending === undefined && socket.writableLength === 0;
    const own: LaneConnection = {
      closeIdle: () => {
        if (isIdle()) socket.destroy();
      },
      sweep: (nowMs) => {
        const sentBytes = socket.bytesWritten - socket.writableLength;
        if (sentBytes !== changedBytes) [changedBytes, changedMs] = [sentBytes, nowMs];
        const silentMs = nowMs - changedMs;
        if (pending !== undefined) return;
        if (!hasSpoken && silentMs > Math.min(server.headersTimeout, server.requestTimeout)) refuse(requestTimeout());
        else if (silentMs > server.timeout) socket.destroy();
        else if (hasSpoken && isIdle() && silentMs > server.keepAliveTimeout + KEEP_ALIVE_MARGIN_MS) socket.destroy();
      },
    };
    socket.on('data', receive).on('end', end).on('error', fail).on('close', forget);
    return own;
  };

  const sweep = setInterval(() => {
    const nowMs = monotonicMs();
    for (const connection of connections) connection.sweep(nowMs);
  }, SWEEP_MS).unref();
  server.once('close', () => clearInterval(sweep));

  return {
    /** Closes the connections without a request. */
    closeIdle: (): void => {
      for (const connection of connections) connection.closeIdle();
    },
    /** Connections in the lane now, and those that were handed over to Node since the start. */
    status: () => ({ connections: connections.size, handedOver }),
  };
}

interface LaneConnection {
  readonly closeIdle: () => void;
  readonly sweep: (nowMs: number) => void;
}

/** All heads of a chunk; undefined when a part of it is not understood: Node reads such a chunk as one, too. */
function headsOf(bytes: Buffer, readHead: ReadHead): readonly LaneHead[] | undefined {
  const heads: LaneHead[] = [];
  for (let from = 0; from < bytes.length; ) {
    const head = readHead(bytes, from);
    if (head === undefined || heads.length === MAX_HEADS) return undefined;
    heads.push(head);
    from = head.end;
  }
  return heads;
}

/** Whether the first line asks in RTSP: Node's parser would give it as HTTP of the same number. */
function isOfRtsp(bytes: Buffer): boolean {
  return /\sRTSP\/\d\.\d\r?$/.test(bytes.toString('latin1', 0, Math.max(0, bytes.indexOf('\n'))));
}

/** Node's own error for a request that does not arrive, which client-error.ts answers. */
function requestTimeout(): Error {
  return Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}
