import { BUCKETS } from '../../cache/invalidation.ts';
import type { Caller } from '../../control/control.ts';
import { OperationError } from '../../control/operation-error.ts';
import { type RecordArchive, recordId } from '../../report/record-archive.ts';
import type { Clock, Runtime } from '../../runtime.ts';
import type { FlushPreview } from '../flush/flush.ts';
import { createJournalWriter, type JournalWriter } from './archive.ts';
import { type CohortLayout, createCohortLayout, nodesLostBy } from './cohorts.ts';
import { createDrillLock, type DrillLock } from './drill-lock.ts';
import type { DrillDomain, DrillEvent } from './drills.ts';
import type { Journal, Mark, ResumePoint, Verdict } from './journal.ts';
import type { Plan } from './plan.ts';
import { previewStage, type ResolvedRequest } from './resolve-request.ts';
import { createStopSignal, runDomain, type Sleep, type Stop } from './run-domain.ts';

/** A drill that runs in this process. */
export type RunningDrill = ReturnType<typeof runDrill>;

interface BeginOptions extends Runtime<DrillEvent> {
  readonly archive: RecordArchive<Journal>;
  readonly leaseMs: number;
  readonly tickMs: number;
  readonly sleep: Sleep;
}

/** Locks the first domain and starts the drill. @throws OperationError; then nothing has changed */
export async function beginDrill(
  { plan, domains }: ResolvedRequest,
  caller: Caller,
  from: ResumePoint | undefined,
  options: BeginOptions,
): Promise<RunningDrill> {
  const { archive, processId, clock, random, observe, leaseMs, tickMs, sleep } = options;
  for (const domain of domains) await checkFree(domain);
  const offset = from?.offset ?? Math.floor(random() * BUCKETS);
  const previews = await previewsOfLastStage(plan, domains, offset);
  const [first] = domains;
  const startedAtMs = clock.wallMs();
  const id = recordId({ atMs: startedAtMs, words: [first.name, plan.name], random });

  const parts = domains.map((domain, index): DrillPart => {
    const nodes = domain.nodes();
    const layout = createCohortLayout(plan, offset, nodes.length);
    const overlay = { drill: id, owner: processId, leaseMs, mode: plan.mode, cohorts: layout.cohorts };
    const flushed =
      index > 0 || from?.ranges === undefined
        ? undefined
        : { ranges: from.ranges, nodes: nodesLostBy(plan.stages, from.flushedStage ?? 0, nodes) };
    const lock = createDrillLock({ control: domain.control, overlay, flushed, nowMs: clock.monotonicMs, sleep });
    return { domain, layout, lock };
  });
  await parts[0]?.lock.acquire();

  const names = domains.map(({ name }) => name);
  const firstStage = from?.stage ?? 0;
  const writer = createJournalWriter({
    id,
    plan,
    domains: names,
    reason: caller.reason,
    by: caller.by,
    owner: processId,
    startedAtMs,
    previews,
    state: { kind: 'running', phase: 'baseline', domain: first.name, stage: firstStage },
    offset,
    resumes: from?.id,
  });
  observe({ kind: 'drill-started', id, plan: plan.name, domains: names, by: caller.by });
  const publisher = createPublisher({ writer, archive, clock });
  const drill = runDrill({ writer, parts, firstStage, clock, tickMs, sleep, observe, publisher });
  // The list has the drill as soon as `start` has resolved, also after a crash.
  await archive.write(drill.journal());
  return drill;
}

/**
 * Refuses before anything is counted or changed; `acquire` checks the document again. The drill or halt that is in the way
 * may be over since this process last read the document, so the document is read again before the refusal.
 */
async function checkFree(domain: DrillDomain): Promise<void> {
  if (objectionIn(domain) !== undefined) await domain.control.change((document) => document);
  const objection = objectionIn(domain);
  if (objection !== undefined) throw objection;
}

function objectionIn({ name, control }: DrillDomain): OperationError | undefined {
  const { halted } = control.document();
  if (halted !== undefined) {
    return new OperationError('halted', `Drills are halted by ${halted.by}: ${halted.reason}. Lift the halt first.`);
  }
  const overlay = control.overlay();
  if (overlay === undefined) return undefined;
  return new OperationError('drill-running', `Drill ${overlay.drill} runs in ${name}, owned by ${overlay.owner}.`);
}

/** A store whose keys cannot be counted now does not prevent the drill; its domain has no preview then. */
async function previewsOfLastStage(
  plan: Plan,
  domains: readonly DrillDomain[],
  offset: number,
): Promise<Readonly<Record<string, FlushPreview>>> {
  const stage = plan.stages.length - 1;
  const all = await Promise.all(
    domains.map(async (domain): Promise<readonly [string, FlushPreview][]> => {
      try {
        return [[domain.name, (await previewStage(plan, stage, domain, offset)).preview]];
      } catch (error) {
        if (error instanceof OperationError && error.code !== 'control-unavailable') throw error;
        return [];
      }
    }),
  );
  return Object.fromEntries(all.flat());
}

interface DrillPart {
  readonly domain: DrillDomain;
  readonly lock: DrillLock;
  readonly layout: CohortLayout;
}

