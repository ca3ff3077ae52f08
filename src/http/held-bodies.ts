import type { FastifyInstance } from 'fastify';
import type { HeldBytes } from './held-bytes.ts';
import { Refusal } from './problem.ts';

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
