import { type Figures, figuresBetween, type MeterReading, searchesBetween } from '../meter/figures.ts';
import type { JournalBook } from './archive.ts';
import { type Circle, flushedCohorts } from './cohorts.ts';
import type { DrillDomain } from './drills.ts';
import { createGuardWatch, type GuardState, guardValue, RECENT, WINDOW_MS } from './guards.ts';
import type { DrillPhase, Learned, Mark } from './journal.ts';
import type { Plan } from './plan.ts';
import { survivalOf } from './resolve-request.ts';
import { createLearner, type Learner, type Recovery } from './result.ts';
import { createPhaseMeasure } from './state-machine.ts';

export type Readings = ReadonlyMap<string, MeterReading>;

/** What the fleet did of late, over whichever stretch somebody asks for. */
export interface Lookout {
  /** What happened since the reading before; undefined at the first. */
  readonly add: (nowMs: number, readings: Readings) => Figures | undefined;
  /**
   * Over the last `stretch.atLeastMs`, or longer until there were enough searches, but nothing before `fromMs`. Undefined
   * when all that is remembered is not enough.
   */
  readonly over: (stretch: Stretch, fromMs?: number) => Figures | undefined;
  /** Engine calls in flight ÷ the fleet's ceiling, on average over the last `ms`. */
  readonly inFlightShare: (ms: number) => number | undefined;
}

export interface Stretch {
  readonly atLeastMs: number;
  readonly atLeastSearches?: number;
  /** Undefined: as far back as is remembered. */
  readonly atMostMs?: number;
  /** By their places: only their searches are counted. */
  readonly cohorts?: readonly number[];
}

interface Kept {
  readonly atMs: number;
  readonly readings: Readings;
  readonly figures: Figures | undefined;
}

/** At two a second a minute and a half: longer than anything waits for a cohort that is hardly asked for. */
const MAX_KEPT = 180;

/** A timer comes late more often than early. */
const TIMER_MS = 50;

export function createLookout(): Lookout {
  const kept: Kept[] = [];
  return {
    add: (nowMs, readings) => {
      const before = kept.at(-1);
      const figures = before === undefined ? undefined : figuresBetween(before.readings, readings);
      kept.push({ atMs: nowMs, readings, figures });
      if (kept.length > MAX_KEPT) kept.shift();
      return figures;
    },
    over: (stretch, fromMs = Number.NEGATIVE_INFINITY) => {
      const { atLeastMs, atLeastSearches = 0, atMostMs = Number.POSITIVE_INFINITY, cohorts } = stretch;
      const latest = kept.at(-1);
      if (latest === undefined) return undefined;
      for (let place = kept.length - 2; place >= 0; place -= 1) {
        const start = kept[place];
        if (start === undefined || start.atMs < fromMs || latest.atMs - start.atMs > atMostMs) return undefined;
        if (latest.atMs - start.atMs < atLeastMs - TIMER_MS) continue;
        // All figures at every reading that is kept would be most of what a drill costs.
        const isEnough =
          atLeastSearches === 0 || searchesBetween(start.readings, latest.readings, cohorts) >= atLeastSearches;
        if (isEnough) return figuresBetween(start.readings, latest.readings);
      }
      return undefined;
    },
    inFlightShare: (ms) => {
      const nowMs = kept.at(-1)?.atMs ?? 0;
      const shares = kept
        .filter(({ atMs }) => atMs > nowMs - ms)
        .flatMap(({ figures }) => (figures === undefined ? [] : shareInFlight(figures)));
      return shares.length === 0 ? undefined : shares.reduce((sum, share) => sum + share, 0) / shares.length;
    },
  };
}

export function shareInFlight({ engineInFlight, engineCeiling }: Figures): readonly number[] {
  return engineCeiling > 0 ? [engineInFlight / engineCeiling] : [];
}

/** Everything a drill measures of one domain: readings become figures, guards, the hypothesis and what is learned. */
export interface DomainFigures {
  /** Asks the fleet. Undefined when it could not be asked. */
  readonly hear: (during: 'stage' | 'recovery' | 'calm') => Promise<Heard | undefined>;
  readonly blindMs: () => number;
  /** What has been measured since the baseline began is what everything is compared with. The first stage begins. */
  readonly stageBegins: (stage: number, fromMs: number) => void;
  /** The cache is restored; from that moment on the hypothesis must hold again. */
  readonly afterBegins: (fromMs: number) => void;
  readonly refillMs: (stage: number) => number | undefined;
  readonly recovery: () => Recovery;
  /** Searches of the cohorts that stages flush, in this phase. */
  readonly cohortSearches: () => number;
  /** In this phase; undefined: nothing was measured. */
  readonly searches: () => number | undefined;
  /** As much in this stage as guards want to see, some of it just now. */
  readonly isSearched: () => boolean;
  /** Of late; and over the baseline. */
  readonly processes: () => { readonly heard: number; readonly before: number };
  /** What of the hypothesis does not hold over this phase. */
  readonly broken: () => readonly string[];
  readonly learned: (over: boolean) => Learned | undefined;
}