/** Runs the plan in each domain, one after another; the first domain that does not pass ends the drill. */
function runDrill(run: {
  readonly writer: JournalWriter;
  /** In order. The lock of the first one is acquired already. */
  readonly parts: readonly DrillPart[];
  /** In the first domain; the others begin at their first stage. */
  readonly firstStage: number;
  readonly clock: Clock;
  readonly tickMs: number;
  readonly sleep: Sleep;
  readonly publisher: ReturnType<typeof createPublisher>;
  readonly observe: (event: DrillEvent) => void;
}) {
  const { writer, clock, observe, publisher } = run;
  const startedMs = clock.monotonicMs();
  const { id, plan } = writer.read(false);
  const stopSignal = createStopSignal();
  const onRestored: (() => void)[] = [];
  let current = run.parts[0];

  const onMark = (mark: Mark): void => {
    if (mark.kind === 'stage') {
      observe({ kind: 'drill-stage', id, domain: mark.domain, stage: mark.stage, title: mark.title });
    }
    if (mark.kind === 'guard') {
      const { domain, figure, value, max, then } = mark;
      observe({ kind: 'drill-guard', id, domain, figure, value, max, then });
    }
    if (mark.kind === 'restored') for (const resolve of onRestored.splice(0)) resolve();
    publisher.marked();
  };

  /** When all stages of its domain are finished, a drill can still be resumed with the next domain. */
  const resumableAtNext = (verdict: Verdict, index: number): Verdict => {
    const next = run.parts[index + 1];
    if (verdict.resumable !== undefined || verdict.kind === 'refused' || next === undefined) return verdict;
    return { ...verdict, resumable: { domain: next.domain.name, stage: 0 } };
  };

  const runAll = async (): Promise<Verdict> => {
    for (const [index, { domain, lock, layout }] of run.parts.entries()) {
      current = run.parts[index];
      const firstStage = index === 0 ? run.firstStage : 0;
      const fail = ({ kind, detail }: Pick<Verdict, 'kind' | 'detail'>, stage: number | undefined): Verdict => ({
        kind,
        detail: run.parts.length > 1 ? `${domain.name}: ${detail}` : detail,
        resumable: stage === undefined ? undefined : { domain: domain.name, stage },
      });
      const stop = stopSignal.pending();
      if (index > 0 && stop !== undefined) return fail(stop, firstStage);
      try {
        if (index > 0) await lock.acquire();
        const part = { domain, plan, layout, firstStage, lock, startedMs, stopSignal, onMark };
        const ended = await runDomain({ ...run, ...part, onTick: () => publisher.tick(domain) });
        if (ended.kind !== 'passed') return resumableAtNext(fail(ended, ended.stage), index);
      } catch (error) {
        await lock.release();
        const kind = error instanceof OperationError && error.code === 'halted' ? 'aborted' : 'failed';
        return fail({ kind, detail: error instanceof Error ? error.message : String(error) }, firstStage);
      }
    }
    return { kind: 'passed', detail: 'Every stage was survived and the cache came back.' };
  };

  const finish = async (): Promise<void> => {
    const verdict = await runAll();
    writer.end(verdict, writer.read(false).startedAtMs + Math.round(clock.monotonicMs() - startedMs));
    for (const resolve of onRestored.splice(0)) resolve();
    observe({ kind: 'drill-ended', id, domains: run.parts.map(({ domain }) => domain.name), verdict });
    if (current !== undefined) await publisher.over(current.domain);
  };
  const over = finish();

  return {
    journal: (): Journal => writer.read(),
    /** The journal without its samples. */
    head: (): Journal => writer.read(false),
    /** Resolves when the cache is restored. */
    stop: (stop: Stop) => {
      const restored = new Promise<void>((resolve) => onRestored.push(resolve));
      stopSignal.request(stop);
      // A drill that is over marks nothing more.
      return Promise.race([restored, over]);
    },
    /** Resolves when the whole journal is written. */
    over,
  };
}

/** The report of the journal's head in the control store. A domain has one drill, so one name is enough. */
export const HEAD_REPORT = 'drill';
const PUBLISH_INTERVAL_MS = 2000;
/** Maximum number of marks in a report, the latest ones: the control store takes only small reports. */
const MAX_REPORTED_MARKS = 64;

/** Writes the journal to the archive and reports its head to the other processes, at intervals and at the end. */
function createPublisher(options: {
  readonly writer: JournalWriter;
  readonly archive: RecordArchive<Journal>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}) {
  const { writer, archive, clock } = options;
  let isUnwritten = false;
  let writtenMs = clock.monotonicMs();
  let reportedMs = Number.NEGATIVE_INFINITY;

  const report = async ({ control }: DrillDomain): Promise<void> => {
    const head = writer.read(false);
    // A failed report is repeated at the next interval; the drill goes on.
    await control.report(HEAD_REPORT, { ...head, marks: head.marks.slice(-MAX_REPORTED_MARKS) }).catch(() => undefined);
  };
  return {
    /** The journal has a new mark. */
    marked: () => {
      isUnwritten = true;
      reportedMs = Number.NEGATIVE_INFINITY;
    },
    tick: (domain: DrillDomain) => {
      const nowMs = clock.monotonicMs();
      if (nowMs - reportedMs >= PUBLISH_INTERVAL_MS) {
        reportedMs = nowMs;
        void report(domain);
      }
      if (isUnwritten && nowMs - writtenMs >= PUBLISH_INTERVAL_MS) {
        isUnwritten = false;
        writtenMs = nowMs;
        void archive.write(writer.read());
      }
    },
    over: async (domain: DrillDomain) => {
      await Promise.all([report(domain), archive.write(writer.read())]);
    },
  };
}
