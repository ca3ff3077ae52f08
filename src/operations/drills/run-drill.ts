import type { Control } from '../../control/control.ts';
import { OperationRefused } from '../../control/operation-error.ts';
import { endOverlay } from '../../control/overlay.ts';
import type { Clock } from '../../runtime.ts';
import type { JournalBook } from './archive.ts';
import type { Circle } from './cohorts.ts';
import type { Grip } from './drill-lock.ts';
import type { Caller, DrillDomain, DrillEvent } from './drills.ts';
import type { Journal, Mark, Verdict } from './journal.ts';
import { runDomain, type Sleep } from './run-domain.ts';
import type { Seen } from './state-machine.ts';

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

export interface DrillRun {
  readonly book: JournalBook;
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

export interface DrillPart {
  readonly domain: DrillDomain;
  readonly grip: Grip;
  readonly circle: Circle;
}

export function runDrill(run: DrillRun): RunningDrill {
  const { book, clock, observe } = run;
  const startedMs = clock.monotonicMs();
  const { id, plan } = book.read(false);
  const lever = createStopLever();
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
      const stop = lever.pulled();
      if (place > 0 && stop !== undefined) return fail(stop, firstStage);
      try {
        if (place > 0) await grip.take();
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
      lever.pull(stop);
      // Nothing more is marked by a drill that is over already.
      return Promise.race([restored, over]);
    },
    over,
  };
}

export type Stop = NonNullable<Seen['stop']>;

/** How whoever aborts reaches the loop of a drill: at once, not at its next tick. */
export interface StopLever {
  readonly pull: (stop: Stop) => void;
  /** Pulled and not yet acted upon. */
  readonly pulled: () => Stop | undefined;
  /** This one was acted upon: the loop ticks on, unless somebody has pulled again meanwhile. */
  readonly settle: (done: Stop) => void;
  /** Aborted while pulled. */
  readonly signal: () => AbortSignal;
}

export function createStopLever(): StopLever {
  let controller = new AbortController();
  let stop: Stop | undefined;
  return {
    pull: (next) => {
      // A stop that ends the drill at once is not replaced by a milder one.
      if (stop?.atOnce !== true) stop = next;
      controller.abort();
    },
    pulled: () => stop,
    settle: (done) => {
      if (stop !== done) return;
      stop = undefined;
      controller = new AbortController();
    },
    signal: () => controller.signal,
  };
}

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
