import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createBearerCheck } from './bearer.ts';
import { type Problem, Refusal } from './problem.ts';

/** Open to everybody who can reach the admin address: probes and scrapers carry no tokens. */
const OPEN = new Set(['/metrics', '/healthz']);

/**
 * Who may do what on the admin listener. Without a token reads are free (the address is loopback, see
 * `assertAdminBinding`) and every mutating route is off; with one, everything but `/metrics` and `/healthz` needs it.
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

/**
 * Refuses an admin listener that others could reach without a token.
 * @throws Error that says what to set.
 */
export function assertAdminBinding({
  host,
  token,
}: {
  readonly host: string;
  readonly token?: string | undefined;
}): void {
  if (token !== undefined && token !== '') return;
  if (isLoopback(host)) return;
  throw new Error(
    `The admin listener would be reachable at ${host || 'every address'} without a token. Set ADMIN_TOKEN, or set ADMIN_HOST to 127.0.0.1.`,
  );
}

function isLoopback(host: string): boolean {
  const plain = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/^::ffff:/, '');
  return plain === 'localhost' || plain === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}
