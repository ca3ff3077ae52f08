import {
  countText,
  durationText,
  percentText,
  perSecondText,
  pointsText,
  rangeText,
  timesText,
} from '../../../report/format.ts';
import type { CohortFigures, Figures } from '../../meter/figures.ts';
import { phaseValue } from '../guards.ts';
import type { DrillPhase } from '../journal.ts';
import { shareInFlight } from '../metrics-window.ts';
import type { GuardRule, Plan } from '../plan.ts';
import { chancePoints } from '../result.ts';
import { stageHeading, survivalFigures } from '../view.ts';
import { lastStage, samplesOf, type Track } from './track.ts';

export interface Conclusion {
  readonly name: string;
  /** A tooltip. */
  readonly meaning?: string;
  readonly measured: string;
  /** The value in the dry run, for the figures that it estimates. */
  readonly predicted?: string | undefined;
  readonly words: string;
}

export function conclusionsOf(track: Track, plan: Plan): readonly Conclusion[] {
  if (lastStage(track) === undefined) {
    const words = 'No stage was begun: the cache was never touched.';
    return [survivable(track, plan), { name: 'Flushed', measured: 'nothing', words }];
  }
  return [
    headroom(track),
    survivable(track, plan),
    amplification(track),
    refill(track, plan),
    harm(track),
    controlConclusion(track, plan),
    afterwards(track),
  ].filter((one) => one !== undefined);
}

/** A full engine may be measured as slightly less than full. */
const FULL_ENGINE_HEADROOM = 1.1;
const OLD_JOURNAL = 'Its journal is of an older version, which told single figures: they are not repeated here.';

function headroom({ result, preview }: Track): Conclusion {
  const { headroom: before, headroomLeft: left } = result?.survival ?? {};
  const words =
    left === undefined
      ? 'The engine was asked too seldom at the worst moment to say how much it had left.'
      : (left.high ?? Number.POSITIVE_INFINITY) <= FULL_ENGINE_HEADROOM
        ? `At the worst moment the engine was asked for all it can do: ${rangeText(left, timesText)}.`
        : `At the worst moment the engine could have done ${rangeText(left, timesText)} what it was asked; before, ${rangeText(before, timesText)}.`;
  const factor = preview?.engine.headroom;
  const predicted = factor === undefined ? undefined : `${timesText(factor)} before`;
  return { name: 'Headroom left (H)', ...survivalFigure(result, 'headroomLeft', words), predicted };
}

/** A figure of survival, with its words. */
function survivalFigure(result: Track['result'], figure: keyof ReturnType<typeof survivalFigures>, words: string) {
  const { meaning, text: measured } = survivalFigures(result)[figure];
  return { meaning, measured, words: result !== undefined && result.survival === undefined ? OLD_JOURNAL : words };
}

function survivable(track: Track, plan: Plan): Conclusion {
  const { result, preview } = track;
  const range = result?.survival?.survivable;
  const stage = lastStage(track);
  const flushed = stage === undefined ? undefined : shareFlushed(plan, stage);
  const lost = flushed === undefined ? '' : ` This drill flushed ${percentText(flushed)}.`;
  const words =
    range === undefined
      ? `Too little load to say how much of the cache may be lost at once.${lost}`
      : `By these figures ${rangeText(range, percentText)} of the keys may be lost at once before the engine has more to do than it can.${lost}`;
  const share = preview?.engine.survivable;
  const predicted = share === undefined ? undefined : `${percentText(share)} at least`;
  return { name: 'Survivable at once (f*)', ...survivalFigure(result, 'survivable', words), predicted };
}

/** The largest share of the keys that a stage up to this one flushed; undefined for nodes and blackouts. */
function shareFlushed(plan: Plan, stage: number): number | undefined {
  const shares = plan.stages.slice(0, stage + 1).flatMap((one) => (one.kind === 'fraction' ? [one.fraction] : []));
  return shares.length === 0 ? undefined : Math.max(...shares);
}

