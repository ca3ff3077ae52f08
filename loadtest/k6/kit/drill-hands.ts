import type { Admin } from './admin.ts';
import { type DrillJournal, journalOf } from './drill-journal.ts';
import { say } from './event.ts';

/** More than a journal has: what it measured is in its own report, and each second would be a lot to read again. */
const NO_SAMPLES = 1_000_000;

/** Undefined: nobody could tell just now. */
export function lookAtDrill(admin: Admin, id: string): DrillJournal | undefined {
  const reply = admin.get(`/admin/drills/${id}?samples=${NO_SAMPLES}`);
  return reply.ok ? journalOf(reply.body) : undefined;
}

/** @returns whether it has ended; the log has why when not. */
export function abortDrill(admin: Admin, id: string, reason: string): boolean {
  const reply = admin.post(`/admin/drills/${id}/abort`, { reason });
  if (!reply.ok) say({ kind: 'note', drill: id, text: `could not be ended: ${reply.fault}` });
  return reply.ok;
}

/** At the end of the reason of each drill of this run, and of no other. */
export function runMark({ startedAtMs }: { readonly startedAtMs: number }): string {
  return `run of ${new Date(startedAtMs).toISOString()}`;
}
