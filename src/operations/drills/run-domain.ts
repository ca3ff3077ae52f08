import { BUCKETS } from '../../cache/invalidation.ts';
import type { BucketRange } from '../../control/document.ts';
import { OperationError } from '../../control/operation-error.ts';
import type { Clock } from '../../runtime.ts';
import type { Flush } from '../flush/create-flush.ts';
import { createDomainRecorder, type JournalWriter } from './archive.ts';
import { type CohortLayout, nodesLostBy, stageTitle } from './cohorts.ts';
import { createDomainFigures } from './domain-figures.ts';
import { abortReason, type DrillLock, type LockLoss, type StageOverlay } from './drill-lock.ts';
import type { DrillDomain } from './drills.ts';
import type { GuardState } from './guards.ts';
import type { DrillPhase, Mark } from './journal.ts';
import type { Plan } from './plan.ts';
import { type Decision, type DrillEnding, type DrillObservation, decide, type MachineState } from './state-machine.ts';

interface DomainEnd extends DrillEnding {
  /** The first unfinished stage; undefined: there is nothing to resume. */
  readonly stage: number | undefined;
}

/**
 * Time until every process follows the document (half a second) and has reported since then (half a second), with some
 * slack.
 */
const SETTLE_MS = 1500;
/** Number of failed ticks in a row, in which the control store took no change, after which the drill ends. */
const MAX_ATTEMPTS = 10;

