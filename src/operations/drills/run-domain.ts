import { BUCKETS } from '../../cache/invalidation.ts';
import type { BucketRange } from '../../control/document.ts';
import { OperationRefused } from '../../control/operation-error.ts';
import type { Clock } from '../../runtime.ts';
import type { Flush } from '../flush/flush.ts';
import { createDomainRecorder, type JournalWriter } from './archive.ts';
import { type CohortLayout, nodesLostBy, stageTitle } from './cohorts.ts';
import { createDomainFigures } from './domain-figures.ts';
import { abortReason, type DrillLock, type Loss, type StageOverlay } from './drill-lock.ts';
import type { DrillDomain } from './drills.ts';
import type { GuardState } from './guards.ts';
import type { DrillPhase, Mark } from './journal.ts';
import type { Plan } from './plan.ts';
import { type Decision, decide, type Ending, type MachineState, type Observation } from './state-machine.ts';

interface DomainRun {
  readonly domain: DrillDomain;
  readonly plan: Plan;
  readonly circle: CohortLayout;
  readonly firstStage: number;
  /** Taken already. */
  readonly grip: DrillLock;
  readonly book: JournalWriter;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Monotonic time at which the journal began. */
  readonly startedMs: number;
  readonly tickMs: number;
  readonly sleep: Sleep;
  readonly lever: StopSignal;
  readonly onMark: (mark: Mark) => void;
  readonly onTick: () => void;
}

interface DomainEnd extends Ending {
  /** The one that was not finished; undefined when all were. */
  readonly stage: number | undefined;
}

/** Until every process follows the document and has reported since: half a second for each, and a little. */
const SETTLE_MS = 1500;
/** Attempts at a stage that the store did not take. */
const MAX_ATTEMPTS = 10;

