import { BUCKETS } from '../../cache/invalidation.ts';
import { halt as haltDocument, liftHalt } from '../../control/changes.ts';
import type { Caller } from '../../control/control.ts';
import { OperationError } from '../../control/operation-error.ts';
import { createRecordArchive } from '../../report/record-archive.ts';
import { pause, type Runtime } from '../../runtime.ts';
import { createDrillList, createRemoteDrills } from './drill-list.ts';
import { abortedBy, abortRemotely } from './drill-lock.ts';
import type { DrillDomain, DrillEvent, DrillPreview, DrillRequest, StartRequest } from './drills.ts';
import { applyPatience } from './guards.ts';
import { JOURNALS, type Journal, type ResumePoint, resumePoint } from './journal.ts';
import type { Plan } from './plan.ts';
import { loadReadyPlans } from './plan-file.ts';
import { drillWarnings, forecastOf, previewStage, type ResolvedRequest, resolveRequest } from './resolve-request.ts';
import type { Sleep } from './run-domain.ts';
import { beginDrill, type RunningDrill } from './run-drill.ts';

export interface DrillsOptions extends Runtime<DrillEvent> {
  readonly domains: readonly DrillDomain[];
  /** Where reports are kept. Absent: the latest few are kept in memory. */
  readonly directory?: string;
  /** Number of newest reports kept. */
  readonly keep: number;
  /** Renders a report. */
  readonly reportPage: (journal: Journal) => string;
  /** Without a renewal by the owner for this time, every process ends a drill by itself. */
  readonly leaseMs?: number;
  readonly tickMs?: number;
  readonly sleep?: Sleep;
}

const CLOSE_MS = 2000;
const PROCESS_STOPPED = { kind: 'aborted', detail: 'The process that ran it was stopped.', atOnce: true } as const;

/**
 * Staged, guarded and reversible cache losses. The admin API, the CLI and the console use this interface. A domain has at
 * most one drill at a time, in the whole fleet.
 */
export type Drills = ReturnType<typeof createDrills>;

/** Reads the ready-made plans. @throws when one of them is invalid */
export function createDrills(options: DrillsOptions) {
  const { domains, random, clock, observe, processId, keep, directory } = options;
  const { leaseMs = 3000, tickMs = 500, sleep = pause } = options;
  const ready = loadReadyPlans();
  const archive = createRecordArchive({
    reader: JOURNALS,
    directory,
    keep,
    onFault: (id, detail) => observe({ kind: 'drill-unwritten', id, detail }),
  });
  const running = new Map<string, RunningDrill>();
  const remote = createRemoteDrills({ domains, processId, clock });
  const list = createDrillList({ running, remote, archive });
  let closed = false;

  const begin = async (request: ResolvedRequest, caller: Caller, from?: ResumePoint): Promise<Journal> => {
    if (closed) throw new OperationError('halted', 'This process is being stopped.');
    const beginOptions = { archive, processId, clock, random, observe, leaseMs, tickMs, sleep };
    const drill = await beginDrill(request, caller, from, beginOptions);
    const journal = drill.journal();
    running.set(journal.id, drill);
    void drill.over.then(() => running.delete(journal.id));
    // `close` may have been called while the drill began.
    if (closed) await drill.stop(PROCESS_STOPPED);
    return journal;
  };

  /** Restores the cache, also of a drill that another process owns. Resolves when that is done. @throws OperationError */
  const abort = async (id: string, caller: Caller): Promise<void> => {
    const own = running.get(id);
    if (own !== undefined && own.head().state.kind !== 'over') {
      return own.stop({ kind: 'aborted', detail: abortedBy(caller), atOnce: false });
    }
    const owner = domains.find(({ control }) => control.overlay()?.drill === id);
    if (owner !== undefined) return abortRemotely(owner.control, id, caller);
    await list.find(id);
    throw new OperationError('drill-over', `Drill ${id} is over.`, 'id');
  };

  /** Changes every domain, also when some of them fail. */
  const changeAll = async (change: (domain: DrillDomain) => Promise<unknown>): Promise<void> => {
    const changed = await Promise.allSettled(domains.map(change));
    const failed = domains.filter((_, index) => changed[index]?.status === 'rejected').map(({ name }) => name);
    if (failed.length === 0) return;
    throw new OperationError('control-unavailable', `These domains could not be told: ${failed.join(', ')}.`);
  };

  /** Stops every drill of every domain and refuses new ones. @throws OperationError that names the domains it could not reach */
  const halt = async ({ by, reason }: Caller): Promise<void> => {
    const detail = `All drills were halted by ${by}: ${reason}.`;
    const stopped = [...running.values()].map((drill) => drill.stop({ kind: 'aborted', detail, atOnce: true }));
    const halted = { reason, by, atMs: clock.wallMs() };
    await changeAll(({ control }) => control.change((document) => haltDocument(document, halted)));
    await Promise.all(stopped);
  };

  return {
    plans: (): readonly Plan[] => {
      const plans = ready(Math.max(0, ...domains.map(({ nodes }) => nodes().length)));
      return plans.map((plan) => applyPatience(plan, domains));
    },
    /** The dry run: what the end of each stage would flush and cost, per domain. @throws OperationError */
    preview: async (request: DrillRequest): Promise<DrillPreview> => {
      const { plan, domains: chosen } = resolveRequest(request, domains, ready);
      const offset = Math.floor(random() * BUCKETS);
      const previews = await Promise.all(
        chosen.map(async (domain) => {
          const stages = await Promise.all(plan.stages.map((_, stage) => previewStage(plan, stage, domain, offset)));
          const cohorts = forecastOf(plan, domain);
          return { domain: domain.name, stages, cohorts, warnings: drillWarnings(plan, domain, stages) };
        }),
      );
      return {
        plan,
        domains: previews.map(({ warnings: _, ...one }) => one),
        warnings: previews.flatMap(({ warnings }) => warnings),
      };
    },
    /**
     * Locks the first domain and begins the baseline. Resolves when the drill has begun; the drill goes on in the background.
     * @throws OperationError: drill-running, halted, invalid-plan, reason-required, not-dedicated, control-unavailable …
     */
    start: async (request: StartRequest) => begin(resolveRequest(request, domains, ready), request),
    /** Continues a stopped drill at its first unfinished stage. @throws OperationError drill-over, … */
    resume: async (id: string, caller: Caller) => {
      const journal = await list.find(id);
      const { point, domains: left } = resumePoint(journal);
      return begin(resolveRequest({ plan: journal.plan, domains: left }, domains, ready), caller, point);
    },
    abort,
    halt,
    lift: () => changeAll(({ control }) => control.change(liftHalt)),
    list: list.all,
    journal: list.find,
    /** The report: one HTML page that loads nothing. @throws OperationError unknown-drill */
    page: async (id: string) => options.reportPage(await list.find(id)),
    /** Rolls back the drills of this process, within about a second. */
    close: async () => {
      closed = true;
      remote.close();
      const own = [...running.values()];
      for (const drill of own) void drill.stop(PROCESS_STOPPED);
      // While the control store is away a drill cannot be ended; the other processes end it when its lease expires.
      await Promise.race([Promise.all(own.map((drill) => drill.over)), pause(CLOSE_MS)]);
    },
  };
}
