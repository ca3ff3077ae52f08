import type { FastifyInstance } from 'fastify';
import type { Audit } from '../../audit/audit.ts';
import { registerAudit } from './audit-route.ts';
import type { AdminContext } from './context.ts';
import { registerDrills } from './drill-route.ts';
import { registerFlush } from './flush-route.ts';
import { registerHalt } from './halt-route.ts';
import { registerJournals } from './journal-route.ts';
import type { Live } from './live.ts';
import { registerLive } from './live-route.ts';
import { registerLook } from './look-route.ts';
import { registerPurge } from './purge-route.ts';
import { registerWarm } from './warm-route.ts';

/** Everything operators may ask for. Bodies are checked by the routes themselves, which say what is allowed. */
export function registerOperations(
  app: FastifyInstance,
  context: AdminContext & { readonly live: Live; readonly audit: Audit },
): void {
  app.setValidatorCompiler(() => () => true);
  registerLook(app, context);
  registerLive(app, context.live);
  registerFlush(app, context);
  registerPurge(app, context);
  registerDrills(app, context);
  registerJournals(app, context);
  registerHalt(app, context);
  registerWarm(app, context);
  registerAudit(app, context.audit);
}
