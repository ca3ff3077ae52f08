import type { FastifyInstance } from 'fastify';
import { Refusal } from '../problem.ts';
import { EVERY_ANSWER } from '../security-headers.ts';
import { described } from './described.ts';
import type { Live } from './live.ts';
import { LiveLine } from './state-schema.ts';

/** `GET /admin/live`: what this process does, as it does it. */
export function registerLive(app: FastifyInstance, live: Live): void {
  app.get('/admin/live', {
    // A HEAD would never end: there is nothing to say of a stream but the stream.
    exposeHeadRoute: false,
    schema: described({
      summary: 'What this process does, one line a second',
      description: 'Newline-delimited JSON until the client leaves. A reader who is too slow is left out meanwhile.',
      tag: 'state',
      answer: LiveLine,
      type: 'application/x-ndjson',
    }),
    handler: (request, reply) => {
      const { raw } = reply;
      if (!live.join(raw)) {
        const detail = 'Too many are watching already, or the process is about to end.';
        throw new Refusal({ code: 'busy', detail, retryAfterMs: 1000 });
      }
      reply.hijack();
      // It ends with its connection: whatever stands between must not keep what it has for later.
      raw.writeHead(200, {
        'content-type': 'application/x-ndjson',
        'cache-control': 'no-store',
        ...EVERY_ANSWER,
        'x-accel-buffering': 'no',
        'x-request-id': request.id,
        connection: 'close',
      });
      raw.flushHeaders();
    },
  });
}
