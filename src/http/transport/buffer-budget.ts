import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { Refusal } from './problem.ts';

export type BufferBudget = ReturnType<typeof createBufferBudget>;

interface WatchedResponse extends Pick<ServerResponse, 'writableFinished' | 'writableLength'> {
  once(event: 'close', listener: () => void): unknown;
}

/** A waiting answer costs this beside its bytes: the request, the response and their fields. */
const ANSWER_BYTES = 4096;

/**
 * A limit on the bytes buffered for slow clients: bodies that are still being sent or answered, and answers that are not
 * yet read. Timeouts do not limit them: 2,000 bodies that stopped half-way held 510 MB, and 100 clients that pipelined
 * requests and read nothing 700 MB. Above the limit the connection that has held bytes longest is cut.
 */
export function createBufferBudget({ maxBytes, onCut }: { readonly maxBytes: number; readonly onCut: () => void }) {
  // In the order in which connections began to hold bytes.
  const held = new Map<Duplex, number>();
  const followed = new WeakSet<Duplex>();
  let total = 0;

  const forget = (connection: Duplex): void => {
    total -= held.get(connection) ?? 0;
    held.delete(connection);
  };

  const cutOldest = (): void => {
    for (const connection of held.keys()) {
      if (total <= maxBytes) return;
      forget(connection);
      connection.destroy();
      onCut();
    }
  };

  const hold = (connection: Duplex, bytes: number): void => {
    if (connection.destroyed) return;
    if (!followed.has(connection)) {
      followed.add(connection);
      connection.once('close', () => forget(connection));
    }
    held.set(connection, (held.get(connection) ?? 0) + bytes);
    total += bytes;
    if (total > maxBytes) cutOldest();
  };

  const release = (connection: Duplex, bytes: number): void => {
    const now = held.get(connection);
    if (now === undefined) return;
    if (now <= bytes) {
      forget(connection);
      return;
    }
    held.set(connection, now - bytes);
    total -= bytes;
  };

  return {
    /** Counts bytes until `release`, or until the connection is closed. */
    hold,
    release,
    /** Counts the bytes of a completely written answer that the kernel has not taken yet; usually there are none. */
    watch: (connection: Duplex, response: WatchedResponse): void => {
      if (response.writableFinished || response.writableLength === 0) return;
      const bytes = response.writableLength + ANSWER_BYTES;
      hold(connection, bytes);
      response.once('close', () => release(connection, bytes));
    },
    total: (): number => total,
  };
}

/**
 * Maximum number of pieces (chunks or packets) in which a body may arrive; more where a route takes more than 2 MiB. A body of
 * 1 MiB in the smallest packets has 2,000. A client that sends more pieces sends single bytes, each of which costs 4 µs and more memory than is counted.
 */
const MAX_PIECES = 4096;
const LEAST_PIECE_BYTES = 512;
/** Node's overhead per piece. */
const PIECE_BYTES = 400;

/** Counts the bytes of each body on Fastify's routes until it is answered, and then the bytes of the answer. */
export function trackBodies(app: FastifyInstance, buffers: BufferBudget): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { socket } = request.raw;
    const maxPieces = Math.max(MAX_PIECES, request.routeOptions.bodyLimit / LEAST_PIECE_BYTES);
    let bytes = 0;
    let pieces = 0;
    const hold = (chunk: Buffer): void => {
      pieces += 1;
      if (pieces <= maxPieces) {
        bytes += chunk.length + PIECE_BYTES;
        buffers.hold(socket, chunk.length + PIECE_BYTES);
      } else if (pieces === maxPieces + 1) {
        // The body parser drops the body and refuses the request.
        if (payload.listenerCount('error') > 0) payload.emit('error', new Refusal(tooManyPieces(maxPieces)));
        else socket.destroy();
      }
    };
    // No byte comes before the next turn of the event loop, and by then the body parser listens too.
    payload.on('data', hold);
    reply.raw.once('close', () => buffers.release(socket, bytes));
    done();
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    const { socket } = request.raw;
    setImmediate(() => buffers.watch(socket, reply.raw));
    done();
  });
}

const tooManyPieces = (most: number) =>
  ({
    code: 'body-too-large',
    detail: `A body may come in at most ${most} chunks or packets; send it in larger ones.`,
    headers: { connection: 'close' },
  }) as const;