function amplification({ result, preview }: Track): Conclusion {
  const peak = result?.stages.reduce((most, stage) => Math.max(most, stage.peakEngineCallsPerSecond), 0);
  const before = result?.baseline.engineCallsPerSecond;
  const { engineCallsPerSecond, extraCallsPerSecond, amplification: predicted } = preview?.engine ?? {};
  const most =
    engineCallsPerSecond === undefined || extraCallsPerSecond === undefined
      ? ''
      : ` The dry run expected ${perSecondText(engineCallsPerSecond + extraCallsPerSecond)} at most.`;
  const range = result?.survival?.amplification;
  const told = range === undefined ? '' : ` With nothing cached that would be ${rangeText(range, timesText)}.`;
  const { meaning, text: measured } = survivalFigures(result).amplification;
  return {
    name: 'Amplification (A)',
    meaning,
    measured,
    predicted: predicted === undefined ? undefined : `${timesText(predicted)} at most`,
    words: `The engine was asked up to ${perSecondText(peak)} over 2 s, against ${perSecondText(before)} in the baseline.${told}${most}`,
  };
}

function refill({ result }: Track, plan: Plan): Conclusion {
  const stages = result?.stages ?? [];
  const slowest = stages.toSorted((a, b) => (b.refillMs ?? -1) - (a.refillMs ?? -1))[0];
  const open = stages.filter((stage) => stage.refillMs === undefined);
  const title = (one: (typeof stages)[number]): string => stageHeading(plan, one.stage, one.title);
  const within = pointsText(plan.recovery.withinPoints);
  const words = [
    ...(slowest?.refillMs === undefined
      ? []
      : [`Slowest to come back within ${within} of its own past: ${title(slowest)}.`]),
    ...(open.length === 0 ? [] : [`Not back while it was watched: ${open.map(title).join('; ')}.`]),
  ].join(' ');
  const measured = durationText(slowest?.refillMs);
  return { name: 'Longest refill', measured, words: words === '' ? 'No stage was measured.' : words };
}

function harm(track: Track): Conclusion {
  const sum = { searches: 0, shed: 0, failed: 0 };
  for (const { figures, phase } of samplesOf(track)) {
    if (phase === 'baseline' || phase === 'after') continue;
    sum.searches += figures.searches || 0;
    sum.shed += figures.outcomes.shed || 0;
    sum.failed += figures.outcomes.failed || 0;
  }
  const refused = sum.shed + sum.failed;
  const words =
    sum.searches === 0
      ? 'Nobody searched while the cache was flushed.'
      : refused === 0
        ? `Every one of ${countText(sum.searches)} searches was answered while the cache was flushed.`
        : `Of ${countText(sum.searches)} searches while the cache was flushed, ${countText(sum.shed)} were shed and ${countText(sum.failed)} failed.`;
  const measured = percentText(sum.searches > 0 ? refused / sum.searches : undefined);
  return { name: 'Searches refused', measured, words };
}

function afterwards({ result }: Track): Conclusion | undefined {
  const [before, after] = [result?.baseline.hitRatio, result?.after?.hitRatio];
  if (before === undefined || after === undefined) return undefined;
  const points = (after - before) * 100;
  const changed =
    Math.abs(points) < 0.05 ? 'the same as' : `${pointsText(Math.abs(points))} ${points < 0 ? 'below' : 'above'}`;
  const words = `Once the cache was restored: ${changed} the baseline's ${percentText(before)}.`;
  return { name: 'Hit ratio afterwards', measured: percentText(after), words };
}

interface Ratio {
  readonly searches: number;
  readonly hitRatio: number;
}

/**
 * A stage with fewer searches of the control cohort is left out; when no stage has enough, all stages are judged
 * together.
 */
const MIN_STAGE_SEARCHES = 100;

/**
 * Whether the loss reached keys that were not flushed. All samples of a stage are taken together, because the control cohort
 * is small and its ratio at one moment means little.
 */