/** Drills one domain from its baseline to its end. Whatever happens, the overlay is gone when it resolves, or void soon. */
export async function runDomain(run: DomainRun): Promise<DomainEnd> {
  const { domain, plan, circle, grip, book, firstStage, lever } = run;
  const nowMs = run.clock.monotonicMs;
  const { mark, sample } = createDomainRecorder({
    domain: domain.name,
    book,
    elapsedMs: () => nowMs() - run.startedMs,
    onMark: run.onMark,
  });
  const erasing = createStageErasure(domain.flush, plan);
  const baselineMs = nowMs() + SETTLE_MS;
  const figures = createDomainFigures({ domain, plan, circle, nowMs, fromMs: baselineMs });
  let course: MachineState = { kind: 'baseline', sinceMs: baselineMs };
  let stage = firstStage;
  let isFlushed = false;

  const phase = (): DrillPhase => (course.kind === 'stage' && course.heldSinceMs !== undefined ? 'hold' : course.kind);
  const enter = (next: MachineState): void => {
    const before = phase();
    course = next;
    if (phase() !== before) mark({ kind: 'phase', phase: phase() });
    tellState();
  };
  const tellState = (): void => {
    const running = { kind: 'running', phase: phase(), domain: domain.name, stage } as const;
    if (course.kind !== 'after') book.state(running);
    else book.state({ kind: 'ending', ...(course.ended === undefined ? {} : { ended: course.ended }) });
  };
  const restored = (why: string): void => {
    if (isFlushed) mark({ kind: 'restored', why });
    isFlushed = false;
  };
  const learn = (over: boolean): void => {
    const learned = figures.learned(over);
    if (learned !== undefined) book.learned(learned);
  };

  /** Undefined: the fleet was not heard, which says nothing about any guard. */
  const look = async (): Promise<readonly GuardState[] | undefined> => {
    const during = course.kind === 'stage' || course.kind === 'recovery' ? course.kind : 'calm';
    const heard = await figures.collect(during);
    if (heard === undefined) return undefined;
    sample({ phase: phase(), stage }, heard.figures, heard.guards);
    if (heard.refilled) mark({ kind: 'recovered', stage, afterMs: Math.round(figures.refillMs(stage) ?? 0) });
    learn(false);
    return heard.guards;
  };

  const isBlackout = (place: number): boolean => plan.stages[place]?.kind === 'blackout';
  const overlayOf = (place: number, blackout: boolean): StageOverlay => {
    return { ranges: circle.flushedBy(place), nodes: nodesLostBy(plan.stages, place, domain.nodes()), blackout };
  };

  const begin = async (place: number): Promise<void> => {
    const overlay = overlayOf(place, isBlackout(place));
    const ranges = await grip.flush(overlay);
    const atMs = nowMs();
    isFlushed = true;
    stage = place;
    figures.stageBegins(place, atMs + SETTLE_MS);
    mark({ kind: 'stage', stage, ranges, title: stageTitle(plan, stage) });
    enter({ kind: 'stage', stage, sinceMs: atMs });
    erasing.begin(place, circle, overlay.nodes);
  };

  const restore = async (ended: Ending | undefined): Promise<Ending | undefined> => {
    erasing.stop();
    if (!(await grip.restore())) return ended ?? STORE_AWAY;
    restored(ended?.detail ?? 'The cache has recovered.');
    const sinceMs = nowMs() + SETTLE_MS;
    figures.afterBegins(sinceMs);
    enter({ kind: 'after', sinceMs, ...(ended === undefined ? {} : { ended }) });
    return undefined;
  };

  /** Undefined: it goes on. */
  const act = async (decision: Decision): Promise<Ending | undefined> => {
    switch (decision.kind) {
      case 'hold':
        if (course.kind !== 'stage') return undefined;
        enter({
          kind: 'stage',
          stage,
          sinceMs: course.sinceMs,
          ...(decision.sinceMs === undefined ? {} : { heldSinceMs: decision.sinceMs }),
        });
        return undefined;
      case 'stage':
        await begin(decision.stage);
        return undefined;
      case 'recover':
        // Without the engine nothing would come back.
        if (isBlackout(stage)) await grip.flush(overlayOf(stage, false));
        enter({ kind: 'recovery', sinceMs: nowMs() });
        return undefined;
      case 'restore':
        return restore(decision.ended);
      case 'end':
        return decision.ended;
      case 'stay':
        return undefined;
    }
  };

  const finish = async ({ kind, detail }: Ending): Promise<DomainEnd> => {
    erasing.stop();
    learn(true);
    const told = await grip.release();
    const why = detail === ELSEWHERE ? ((await abortReason(domain.control, book.read(false).id)) ?? detail) : detail;
    restored(why);
    const isUnbegun = kind === 'not-measured' && course.kind === 'baseline';
    const isThrough = course.kind === 'after' && course.ended === undefined;
    return {
      kind,
      detail: told ? why : `${why} ${UNTOLD}`,
      stage: kind === 'refused' || isUnbegun || isThrough ? undefined : stage,
    };
  };

  const seen = (guards: Observation['guards'], stop: Observation['stop']): Observation => ({
    nowMs: nowMs(),
    guards,
    broken: figures.broken,
    searches: figures.searches(),
    hasEnoughSearches: figures.isSearched,
    processes: figures.processes,
    cohortSearches: figures.cohortSearches,
    recovery: course.kind === 'recovery' ? figures.recovery() : 'unseen',
    erasing: erasing.isRunning(),
    eraseFailed: erasing.failure(),
    lockLost: endingOf(grip.lost()),
    stop,
    blindMs: figures.blindMs(),
  });

  mark({ kind: 'phase', phase: 'baseline' });
  tellState();
  for (let failures = 0; ; ) {
    await run.sleep(run.tickMs, lever.signal());
    const stop = lever.pending();
    try {
      // The person who stops it waits for the cache, not for figures.
      const [guards] = stop === undefined ? await Promise.all([look(), grip.renew()]) : [undefined];
      const ended = await act(decide(plan, course, firstStage, seen(guards, stop)));
      if (stop !== undefined) lever.acknowledge(stop);
      if (ended !== undefined) return await finish(ended);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!(error instanceof OperationRefused)) return await finish({ kind: 'failed', detail: `${error}.` });
      // Ended by somebody else between two looks: the next one tells by whom.
      const mayPass = error.code === 'control-unavailable' || error.code === 'drill-over';
      if (!mayPass) return await finish({ kind: 'failed', detail: `The stage could not begin: ${error.message}.` });
      if (failures >= MAX_ATTEMPTS) return await finish(STORE_AWAY);
    }
    run.onTick();
  }
}

