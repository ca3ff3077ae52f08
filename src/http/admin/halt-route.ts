import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { bodyReader } from './body.ts';
import { callerOf } from './caller.ts';
import type { AdminContext } from './context.ts';
import { closed, described } from './described.ts';
import { Reason } from './fields.ts';
import { HaltNote } from './flush-schema.ts';

const ReasonBody = Type.Object({ reason: Reason }, closed);
const HaltedBody = Type.Object({ halted: Type.Boolean() });

/** The lever that stops every drill and refuses new ones. */
export function registerHalt(app: FastifyInstance, { operations, desk }: AdminContext): void {
  const reasonOf = bodyReader(ReasonBody);

  const halts = () =>
    operations.domains.flatMap((domain) => {
      const { halted } = operations.domain(domain).control.document();
      return halted === undefined ? [] : [{ domain, ...halted }];
    });
  const pull = async (request: FastifyRequest, halted: boolean): Promise<{ halted: boolean }> => {
    const caller = callerOf(request, reasonOf(request.body).reason);
    const before = { halted: halts().map(({ domain }) => domain) };
    await (halted ? operations.drills.halt(caller) : operations.drills.lift(caller));
    desk.changed(request, { before, after: { halted: halts().map(({ domain }) => domain) } });
    return { halted };
  };

  app.get('/admin/halt', {
    schema: described({
      summary: 'Whether drills are halted, by whom and why',
      tag: 'drills',
      answer: Type.Object({
        halted: Type.Boolean({ description: 'In any domain.' }),
        domains: Type.Array(Type.Object({ domain: Type.String(), ...HaltNote.properties })),
      }),
    }),
    handler: (_request, reply) => {
      const domains = halts();
      reply.send({ halted: domains.length > 0, domains });
    },
  });

  app.post('/admin/halt', {
    config: { action: 'halt' },
    schema: described({
      summary: 'Stop and roll back every drill, and refuse new ones',
      tag: 'drills',
      body: ReasonBody,
      answer: HaltedBody,
    }),
    handler: async (request, reply) => reply.send(await pull(request, true)),
  });

  app.post('/admin/halt/lift', {
    config: { action: 'halt-lift' },
    schema: described({ summary: 'Let drills start again', tag: 'drills', body: ReasonBody, answer: HaltedBody }),
    handler: async (request, reply) => reply.send(await pull(request, false)),
  });
}
