import type { Clock } from '../clock.ts';
import { OperationRefused } from '../control/refusal.ts';
import type { Circle } from './circle.ts';
import type { DrillDomain } from './drill-domain.ts';
import type { DrillEvent } from './drills.ts';
import type { Grip } from './grip.ts';
import type { Journal, Mark, Verdict } from './journal.ts';
import type { JournalBook } from './journal-book.ts';
import type { Sleep } from './pace.ts';
import { runDomain } from './run-domain.ts';
import { createStopLever, type Stop } from './stop-lever.ts';

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
