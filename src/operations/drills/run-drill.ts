import { BUCKETS } from '../../cache/invalidation.ts';
import { OperationRefused } from '../../control/operation-error.ts';
import type { Clock } from '../../runtime.ts';
import type { FlushPreview } from '../flush/flush.ts';
import { type Archive, createJournalWriter, type JournalWriter } from './archive.ts';
import { type CohortLayout, createCohortLayout, nodesLostBy } from './cohorts.ts';
import { createDrillLock, type DrillLock } from './drill-lock.ts';
import type { Caller, DrillDomain, DrillEvent } from './drills.ts';
import type { Journal, Mark, ResumePoint, Verdict } from './journal.ts';
import type { Plan } from './plan.ts';
import { previewStage, type ResolvedRequest } from './resolve-request.ts';
import { createStopSignal, runDomain, type Sleep, type Stop } from './run-domain.ts';

/** A drill that runs in this process. */
export interface RunningDrill {
  readonly journal: () => Journal;
  /** Without its samples. */
  readonly head: () => Journal;
  /** Resolves when the cache is restored. */
  readonly stop: (stop: Stop) => Promise<void>;
  /** Resolves when everything about it is written. */
  readonly over: Promise<void>;
}

interface DrillRun {
  readonly book: JournalWriter;
  /** In order; the first one's grip is taken already. */
  readonly parts: readonly DrillPart[];
  /** Of the first domain; the others begin at their first. */
  readonly firstStage: number;
  readonly clock: Clock;
  readonly tickMs: number;
  readonly sleep: Sleep;
  /** The journal has changed in a way worth keeping. */
  readonly onMark: () => void;
  readonly onTick: (domain: DrillDomain) => void;
  readonly onOver: (domain: DrillDomain) => Promise<void>;
  readonly observe: (event: DrillEvent) => void;
}

interface DrillPart {
  readonly domain: DrillDomain;
  readonly grip: DrillLock;
  readonly circle: CohortLayout;
}

function runDrill(run: DrillRun): RunningDrill {
  const { book, clock, observe } = run;
  const startedMs = clock.monotonicMs();
  const { id, plan } = book.read(false);
  const lever = createStopSignal();
  const waiting: (() => void)[] = [];
  let current = run.parts[0];

  const onMark = (mark: Mark): void => {
    if (mark.kind === 'stage') {
      observe({ kind: 'drill-stage', id, domain: mark.domain, stage: mark.stage, title: mark.title });
    }
    if (mark.kind === 'guard') {
      const { domain, figure, value, max, then } = mark;
      observe({ kind: 'drill-guard', id, domain, figure, value, max, then });
    }
    if (mark.kind === 'restored') for (const tell of waiting.splice(0)) tell();
    run.onMark();
  };

  /** All stages of its domain were through: what is left are the domains that were never drilled. */
  const onwards = (verdict: Verdict, place: number): Verdict => {
    const next = run.parts[place + 1];
    if (verdict.resumable !== undefined || verdict.kind === 'refused' || next === undefined) return verdict;
    return { ...verdict, resumable: { domain: next.domain.name, stage: 0 } };
  };

  const drillAll = async (): Promise<Verdict> => {
    for (const [place, { domain, grip, circle }] of run.parts.entries()) {
      current = run.parts[place];
      const firstStage = place === 0 ? run.firstStage : 0;
      const fail = ({ kind, detail }: Pick<Verdict, 'kind' | 'detail'>, stage: number | undefined): Verdict => ({
        kind,
        detail: run.parts.length > 1 ? `${domain.name}: ${detail}` : detail,
        ...(stage === undefined ? {} : { resumable: { domain: domain.name, stage } }),
      });
      const stop = lever.pending();
      if (place > 0 && stop !== undefined) return fail(stop, firstStage);
      try {
        if (place > 0) await grip.acquire();
        const { tickMs, sleep } = run;
        const onTick = (): void => run.onTick(domain);
        const ended = await runDomain({
          ...{ domain, plan, circle, firstStage, grip, book, clock, startedMs, tickMs, sleep, lever, onMark, onTick },
        });
        if (ended.kind !== 'passed') return onwards(fail(ended, ended.stage), place);
      } catch (error) {
        await grip.release();
        const kind = error instanceof OperationRefused && error.code === 'halted' ? 'aborted' : 'failed';
        return fail({ kind, detail: error instanceof Error ? error.message : String(error) }, firstStage);
      }
    }
    return { kind: 'passed', detail: 'Every stage was survived and the cache came back.' };
  };

  const finish = async (): Promise<void> => {
    const verdict = await drillAll();
    book.end(verdict, book.read(false).startedAtMs + Math.round(clock.monotonicMs() - startedMs));
    for (const tell of waiting.splice(0)) tell();
    observe({ kind: 'drill-ended', id, domains: run.parts.map(({ domain }) => domain.name), verdict });
    if (current !== undefined) await run.onOver(current.domain);
  };
  const over = finish();

  return {
    journal: () => book.read(),
    head: () => book.read(false),
    stop: (stop) => {
      const restored = new Promise<void>((resolve) => waiting.push(resolve));
      lever.request(stop);
      // Nothing more is marked by a drill that is over already.
      return Promise.race([restored, over]);
    },
    over,
  };
}

/** What an owner's head is reported as: one drill a domain, so one place. */
export const HEAD_REPORT = 'drill';

interface DrillName {
  readonly plan: Pick<Plan, 'name'>;
  readonly domain: string;
  readonly wallMs: number;
  readonly random: () => number;
}

