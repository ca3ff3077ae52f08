import fastify from 'fastify';

/**
 * The part the Fastify peers share: `GET /search` from a cache, `POST /purge` empties it.
 * @param {{ port: number, page: (url: string) => Promise<string>, purge: () => Promise<void> }} options
 */
export async function serveSearch({ port, page, purge }) {
  const app = fastify({ forceCloseConnections: true });
  app.get('/search', async (request, reply) => {
    reply.type('application/json; charset=utf-8');
    return page(request.raw.url ?? '');
  });
  app.post('/purge', async (_request, reply) => {
    await purge();
    return reply.code(204).send();
  });
  await app.listen({ port, host: '127.0.0.1' });
}
