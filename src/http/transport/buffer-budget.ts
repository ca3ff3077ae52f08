import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { Refusal } from './problem.ts';

/**
 * What the process keeps in memory for clients that are slow: bodies that are still being sent or answered, answers that
 * are not yet read. A timeout alone bounds neither: 2,000 bodies that stopped before their end held 510 MB, and 100
 * clients that asked ahead and read nothing 700 MB. Past the bound the connection that has held bytes longest is cut.
 */
export interface HeldBytes {
  /** Until `release`, or until the connection is closed. */
  readonly hold: (connection: Duplex, bytes: number) => void;
  readonly release: (connection: Duplex, bytes: number) => void;
  /** Holds what the kernel has not taken of an answer handed over in full; most often that is nothing. */
  readonly watch: (connection: Duplex, response: ServerResponse) => void;
  readonly total: () => number;
}

/** Of an answer that waits, beside its bytes: the request, the response and their fields. */
const ANSWER_BYTES = 4096;

export function createHeldBytes(options: { readonly maxBytes: number; readonly onCut: () => void }): HeldBytes {
  const { maxBytes, onCut } = options;
  // In order of the moment since which a connection has held something.
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
    hold,
    release,
    watch: (connection, response) => {
      if (response.writableFinished || response.writableLength === 0) return;
      const bytes = response.writableLength + ANSWER_BYTES;
      hold(connection, bytes);
      response.once('close', () => release(connection, bytes));
    },
    total: () => total,
  };
}

/**
 * Of a body, as it arrives: chunks, or what came in one packet. A body of 1 MiB in the smallest packets has 2,000. Beyond
 * that somebody sends bytes one by one, each of which costs 4 µs and more memory than it counts for.
 */
const MAX_PIECES = 4096;
/** What Node keeps beside the bytes of a piece. */
const PIECE_BYTES = 400;

/** Accounts for what Fastify's routes take in and give out: the bytes of a body until it is answered, then of its answer. */
export function holdBodies(app: FastifyInstance, held: HeldBytes): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { socket } = request.raw;
    let bytes = 0;
    let pieces = 0;
    const hold = (chunk: Buffer): void => {
      pieces += 1;
      if (pieces <= MAX_PIECES) {
        bytes += chunk.length + PIECE_BYTES;
        held.hold(socket, chunk.length + PIECE_BYTES);
      } else if (pieces === MAX_PIECES + 1) {
        // Whoever gathers the body lets go of it and refuses it.
        if (payload.listenerCount('error') > 0) payload.emit('error', new Refusal(TOO_MANY_PIECES));
        else socket.destroy();
      }
    };
    // No byte comes before the next turn, and by then the parser listens as well.
    payload.on('data', hold);
    reply.raw.once('close', () => held.release(socket, bytes));
    done();
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    const { socket } = request.raw;
    setImmediate(() => held.watch(socket, reply.raw));
    done();
  });
}

const TOO_MANY_PIECES = {
  code: 'body-too-large',
  detail: `A body may come in at most ${MAX_PIECES} chunks or packets; send it in larger ones.`,
  headers: { connection: 'close' },
} as const;