/** `20261121-064348-goods-canary-x7q2`: sorts by time, safe as a file name. */
function drillId({ plan, domain, wallMs, random }: DrillName): string {
  const [day = '', time = ''] = new Date(wallMs).toISOString().replaceAll(/[-:]/g, '').split('T');
  const safe = domain
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .slice(0, 64);
  // Two processes may start one within a second.
  const word = Math.floor(random() * 36 ** 4).toString(36);
  return `${day}-${time.slice(0, 6)}-${safe}-${plan.name}-${word.padStart(4, '0')}`;
}

const EVERY_MS = 2000;

/** What other processes are told is small. */
const MAX_TOLD_MARKS = 64;

/** Keeps the journal where it outlives this process, and tells the others how the drill goes: now and then, and at its end. */
function createPublisher(options: {
  readonly book: JournalWriter;
  readonly archive: Archive;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}): Pick<DrillRun, 'onMark' | 'onTick' | 'onOver'> {
  const { book, archive, clock } = options;
  let unwritten = false;
  let writtenMs = clock.monotonicMs();
  let toldMs = Number.NEGATIVE_INFINITY;

  const tell = async ({ control }: DrillDomain): Promise<void> => {
    const head = book.read(false);
    // Who cannot be told hears it the next time; the drill goes on.
    await control.report(HEAD_REPORT, { ...head, marks: head.marks.slice(-MAX_TOLD_MARKS) }).catch(() => undefined);
  };
  return {
    onMark: () => {
      unwritten = true;
      toldMs = Number.NEGATIVE_INFINITY;
    },
    onTick: (domain) => {
      const nowMs = clock.monotonicMs();
      if (nowMs - toldMs >= EVERY_MS) {
        toldMs = nowMs;
        void tell(domain);
      }
      if (unwritten && nowMs - writtenMs >= EVERY_MS) {
        unwritten = false;
        writtenMs = nowMs;
        void archive.write(book.read());
      }
    },
    onOver: async (domain) => {
      await Promise.all([tell(domain), archive.write(book.read())]);
    },
  };
}

export interface BeginOptions {
  readonly archive: Archive;
  readonly processId: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: DrillEvent) => void;
  readonly leaseMs: number;
  readonly tickMs: number;
  readonly sleep: Sleep;
}

/** Takes the first domain and sets the drill going. @throws OperationRefused, and then nothing has changed */
export async function beginDrill(
  { plan, domains }: ResolvedRequest,
  caller: Caller,
  from: ResumePoint | undefined,
  options: BeginOptions,
): Promise<RunningDrill> {
  const { archive, processId, clock, random, observe, leaseMs, tickMs, sleep } = options;
  if (caller.reason.trim() === '') {
    throw new OperationRefused('reason-required', 'A drill needs a reason: who reads its report will ask.', '/reason');
  }
  for (const domain of domains) await refuseNow(domain);
  const offset = from?.offset ?? Math.floor(random() * BUCKETS);
  const previews = await lastPreviews(plan, domains, offset);
  const [first] = domains;
  const startedAtMs = clock.wallMs();
  const id = drillId({ plan, domain: first.name, wallMs: startedAtMs, random });

  const parts = domains.map((domain, place): DrillPart => {
    const nodes = domain.nodes();
    const circle = createCohortLayout(plan, offset, nodes.length);
    const { cohorts } = circle;
    const overlay = { drill: id, owner: processId, leaseMs, mode: plan.mode, cohorts };
    const flushed =
      place > 0 || from?.ranges === undefined
        ? undefined
        : { ranges: from.ranges, nodes: nodesLostBy(plan.stages, from.flushedStage ?? 0, nodes) };
    return {
      domain,
      circle,
      grip: createDrillLock({ control: domain.control, overlay, flushed, nowMs: clock.monotonicMs, sleep }),
    };
  });
  await parts[0]?.grip.acquire();

  const firstStage = from?.stage ?? 0;
  const book = createJournalWriter({
    id,
    plan,
    domains: domains.map(({ name }) => name),
    reason: caller.reason,
    by: caller.by,
    owner: processId,
    startedAtMs,
    previews,
    state: { kind: 'running', phase: 'baseline', domain: first.name, stage: firstStage },
    offset,
    ...(from === undefined ? {} : { resumes: from.id }),
  });
  observe({ kind: 'drill-started', id, plan: plan.name, domains: domains.map(({ name }) => name), by: caller.by });
  const news = createPublisher({ book, archive, clock });
  const drill = runDrill({ book, parts, firstStage, clock, tickMs, sleep, observe, ...news });
  // Whoever reads the list right after the start finds it, also after a crash.
  await archive.write(drill.journal());
  return drill;
}

/**
 * Told before anything is counted or taken; the document itself is judged once more when it is taken. What speaks against
 * it may have ended elsewhere since this process last looked: so it looks again before it says no.
 */
async function refuseNow(domain: DrillDomain): Promise<void> {
  if (objectionIn(domain) !== undefined) await domain.control.change((document) => document);
  const objection = objectionIn(domain);
  if (objection !== undefined) throw objection;
}

function objectionIn({ name, control }: DrillDomain): OperationRefused | undefined {
  const { halted } = control.document();
  if (halted !== undefined) {
    return new OperationRefused('halted', `Drills are halted by ${halted.by}: ${halted.reason}. Lift the halt first.`);
  }
  const overlay = control.overlay();
  if (overlay === undefined) return undefined;
  return new OperationRefused('drill-running', `Drill ${overlay.drill} runs in ${name}, owned by ${overlay.owner}.`);
}

/** Of the last stage that flushes. A store that cannot be counted now keeps nobody from rehearsing its loss. */
async function lastPreviews(
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
        if (error instanceof OperationRefused && error.code !== 'control-unavailable') throw error;
        return [];
      }
    }),
  );
  return Object.fromEntries(all.flat());
}
