import pino from 'pino';
import { createAdminServer } from '../../src/http/admin/admin-server.ts';
import type { RecordedEntry } from '../../src/operations/audit/audit.ts';
import type { DomainLook, Operations } from '../../src/operations/operations.ts';
import { systemClock } from '../../src/runtime.ts';
import { createFakeAudit } from '../fakes/audit.ts';
import { createFakeOperations } from '../fakes/operations.ts';
import { createFakeSearch } from '../fakes/search.ts';
import { dressLook } from './ops-look.ts';

export const TOKEN = 'the-token-of-the-console';

/** The admin listener and the console over operations of which a test decides what they show. */
export interface OpsService {
  readonly baseUrl: string;
  readonly operations: Operations;
  readonly entries: readonly RecordedEntry[];
  /** Changes what each domain shows of itself, from the next line on. */
  dress: (look: DomainLook) => DomainLook;
  readonly stop: () => Promise<void>;
}

export async function startOpsService(
  options: { readonly token?: string; readonly port?: number } = {},
): Promise<OpsService> {
  const { token, port = 0 } = options;
  const audit = createFakeAudit(systemClock);
  const operations = createFakeOperations({ clock: systemClock, domains: ['goods', 'auto', 'realty', 'jobs'] });
  const service: OpsService = {
    baseUrl: '',
    operations,
    entries: audit.entries,
    dress: dressLook,
    stop: async () => void (await server.close()),
  };
  const server = createAdminServer({
    search: createFakeSearch({ clock: systemClock }),
    operations: {
      ...operations,
      watch: () => {
        const watcher = operations.watch();
        return { look: () => watcher.look().map((look) => service.dress(look)) };
      },
    },
    audit,
    version: '0.0.0',
    metricsText: async () => ({ contentType: 'text/plain', body: '' }),
    log: pino({ level: 'silent' }),
    clock: systemClock,
    random: () => 0,
    drainMs: 300,
    maxUrlBytes: 8192,
    maxPageBytes: 1_000_000,
    observe: () => {},
    ...(token === undefined ? {} : { token }),
  });
  const baseUrl = await server.listen({ host: '127.0.0.1', port });
  return Object.assign(service, { baseUrl });
}