export interface Heard {
  readonly figures: Figures | undefined;
  readonly guards: readonly GuardState[];
  /** The cohort of this stage has come back just now. */
  readonly refilled: boolean;
}

export interface DomainFiguresOptions {
  readonly domain: Pick<DrillDomain, 'name' | 'readings'>;
  readonly plan: Plan;
  readonly circle: Circle;
  readonly nowMs: () => number;
  /** The baseline begins. */
  readonly fromMs: number;
}

/** Whoever is silent for so long is not merely late with a report. */
const SILENT_MS = 3000;

export function createDomainFigures({ domain, plan, circle, nowMs, fromMs }: DomainFiguresOptions): DomainFigures {
  const lookout = createLookout();
  const watch = createGuardWatch(plan.guards);
  let measure = createPhaseMeasure(fromMs);
  let phase: 'baseline' | 'stages' | 'after' = 'baseline';
  let baseline: Figures | undefined;
  let learner: Learner | undefined;
  let heardMs = nowMs();
  let stageFromMs = heardMs;
  const flushed = flushedCohorts(plan);
  const lately = (atLeastMs: number): Figures | undefined => lookout.over({ atLeastMs });
  return {
    hear: async (during) => {
      const readings = await domain.readings.collect();
      if (readings === undefined) return undefined;
      heardMs = nowMs();
      const figures = lookout.add(heardMs, readings);
      measure.add(heardMs, readings, figures);
      const guards = watch.look(heardMs, (figure) => guardValue(figure, lookout, baseline));
      const refilled = during !== 'calm' && learner?.note(heardMs, lookout, during === 'stage').refilled === true;
      return { figures, guards, refilled };
    },
    blindMs: () => nowMs() - heardMs,
    stageBegins: (stage, seenFromMs) => {
      if (phase === 'baseline') baseline = measure.figures();
      phase = 'stages';
      stageFromMs = heardMs;
      if (baseline !== undefined) learner ??= createLearner({ domain: domain.name, plan, circle, baseline });
      learner?.begin(stage, nowMs(), seenFromMs);
    },
    afterBegins: (afterMs) => {
      phase = 'after';
      measure = createPhaseMeasure(afterMs);
    },
    refillMs: (stage) => learner?.refillMs(stage),
    recovery: () => learner?.recovery(lookout) ?? 'unseen',
    cohortSearches: () => {
      const cohorts = measure.figures()?.cohorts;
      return flushed.reduce((sum, place) => sum + (cohorts?.[place]?.searches ?? 0), 0);
    },
    searches: () => measure.figures()?.searches,
    isSearched: () =>
      lookout.over({ ...RECENT, atLeastMs: 0 }, stageFromMs) !== undefined && (lately(WINDOW_MS)?.searches ?? 0) > 0,
    processes: () => ({
      heard: (lately(SILENT_MS) ?? measure.figures())?.processes ?? 0,
      before: baseline?.processes ?? 0,
    }),
    broken: () => measure.broken(plan.guards, baseline),
    learned: (over) => {
      if (learner !== undefined) return learner.learned(over && phase === 'after' ? measure.figures() : undefined);
      const measured = baseline ?? measure.figures();
      if (measured === undefined) return undefined;
      const survival = survivalOf({ baseline: measured, worst: undefined, share: 0, saturated: false });
      return { domain: domain.name, baseline: measured, stages: [], survival };
    },
  };
}

/** What one domain's drill writes into the journal, with its time and its domain. */
export interface DomainLog {
  readonly mark: (what: BareMark) => void;
  /** Guards that have just broken, or hold again, are marked as well. */
  readonly sample: (place: Place, figures: Figures | undefined, guards: readonly GuardState[]) => void;
}

export interface Place {
  readonly phase: DrillPhase;
  readonly stage: number;
}

/** Of each form of a mark what is not the same for all. */
export type BareMark = Mark extends infer One ? (One extends Mark ? Omit<One, 'atMs' | 'domain'> : never) : never;

export interface DomainLogOptions {
  readonly domain: string;
  readonly book: Pick<JournalBook, 'mark' | 'sample'>;
  /** Since the journal began. */
  readonly elapsedMs: () => number;
  readonly onMark: (mark: Mark) => void;
}

export function createDomainLog({ domain, book, elapsedMs, onMark }: DomainLogOptions): DomainLog {
  const mark = (what: BareMark): void => {
    const written = { atMs: Math.round(elapsedMs()), domain, ...what } as Mark;
    book.mark(written);
    onMark(written);
  };
  return {
    mark,
    sample: (place, figures, guards) => {
      if (figures !== undefined) {
        const states = guards.map(({ rule, value, broken }) => {
          return { figure: rule.figure, ...(value === undefined ? {} : { value }), broken };
        });
        book.sample({ atMs: Math.round(elapsedMs()), domain, ...place, figures, guards: states });
      }
      for (const { rule, value = 0, turned } of guards) {
        const { figure, max, then } = rule;
        if (turned === 'breached') mark({ kind: 'guard', figure, value, max, then });
        if (turned === 'holds') mark({ kind: 'guard-holds', figure });
      }
    },
  };
}
