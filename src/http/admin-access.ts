import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createBearerCheck } from './bearer.ts';
import { type Problem, Refusal } from './problem.ts';

/** Open to everybody who can reach the admin address: probes and scrapers carry no tokens. */
const OPEN = new Set(['/metrics', '/healthz']);

/**
 * Who may do what on the admin listener. Without a token reads are free (the configuration then
 * allows loopback only) and every mutating route is off; with one, everything but `/metrics` and `/healthz` needs it.
 * A route is mutating unless its method says otherwise, so that a new route is closed by default.
 */
export function registerAdminAccess(app: FastifyInstance, token: string | undefined): void {
  const isBearer = createBearerCheck(token);
  const hasToken = token !== undefined && token !== '';

  const refusalOf = (request: FastifyRequest): Problem | undefined => {
    if (OPEN.has(request.routeOptions.url ?? '')) return undefined;
    const mutates = request.method !== 'GET' && request.method !== 'HEAD';
    if (!hasToken) return mutates ? TOKEN_NOT_SET : undefined;
    return isBearer(request.headers.authorization) ? undefined : UNAUTHORIZED;
  };

  app.addHook('onRequest', (request, _reply, done) => {
    const problem = refusalOf(request);
    if (problem === undefined) done();
    else done(new Refusal(problem));
  });
}

const TOKEN_NOT_SET: Problem = {
  code: 'token-not-set',
  detail: 'Changes are refused because no admin token is set. Set ADMIN_TOKEN and start again.',
};

const UNAUTHORIZED: Problem = {
  code: 'unauthorized',
  detail: 'Send the admin token: Authorization: Bearer <ADMIN_TOKEN>.',
  headers: { 'www-authenticate': 'Bearer realm="serpcache admin"' },
};
