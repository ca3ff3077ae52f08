import type { FastifyInstance } from 'fastify';
import type { HeldBytes } from './held-bytes.ts';

/** Accounts for what Fastify's routes take in and give out: the bytes of a body until it is answered, then of its answer. */
export function holdBodies(app: FastifyInstance, held: HeldBytes): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { socket } = request.raw;
    let bytes = 0;
    // No byte comes before the next turn, and by then the parser listens as well.
    payload.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      held.hold(socket, chunk.length);
    });
    reply.raw.once('close', () => held.release(socket, bytes));
    done();
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    const { socket } = request.raw;
    setImmediate(() => held.watch(socket, reply.raw));
    done();
  });
}