/** Drills one domain, from its baseline to its end. When it resolves, the overlay is removed or will expire soon. */
export async function runDomain(run: {
  readonly domain: DrillDomain;
  readonly plan: Plan;
  readonly layout: CohortLayout;
  readonly firstStage: number;
  /** Acquired already. */
  readonly lock: DrillLock;
  readonly writer: JournalWriter;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Monotonic time at which the journal began. */
  readonly startedMs: number;
  readonly tickMs: number;
  readonly sleep: Sleep;
  readonly stopSignal: ReturnType<typeof createStopSignal>;
  readonly onMark: (mark: Mark) => void;
  readonly onTick: () => void;
}): Promise<DomainEnd> {
  const { domain, plan, layout, lock, writer, firstStage, stopSignal } = run;
  const nowMs = run.clock.monotonicMs;
  const { mark, sample } = createDomainRecorder({
    domain: domain.name,
    writer,
    elapsedMs: () => nowMs() - run.startedMs,
    onMark: run.onMark,
  });
  const erasure = createStageErasure(domain.flush, plan);
  const baselineMs = nowMs() + SETTLE_MS;
  const figures = createDomainFigures({ domain, plan, layout, nowMs, fromMs: baselineMs });
  let state: MachineState = { kind: 'baseline', sinceMs: baselineMs };
  let stage = firstStage;
  let isFlushed = false;

  const phase = (): DrillPhase => (state.kind === 'stage' && state.heldSinceMs !== undefined ? 'hold' : state.kind);
  const enter = (next: MachineState): void => {
    const before = phase();
    state = next;
    if (phase() !== before) mark({ kind: 'phase', phase: phase() });
    writeState();
  };
  const writeState = (): void => {
    if (state.kind === 'after') {
      writer.state({ kind: 'ending', ended: state.ended });
    } else {
      writer.state({ kind: 'running', phase: phase(), domain: domain.name, stage });
    }
  };
  const markRestored = (why: string): void => {
    if (isFlushed) mark({ kind: 'restored', why });
    isFlushed = false;
  };
  const writeResult = (isOver: boolean): void => {
    const result = figures.result(isOver);
    if (result !== undefined) writer.result(result);
  };

  /** Undefined: the fleet was not heard, so no guard is known to hold or to be broken. */
  const measure = async (): Promise<readonly GuardState[] | undefined> => {
    const during = state.kind === 'stage' || state.kind === 'recovery' ? state.kind : 'calm';
    const collected = await figures.collect(during);
    if (collected === undefined) return undefined;
    sample({ phase: phase(), stage }, collected.figures, collected.guards);
    if (collected.refilled) mark({ kind: 'recovered', stage, afterMs: Math.round(figures.refillMs(stage) ?? 0) });
    writeResult(false);
    return collected.guards;
  };

  const isBlackout = (index: number): boolean => plan.stages[index]?.kind === 'blackout';
  const overlayOf = (index: number, blackout: boolean): StageOverlay => {
    return { ranges: layout.flushedBy(index), nodes: nodesLostBy(plan.stages, index, domain.nodes()), blackout };
  };

  const beginStage = async (index: number): Promise<void> => {
    const overlay = overlayOf(index, isBlackout(index));
    const ranges = await lock.flush(overlay);
    const atMs = nowMs();
    isFlushed = true;
    stage = index;
    figures.stageBegins(index, atMs + SETTLE_MS);
    mark({ kind: 'stage', stage, ranges, title: stageTitle(plan, stage) });
    enter({ kind: 'stage', stage, sinceMs: atMs });
    erasure.begin(index, layout, overlay.nodes);
  };

  const restore = async (ended: DrillEnding | undefined): Promise<DrillEnding | undefined> => {
    erasure.stop();
    if (!(await lock.restore())) return ended ?? STORE_AWAY;
    markRestored(ended?.detail ?? 'The cache has recovered.');
    const sinceMs = nowMs() + SETTLE_MS;
    figures.afterBegins(sinceMs);
    enter({ kind: 'after', sinceMs, ended });
    return undefined;
  };

  /** Undefined: the drill goes on. */
  const act = async (decision: Decision): Promise<DrillEnding | undefined> => {
    switch (decision.kind) {
      case 'hold':
        if (state.kind !== 'stage') return undefined;
        enter({ ...state, heldSinceMs: decision.sinceMs });
        return undefined;
      case 'stage':
        await beginStage(decision.stage);
        return undefined;
      case 'recover':
        // The cache cannot be refilled without the engine.
        if (isBlackout(stage)) await lock.flush(overlayOf(stage, false));
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

  const finish = async ({ kind, detail }: DrillEnding): Promise<DomainEnd> => {
    erasure.stop();
    writeResult(true);
    const released = await lock.release();
    const why =
      detail === ENDED_REMOTELY ? ((await abortReason(domain.control, writer.read(false).id)) ?? detail) : detail;
    markRestored(why);
    const isUnbegun = kind === 'not-measured' && state.kind === 'baseline';
    const isThrough = state.kind === 'after' && state.ended === undefined;
    return {
      kind,
      detail: released ? why : `${why} ${NOT_RELEASED}`,
      stage: kind === 'refused' || isUnbegun || isThrough ? undefined : stage,
    };
  };

  const observation = (guards: DrillObservation['guards'], stop: DrillObservation['stop']): DrillObservation => ({
    nowMs: nowMs(),
    guards,
    broken: figures.broken,
    searches: figures.searches(),
    hasEnoughSearches: figures.hasEnoughSearches,
    processes: figures.processes,
    cohortSearches: figures.cohortSearches,
    recovery: state.kind === 'recovery' ? figures.recovery() : 'unseen',
    erasing: erasure.isRunning(),
    eraseFailed: erasure.failure(),
    lockLost: endingOf(lock.lost()),
    stop,
    // A process that was suspended has old figures as well, which are not why its drill ends.
    blindMs: lock.isInDoubt() ? 0 : figures.blindMs(),
  });

  mark({ kind: 'phase', phase: 'baseline' });
  writeState();
  for (let failures = 0; ; ) {
    await run.sleep(run.tickMs, stopSignal.signal());
    const stop = stopSignal.pending();
    try {
      // A person who stops a drill waits for the cache, so figures are not collected then.
      const [guards] = stop === undefined ? await Promise.all([measure(), lock.renew()]) : [undefined];
      const ended = await act(decide(plan, state, firstStage, observation(guards, stop)));
      if (stop !== undefined) stopSignal.acknowledge(stop);
      if (ended !== undefined) return await finish(ended);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!(error instanceof OperationError)) return await finish({ kind: 'failed', detail: `${error}.` });
      // `drill-over`: another process has ended the drill since the last tick; the next tick finds the reason.
      const mayPass = error.code === 'control-unavailable' || error.code === 'drill-over';
      if (!mayPass) return await finish({ kind: 'failed', detail: `The stage could not begin: ${error.message}.` });
      if (failures >= MAX_ATTEMPTS) return await finish(STORE_AWAY);
    }
    run.onTick();
  }
}

const ENDED_REMOTELY = 'Another process ended it.';
const NOT_RELEASED = 'The control store could not be told: every process ends it by itself within the lease time.';
const STORE_AWAY: DrillEnding = { kind: 'lost', detail: 'The control store took no change.' };

function endingOf(loss: LockLoss | undefined): DrillEnding | undefined {
  switch (loss?.kind) {
    case undefined:
      return undefined;
    case 'removed':
      return { kind: 'aborted', detail: ENDED_REMOTELY };
    case 'halted':
      return { kind: 'aborted', detail: `All drills were halted by ${loss.by}: ${loss.reason}.` };
    case 'expired':
      return { kind: 'lost', detail: 'It could not be renewed in time, so every process ended it by itself.' };
  }
}

/** The physical erasure of a drill in mode `erase`. It runs in the background of its stages. */
function createStageErasure(
  flush: Pick<Flush, 'erase'>,
  { mode, eraseBy, stages }: Pick<Plan, 'mode' | 'eraseBy' | 'stages'>,
) {
  const stopping = new AbortController();
  let running = 0;
  let failure: string | undefined;

  const erase = async (ranges: readonly BucketRange[], nodes: readonly string[] | undefined): Promise<void> => {
    running += 1;
    try {
      const request = { ranges, by: eraseBy, nodes };
      const { state, nodes: erased } = await flush.erase(request, stopping.signal);
      const failed = erased.find((node) => node.state === 'failed');
      if (state === 'failed') failure ??= `${failed?.node ?? 'a node'}: ${failed?.detail ?? 'it did not answer'}`;
    } catch (error) {
      failure ??= error instanceof Error ? error.message : String(error);
    } finally {
      running -= 1;
    }
  };

  return {
    /** Erases the cohort of the stage. */
    begin: (stage: number, layout: CohortLayout, nodes: readonly string[] | undefined) => {
      if (mode !== 'erase' || stages[stage]?.kind === 'blackout') return;
      // `flushall` removes every key, the holdout included.
      const ranges = eraseBy === 'flushall' ? [{ from: 0, to: BUCKETS }] : (layout.cohorts[stage + 1] ?? []);
      void erase(ranges, nodes);
    },
    isRunning: (): boolean => running > 0,
    /** The reason why not everything was erased. */
    failure: (): string | undefined => (stopping.signal.aborted ? undefined : failure),
    stop: () => stopping.abort(),
  };
}

export type Stop = NonNullable<DrillObservation['stop']>;

/** Passes a request to stop to the loop of a drill at once, without waiting for the next tick. */
export function createStopSignal() {
  let controller = new AbortController();
  let stop: Stop | undefined;
  return {
    request: (next: Stop) => {
      // A stop that ends the drill at once is not replaced by a milder one.
      if (stop?.atOnce !== true) stop = next;
      controller.abort();
    },
    /** The request that the loop has not acted upon yet. */
    pending: (): Stop | undefined => stop,
    /** The loop has acted upon this request and ticks on, unless there is another request. */
    acknowledge: (done: Stop) => {
      if (stop !== done) return;
      stop = undefined;
      controller = new AbortController();
    },
    /** Aborted while a request is pending. */
    signal: (): AbortSignal => controller.signal,
  };
}

/** How drills wait; tests pass their own. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;