const ELSEWHERE = 'Another process ended it.';
const UNTOLD = 'The control store could not be told: every process ends it by itself within the lease time.';
const STORE_AWAY: Ending = { kind: 'lost', detail: 'The control store took no change.' };

function endingOf(loss: Loss | undefined): Ending | undefined {
  switch (loss?.kind) {
    case undefined:
      return undefined;
    case 'taken':
      return { kind: 'aborted', detail: ELSEWHERE };
    case 'halted':
      return { kind: 'aborted', detail: `All drills were halted by ${loss.by}: ${loss.reason}.` };
    case 'lapsed':
      return { kind: 'lost', detail: 'It could not be renewed in time, so every process ended it by itself.' };
  }
}

/** The physical part of a drill that erases, behind its stages. */
interface StageErasure {
  /** What the stage adds to those before it. */
  readonly begin: (stage: number, circle: CohortLayout, nodes: readonly string[] | undefined) => void;
  readonly isRunning: () => boolean;
  /** Why not everything was erased. */
  readonly failure: () => string | undefined;
  readonly stop: () => void;
}

function createStageErasure(
  flush: Pick<Flush, 'erase'>,
  { mode, eraseBy, stages }: Pick<Plan, 'mode' | 'eraseBy' | 'stages'>,
): StageErasure {
  const stopping = new AbortController();
  let running = 0;
  let failure: string | undefined;

  const erase = async (ranges: readonly BucketRange[], nodes: readonly string[] | undefined): Promise<void> => {
    running += 1;
    try {
      const ask = { ranges, by: eraseBy, ...(nodes === undefined ? {} : { nodes }) };
      const { state, nodes: erased } = await flush.erase(ask, stopping.signal);
      const failed = erased.find((node) => node.state === 'failed');
      if (state === 'failed') failure ??= `${failed?.node ?? 'a node'}: ${failed?.detail ?? 'it did not answer'}`;
    } catch (error) {
      failure ??= error instanceof Error ? error.message : String(error);
    } finally {
      running -= 1;
    }
  };

  return {
    begin: (stage, circle, nodes) => {
      if (mode !== 'erase' || stages[stage]?.kind === 'blackout') return;
      // FLUSHALL asks nobody which bucket a key is in: the holdout goes with the rest.
      const ranges = eraseBy === 'flushall' ? [{ from: 0, to: BUCKETS }] : (circle.cohorts[stage + 1] ?? []);
      void erase(ranges, nodes);
    },
    isRunning: () => running > 0,
    failure: () => (stopping.signal.aborted ? undefined : failure),
    stop: () => stopping.abort(),
  };
}

/** Time as drills wait for it; tests bring their own. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Resolves after `ms`, or at once when the signal is aborted. Keeps no process alive. */
export const sleepReally: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    signal?.addEventListener('abort', end, { once: true });
  });

export type Stop = NonNullable<Observation['stop']>;

/** How whoever aborts reaches the loop of a drill: at once, not at its next tick. */
interface StopSignal {
  readonly request: (stop: Stop) => void;
  /** Pulled and not yet acted upon. */
  readonly pending: () => Stop | undefined;
  /** This one was acted upon: the loop ticks on, unless somebody has pulled again meanwhile. */
  readonly acknowledge: (done: Stop) => void;
  /** Aborted while pulled. */
  readonly signal: () => AbortSignal;
}

export function createStopSignal(): StopSignal {
  let controller = new AbortController();
  let stop: Stop | undefined;
  return {
    request: (next) => {
      // A stop that ends the drill at once is not replaced by a milder one.
      if (stop?.atOnce !== true) stop = next;
      controller.abort();
    },
    pending: () => stop,
    acknowledge: (done) => {
      if (stop !== done) return;
      stop = undefined;
      controller = new AbortController();
    },
    signal: () => controller.signal,
  };
}
