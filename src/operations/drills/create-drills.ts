import { BUCKETS } from '../../cache/invalidation.ts';
import { halt as haltDocument, liftHalt } from '../../control/changes.ts';
import { OperationRefused } from '../../control/operation-error.ts';
import { createArchive } from './archive.ts';
import { createDrillList, createRemoteDrills } from './drill-list.ts';
import { abortedBy, abortRemotely } from './drill-lock.ts';
import type { Caller, DrillDomain, Drills } from './drills.ts';
import { applyPatience } from './guards.ts';
import { type Journal, type ResumePoint, resumePoint } from './journal.ts';
import { loadReadyPlans } from './plan-file.ts';
import { cohortsOf, previewStage, type ResolvedRequest, resolveRequest, warningsOf } from './resolve-request.ts';
import { type Sleep, sleepReally } from './run-domain.ts';
import { type BeginOptions, beginDrill, type RunningDrill } from './run-drill.ts';

export interface DrillsOptions extends Pick<BeginOptions, 'processId' | 'clock' | 'random' | 'observe'> {
  readonly domains: readonly DrillDomain[];
  /** Where reports are kept; absent: in memory, the latest few. */
  readonly directory?: string;
  /** Newest reports kept. */
  readonly keep: number;
  /** Draws a report. */
  readonly reportPage: (journal: Journal) => string;
  /** After so long without a sign of the owner every process ends a drill by itself. */
  readonly leaseMs?: number;
  readonly tickMs?: number;
  readonly sleep?: Sleep;
}

/** Reads the ready-made plans. @throws when one of them is damaged */
export function createDrills(options: DrillsOptions): Drills {
  const { domains, random, clock, observe, processId, keep, directory } = options;
  const { leaseMs = 3000, tickMs = 500, sleep = sleepReally } = options;
  const ready = loadReadyPlans();
  const archive = createArchive({
    ...(directory === undefined ? {} : { directory }),
    keep,
    onFault: (id, detail) => observe({ kind: 'drill-unwritten', id, detail }),
  });
  const running = new Map<string, RunningDrill>();
  const elsewhere = createRemoteDrills({ domains, processId });
  const list = createDrillList({ running, elsewhere, archive });
  const beginning = { archive, processId, clock, random, observe, leaseMs, tickMs, sleep };
  let closed = false;

  const begin = async (settled: ResolvedRequest, caller: Caller, from?: ResumePoint): Promise<Journal> => {
    if (closed) throw new OperationRefused('halted', 'This process is being stopped.');
    const drill = await beginDrill(settled, caller, from, beginning);
    const journal = drill.journal();
    running.set(journal.id, drill);
    void drill.over.then(() => running.delete(journal.id));
    // A process that was told to stop meanwhile does not leave a drill behind.
    if (closed) await drill.stop(STOPPED);
    return journal;
  };

  const abort = async (id: string, caller: Caller): Promise<void> => {
    const own = running.get(id);
    if (own !== undefined && own.head().state.kind !== 'over') {
      return own.stop({ kind: 'aborted', detail: abortedBy(caller), atOnce: false });
    }
    const owner = domains.find(({ control }) => control.overlay()?.drill === id);
    if (owner !== undefined) return abortRemotely(owner.control, id, caller);
    await list.find(id);
    throw new OperationRefused('drill-over', `Drill ${id} is over.`, 'id');
  };

  /** Every domain is told, whatever becomes of the others. */
  const tellAll = async (tell: (domain: DrillDomain) => Promise<unknown>): Promise<void> => {
    const told = await Promise.allSettled(domains.map(tell));
    const untold = domains.filter((_, place) => told[place]?.status === 'rejected').map(({ name }) => name);
    if (untold.length === 0) return;
    throw new OperationRefused('control-unavailable', `These domains could not be told: ${untold.join(', ')}.`);
  };

  const halt = async ({ by, reason }: Caller): Promise<void> => {
    if (reason.trim() === '') throw new OperationRefused('reason-required', 'A halt needs a reason.', '/reason');
    const detail = `All drills were halted by ${by}: ${reason}.`;
    const stopped = [...running.values()].map((drill) => drill.stop({ kind: 'aborted', detail, atOnce: true }));
    const halted = { reason, by, atMs: clock.wallMs() };
    await tellAll(({ control }) => control.change((document) => haltDocument(document, halted)));
    await Promise.all(stopped);
  };

  return {
    plans: () => {
      const plans = ready(Math.max(0, ...domains.map(({ nodes }) => nodes().length)));
      return plans.map((plan) =>
        applyPatience(
          plan,
          domains.map(({ patienceMs }) => patienceMs),
        ),
      );
    },
    preview: async (ask) => {
      const settled = resolveRequest(ask, domains, ready);
      const { plan } = settled;
      const offset = Math.floor(random() * BUCKETS);
      const previews = await Promise.all(
        settled.domains.map(async (domain) => {
          const stages = await Promise.all(plan.stages.map((_, stage) => previewStage(plan, stage, domain, offset)));
          const cohorts = cohortsOf(plan, domain);
          return { domain: domain.name, stages, cohorts, warnings: warningsOf(plan, domain, stages) };
        }),
      );
      return {
        plan,
        domains: previews.map(({ warnings: _, ...one }) => one),
        warnings: previews.flatMap(({ warnings }) => warnings),
      };
    },
    start: async (ask) => begin(resolveRequest(ask, domains, ready), ask),
    resume: async (id, caller) => {
      const journal = await list.find(id);
      const { point, domains: left } = resumePoint(journal);
      return begin(resolveRequest({ plan: journal.plan, domains: left }, domains, ready), caller, point);
    },
    abort,
    halt,
    lift: () => tellAll(({ control }) => control.change(liftHalt)),
    list: list.all,
    unreadable: list.unreadable,
    journal: list.find,
    page: async (id) => options.reportPage(await list.find(id)),
    close: async () => {
      closed = true;
      elsewhere.close();
      const own = [...running.values()];
      for (const drill of own) void drill.stop(STOPPED);
      // A store that is away cannot be told, and then every other process ends it by its lease.
      await Promise.race([Promise.all(own.map((drill) => drill.over)), sleepReally(CLOSE_MS)]);
    },
  };
}

const CLOSE_MS = 2000;
const STOPPED = { kind: 'aborted', detail: 'The process that ran it was stopped.', atOnce: true } as const;
