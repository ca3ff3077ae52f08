import { endOverlay } from '../control/change-overlay.ts';
import type { Control } from '../control/control.ts';
import type { Caller } from './drills.ts';

/** Where the one who aborts a drill of another process tells its owner who it was. */
const ABORT_REPORT = 'drill-abort';

export function abortedBy({ by, reason }: Caller): string {
  return reason === '' ? `Aborted by ${by}.` : `Aborted by ${by}: ${reason}.`;
}

/** Ends a drill that another process owns. @throws OperationRefused control-unavailable */
export async function abortElsewhere(control: Control, drill: string, caller: Caller): Promise<void> {
  await control.report(ABORT_REPORT, { drill, detail: abortedBy(caller) });
  await control.change((document) => endOverlay(document, drill));
}

export async function abortNote(control: Pick<Control, 'reports'>, drill: string): Promise<string | undefined> {
  const note: unknown = (await control.reports())?.get(ABORT_REPORT);
  if (typeof note !== 'object' || note === null) return undefined;
  const { drill: about, detail } = note as { readonly drill?: unknown; readonly detail?: unknown };
  return about === drill && typeof detail === 'string' ? detail.slice(0, 2000) : undefined;
}
