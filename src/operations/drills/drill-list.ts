import { OperationError } from '../../control/operation-error.ts';
import type { RecordArchive } from '../../report/record-archive.ts';
import type { Clock } from '../../runtime.ts';
import type { DrillDomain, DrillSummary, ListedDrills, UnreadableReport } from './drills.ts';
import { JOURNALS, type Journal, type Mark } from './journal.ts';
import { HEAD_REPORT, type RunningDrill } from './run-drill.ts';

interface DrillListOptions {
  readonly running: ReadonlyMap<string, RunningDrill>;
  readonly remote: ReturnType<typeof createRemoteDrills>;
  readonly archive: RecordArchive<Journal>;
}

const MAX_UNREADABLE = 64;

/** Every known drill: those that run here, those of other processes, and kept reports. */
export function createDrillList({ running, remote, archive }: DrillListOptions) {
  /** A process that shares the directory may still run the drill; otherwise a journal without an end is an abandoned drill. */
  const withVerdict = (journal: Journal): Journal =>
    remote.heads().some(({ id, state }) => id === journal.id && state.kind !== 'over') ? journal : asAbandoned(journal);

  return {
    all: async (): Promise<ListedDrills> => {
      await remote.refresh();
      const found = new Map<string, DrillSummary>();
      for (const journal of remote.heads()) found.set(journal.id, summaryOf(journal, false));
      const kept = await archive.heads();
      for (const journal of kept.records) found.set(journal.id, summaryOf(withVerdict(journal), true));
      for (const drill of running.values()) {
        const journal = drill.head();
        found.set(journal.id, summaryOf(journal, true));
      }
      return {
        drills: [...found.values()].sort((a, b) => b.startedAtMs - a.startedAtMs || (a.id < b.id ? 1 : -1)),
        unreadable: [...remote.unreadable(), ...kept.unreadable].slice(0, MAX_UNREADABLE),
      };
    },
    /** @throws OperationError unknown-drill */
    find: async (id: string): Promise<Journal> => {
      const here = running.get(id)?.journal();
      if (here !== undefined) return here;
      const kept = await archive.read(id);
      if (kept?.kind === 'record') return withVerdict(kept.record);
      await remote.refresh();
      const head = remote.heads().find((journal) => journal.id === id);
      if (head !== undefined) return head;
      if (kept !== undefined) {
        throw new OperationError('unknown-drill', `The report of drill ${id} cannot be read: ${kept.why}.`, 'id');
      }
      throw new OperationError('unknown-drill', `There is no drill ${id}, and no report of one.`, 'id');
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
    endedAtMs,
    running: state.kind === 'running',
    ending: state.kind === 'ending' ? { ended: state.ended } : undefined,
    here,
    verdict,
  };
}

const MAX_REMEMBERED = 16;
const REFRESH_MS = 2000;
/** Maximum time until the verdict is reported, after the end of the last measurement. */
const VERDICT_MS = 5000;

/** Drills of other processes, as their owners report them through the control store. */
export function createRemoteDrills(options: {
  readonly domains: readonly Pick<DrillDomain, 'name' | 'control'>[];
  readonly processId: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}) {
  const { domains, processId, clock } = options;
  const remembered = new Map<string, Journal>();
  /** When a drill of another process was last seen in the domain; absent when its reports need not be read. */
  const watched = new Map<DrillDomain['control'], number>();
  /** Drills without an overlay, of which the verdict is still expected. */
  const awaited = new Set<string>();
  const unreadable = new Map<string, UnreadableReport>();

  const liveIn = (control: DrillDomain['control']): string | undefined => {
    const overlay = control.overlay();
    return overlay !== undefined && overlay.owner !== processId ? overlay.drill : undefined;
  };
  /**
   * The overlay ends when the cache is restored. Then the owner measures for `afterMs`, and reports the verdict last. The
   * head in the domain of a drill that has gone on to its next domain is not reported any more.
   */
  const isAwaited = ({ id, state, plan }: Journal, seenMs: number): boolean =>
    state.kind !== 'over' &&
    clock.monotonicMs() - seenMs < plan.afterMs + VERDICT_MS &&
    domains.every(({ control }) => liveIn(control) !== id);
  const refreshDomain = async ({ name, control }: Pick<DrillDomain, 'name' | 'control'>): Promise<void> => {
    const seenMs = liveIn(control) === undefined ? watched.get(control) : clock.monotonicMs();
    if (seenMs === undefined) return;
    const reports = await control.reports();
    if (reports === undefined) return;
    if (liveIn(control) === undefined) watched.delete(control);
    else watched.set(control, seenMs);
    unreadable.delete(name);
    if (!reports.has(HEAD_REPORT)) return;
    const read = JOURNALS.read(reports.get(HEAD_REPORT));
    if (read.kind === 'unreadable') {
      unreadable.set(name, { where: `the control store of ${name}`, why: read.why });
      return;
    }
    const { record: head } = read;
    if (head.owner === processId) return;
    awaited.delete(head.id);
    if (!watched.has(control) && isAwaited(head, seenMs)) {
      watched.set(control, seenMs);
      awaited.add(head.id);
    }
    remembered.delete(head.id);
    remembered.set(head.id, head);
    for (const id of remembered.keys()) {
      if (remembered.size <= MAX_REMEMBERED) break;
      remembered.delete(id);
      awaited.delete(id);
    }
  };
  const refresh = async (): Promise<void> => {
    await Promise.all(domains.map(refreshDomain));
  };
  const timer = setInterval(() => void refresh().catch(() => undefined), REFRESH_MS).unref();

  return {
    /** Journals without samples. The latest ended drills are remembered. */
    heads: (): readonly Journal[] => {
      const live = new Set(domains.map(({ control }) => liveIn(control)));
      return [...remembered.values()].map((head) => {
        const isMeasured = head.state.kind === 'ending' && awaited.has(head.id);
        return isMeasured || live.has(head.id) ? head : asAbandoned(head);
      });
    },
    /** Reports that are not valid journals, at most one per domain. */
    unreadable: (): readonly UnreadableReport[] => [...unreadable.values()],
    /** Reads the reports of domains in which a drill of another process runs. */
    refresh,
    close: () => clearInterval(timer),
  };
}

/** The journal of a drill whose process ended before the drill, with the verdict `lost`. Unchanged when it is over. */
function asAbandoned(journal: Journal): Journal {
  if (journal.state.kind === 'over') return journal;
  const { marks, samples, domains, startedAtMs } = journal;
  const last = marks.findLast((mark): mark is Extract<Mark, { kind: 'stage' }> => mark.kind === 'stage');
  const domain = marks.at(-1)?.domain ?? domains[0] ?? '';
  const stage = last?.domain === domain ? last.stage : 0;
  return {
    ...journal,
    endedAtMs: startedAtMs + Math.max(0, marks.at(-1)?.atMs ?? 0, samples.at(-1)?.atMs ?? 0),
    state: { kind: 'over' },
    verdict: {
      kind: 'lost',
      detail: 'The process that ran it ended; every other one restored the cache by itself.',
      resumable: { domain, stage },
    },
  };
}