export function controlConclusion(track: Track, plan: Plan): Conclusion | undefined {
  const past = ratioOf([track.result?.baseline.cohorts[0]]);
  const lowest = lowestStage(track);
  if (past === undefined || lowest === undefined) return undefined;
  const lost = Math.max(0, (past.hitRatio - lowest.hitRatio) * 100);
  const chance = chancePoints(past, lowest);
  const { withinPoints } = plan.recovery;
  const asFar = chance > withinPoints ? `, as far as ${countText(lowest.searches)} searches can tell` : '';
  const words =
    lost <= Math.max(withinPoints, chance)
      ? `The control cohort, which nobody flushed, did as well as before${asFar}: the loss stayed where it was made.`
      : 'The control cohort, which nobody flushed, lost hits too: the loss reached keys outside of the stages.';
  return { name: 'Lost by the control cohort', measured: pointsText(lost), words };
}

function lowestStage(track: Track): Ratio | undefined {
  const during = samplesOf(track).filter(({ phase }) => phase !== 'baseline' && phase !== 'after');
  const control = (samples: typeof during): Ratio | undefined =>
    ratioOf(samples.map(({ figures }) => figures.cohorts[0]));
  const stages = [...Map.groupBy(during, ({ stage }) => stage).values()].flatMap((samples) => control(samples) ?? []);
  const told = stages.filter(({ searches }) => searches >= MIN_STAGE_SEARCHES);
  return told.length === 0 ? control(during) : told.toSorted((a, b) => a.hitRatio - b.hitRatio)[0];
}

function ratioOf(cohorts: readonly (CohortFigures | undefined)[]): Ratio | undefined {
  const searches = cohorts.reduce((sum, cohort) => sum + (cohort?.searches || 0), 0);
  const hits = cohorts.reduce((sum, cohort) => sum + (cohort?.searches || 0) * (cohort?.hitRatio || 0), 0);
  return searches > 0 ? { searches, hitRatio: hits / searches } : undefined;
}

/** `passing`: above the limit during the stages, for less time than the guard allows. */
type Held = 'held' | 'passing' | 'broken' | 'failed before' | 'failed after' | 'not tested' | 'not measured';

export type TestedGuard = ReturnType<typeof testedGuard>;

/** One guard over the whole drill: its value before, at the worst moment, and after. */
export function testedGuard(track: Track, guard: GuardRule) {
  const { result } = track;
  const values = (...phases: readonly DrillPhase[]): readonly number[] =>
    samplesOf(track)
      .filter(({ phase }) => phases.includes(phase))
      .flatMap(({ guards }) => guards.filter(({ figure }) => figure === guard.figure).map(({ value }) => value))
      .filter(isKnown);
  const over = (figures: Figures, baseline: Figures): number | undefined =>
    phaseValue(guard.figure, figures, baseline, shareInFlight(figures));
  const during = values('stage', 'hold', 'recovery');
  const before = result === undefined ? values('baseline').at(-1) : over(result.baseline, result.baseline);
  const after = result?.after === undefined ? values('after').at(-1) : over(result.after, result.baseline);
  const worst = during.length === 0 ? undefined : Math.max(...during);
  // Several guards may watch one figure with different limits: a mark names its own.
  const mark = track.marks.find((one) => one.kind === 'guard' && one.figure === guard.figure && one.max === guard.max);
  const isAbove = (value: number | undefined): boolean => isKnown(value) && value > guard.max;
  const heldWhere = (): Held => {
    if (mark !== undefined) return 'broken';
    if (isAbove(before)) return 'failed before';
    if (isAbove(after)) return 'failed after';
    if (isAbove(worst)) return 'passing';
    if (worst !== undefined) return 'held';
    return lastStage(track) === undefined ? 'not tested' : 'not measured';
  };
  return {
    guard,
    before: isKnown(before) ? before : undefined,
    worst,
    after: isKnown(after) ? after : undefined,
    held: heldWhere(),
    /** When it first broke. */
    brokenAtMs: mark?.atMs,
  };
}

function isKnown(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value);
}
