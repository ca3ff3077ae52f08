import type { DrillDomain } from './drill-domain.ts';
import type { UnreadableReport } from './drills.ts';
import type { Journal } from './journal.ts';
import { readJournal } from './journal-text.ts';
import { asLost } from './lost-journal.ts';

/** Drills of other processes, as their owners tell them through the control store. */
export interface Elsewhere {
  /** Heads, without samples; those that ended are remembered a while. */
  readonly heads: () => readonly Journal[];
  /** What was reported as a head and is none, one per domain at most. */
  readonly unreadable: () => readonly UnreadableReport[];
  /** Asks again, where a drill of another process runs. */
  readonly look: () => Promise<void>;
  readonly close: () => void;
}

export interface ElsewhereOptions {
  readonly domains: readonly Pick<DrillDomain, 'name' | 'control'>[];
  readonly processId: string;
  readonly intervalMs?: number;
}

/** What an owner's head is reported as: one drill a domain, so one place. */
export const HEAD_REPORT = 'drill';
const MAX_REMEMBERED = 16;

export function createElsewhere({ domains, processId, intervalMs = 2000 }: ElsewhereOptions): Elsewhere {
  const remembered = new Map<string, Journal>();
  const watched = new Set<DrillDomain['control']>();
  const unreadable = new Map<string, UnreadableReport>();

  const liveIn = (control: DrillDomain['control']): string | undefined => {
    const overlay = control.overlay();
    return overlay !== undefined && overlay.owner !== processId ? overlay.drill : undefined;
  };
  const lookAt = async ({ name, control }: Pick<DrillDomain, 'name' | 'control'>): Promise<void> => {
    const isLive = liveIn(control) !== undefined;
    // Once more after its end: how it ended is told last.
    if (!isLive && !watched.has(control)) return;
    const reports = await control.reports();
    if (reports === undefined) return;
    if (isLive) watched.add(control);
    else watched.delete(control);
    unreadable.delete(name);
    if (!reports.has(HEAD_REPORT)) return;
    const read = readJournal(reports.get(HEAD_REPORT));
    if (read.kind === 'unreadable') {
      unreadable.set(name, { where: `the control store of ${name}`, why: read.why });
      return;
    }
    const { journal: head } = read;
    if (head.owner === processId) return;
    remembered.delete(head.id);
    remembered.set(head.id, head);
    for (const id of remembered.keys()) {
      if (remembered.size <= MAX_REMEMBERED) break;
      remembered.delete(id);
    }
  };
  const look = async (): Promise<void> => {
    await Promise.all(domains.map(lookAt));
  };
  const timer = setInterval(() => void look().catch(() => undefined), intervalMs).unref();

  return {
    heads: () => {
      const live = new Set(domains.map(({ control }) => liveIn(control)));
      return [...remembered.values()].map((head) => (live.has(head.id) ? head : asLost(head)));
    },
    unreadable: () => [...unreadable.values()],
    look,
    close: () => clearInterval(timer),
  };
}
