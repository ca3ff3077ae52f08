import { OperationRefused } from '../control/refusal.ts';
import type { Archive } from './archive.ts';
import type { DrillSummary, UnreadableReport } from './drills.ts';
import type { Elsewhere } from './elsewhere.ts';
import type { Journal } from './journal.ts';
import { asLost } from './lost-journal.ts';
import type { RunningDrill } from './run-drill.ts';

/** Every drill that is known of: those that run here, those of other processes, and the reports kept. */
export interface DrillList {
  readonly all: () => Promise<readonly DrillSummary[]>;
  /** What the latest `all` has met. */
  readonly unreadable: () => readonly UnreadableReport[];
  /** @throws OperationRefused unknown-drill */
  readonly find: (id: string) => Promise<Journal>;
}

/** More are not shown: they tell nothing that the first ones do not. */
const MAX_UNREADABLE = 64;

export interface DrillListOptions {
  readonly running: ReadonlyMap<string, RunningDrill>;
  readonly elsewhere: Elsewhere;
  readonly archive: Archive;
}

export function createDrillList({ running, elsewhere, archive }: DrillListOptions): DrillList {
  /** A directory may be shared with the process that runs it; else a journal without an end is of one that died. */
  const settled = (journal: Journal): Journal =>
    elsewhere.heads().some(({ id, state }) => id === journal.id && state.kind !== 'over') ? journal : asLost(journal);

  return {
    unreadable: () => [...elsewhere.unreadable(), ...archive.unreadable()].slice(0, MAX_UNREADABLE),
    all: async () => {
      await elsewhere.look();
      const found = new Map<string, DrillSummary>();
      for (const journal of elsewhere.heads()) found.set(journal.id, summaryOf(journal, false));
      for (const journal of await archive.heads()) found.set(journal.id, summaryOf(settled(journal), true));
      for (const drill of running.values()) {
        const journal = drill.head();
        found.set(journal.id, summaryOf(journal, true));
      }
      return [...found.values()].sort((a, b) => b.startedAtMs - a.startedAtMs || (a.id < b.id ? 1 : -1));
    },
    find: async (id) => {
      const here = running.get(id)?.journal();
      if (here !== undefined) return here;
      const kept = await archive.read(id);
      if (kept?.kind === 'journal') return settled(kept.journal);
      await elsewhere.look();
      const head = elsewhere.heads().find((journal) => journal.id === id);
      if (head !== undefined) return head;
      if (kept !== undefined) {
        throw new OperationRefused('unknown-drill', `The report of drill ${id} cannot be read: ${kept.why}.`, 'id');
      }
      throw new OperationRefused('unknown-drill', `There is no drill ${id}, and no report of one.`, 'id');
    },
  };
}

function summaryOf(journal: Journal, here: boolean): DrillSummary {
  const { id, plan, domains, startedAtMs, endedAtMs, state, verdict } = journal;
  return {
    id,
    plan: plan.name,
    title: plan.title,
    domains,
    startedAtMs,
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    running: state.kind === 'running',
    ...(state.kind === 'ending' ? { ending: state.ended === undefined ? {} : { ended: state.ended } } : {}),
    here,
    ...(verdict === undefined ? {} : { verdict }),
  };
}
