/**
 * The admin listener over fake operations, for work on the console or the commands:
 * `node test/http/admin/serve.ts 8099 a-token`. A drill of the fake takes well under a minute.
 */
import pino from 'pino';
import { createAdminServer } from '../../../src/http/admin/admin-server.ts';
import { systemClock } from '../../../src/runtime.ts';
import { registerOps } from '../../../src/ui/console/route.ts';
import { createFakeAudit } from '../../fakes/audit.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { createFakeSearch } from '../../fakes/search.ts';

const [port = '8099', token] = process.argv.slice(2);
const server = createAdminServer({
  domains: createFakeSearch({ clock: systemClock }).domains,
  operations: createFakeOperations({ clock: systemClock }),
  audit: createFakeAudit(systemClock),
  observe: () => {},
  pages: registerOps,
  metricsText: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' }),
  log: pino({ level: 'warn' }),
  clock: systemClock,
  random: Math.random,
  drainMs: 300,
  maxUrlBytes: 8192,
  maxPageBytes: 1_000_000,
  version: '0.0.0',
  ...(token === undefined ? {} : { token }),
});
process.stdout.write(`${await server.listen({ host: '127.0.0.1', port: Number(port) })}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
