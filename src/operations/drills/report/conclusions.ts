import {
  countText,
  durationText,
  percentText,
  perSecondText,
  pointsText,
  rangeText,
  timesText,
  UNKNOWN,
} from '../../../report/format.ts';
import type { CohortFigures } from '../../meter/figures.ts';
import type { DomainResult, Range } from '../journal.ts';
import type { Plan } from '../plan.ts';
import { chancePoints } from '../result.ts';
import { lastStage, samplesOf, type Track } from './track.ts';
import { shareFlushed, stageTitle } from './words.ts';

export interface Conclusion {
  readonly name: string;
  /** A tooltip. */
  readonly meaning?: string;
  readonly measured: string;
  /** By the dry run. */
  readonly predicted: string;
  readonly words: string;
}

export function conclusionsOf(track: Track, plan: Plan): readonly Conclusion[] {
  if (lastStage(track) === undefined) {
    return [
      ...survival(track, plan),
      {
        name: 'Flushed',
        measured: 'nothing',
        predicted: UNKNOWN,
        words: 'No stage was begun: the cache was never touched.',
      },
    ];
  }
  return [
    ...headroom(track),
    ...survival(track, plan),
    ...amplification(track),
    ...refill(track, plan),
    ...harm(track),
    ...controlConclusion(track, plan),
    ...afterwards(track),
  ];
}

/** What the three figures mean, as tooltips. */
export const MEANINGS = {
  headroom:
    'H: what the engine can do ÷ what it was asked, from its places, the time of a call and the number of calls',
  amplification: 'A: engine calls with nothing cached ÷ engine calls before, in proportion to the share that was lost',
  survivable:
    'f* = (H − 1) ÷ (A − 1): the share of the keys that may be lost at once before the engine has more to do than it can',
} as const;

function headroom({ learned, preview }: Track): readonly Conclusion[] {
  const { headroom: before, headroomLeft: left } = learned?.survival ?? {};
  const words =
    left === undefined
      ? 'The engine was asked too seldom at the worst moment to say how much it had left.'
      : (left.high ?? Number.POSITIVE_INFINITY) <= FULL
        ? `At the worst moment the engine was asked for all it can do: ${rangeText(left, timesText)}.`
        : `At the worst moment the engine could have done ${rangeText(left, timesText)} what it was asked; before, ${rangeText(before, timesText)}.`;
  const foretold = preview?.engine.headroom;
  return [
    {
      name: 'Headroom left (H)',
      meaning: MEANINGS.headroom,
      measured: measuredRange(learned, left, timesText),
      predicted: foretold === undefined ? UNKNOWN : `${timesText(foretold)} before`,
      words: learned !== undefined && learned.survival === undefined ? OF_OLD : words,
    },
  ];
}

function survival(track: Track, plan: Plan): readonly Conclusion[] {
  const { learned, preview } = track;
  const range = learned?.survival?.survivable;
  const foretold = preview?.engine.survivable;
  const stage = lastStage(track);
  const flushed = stage === undefined ? undefined : shareFlushed(plan, stage);
  const lost = flushed === undefined ? '' : ` This drill flushed ${percentText(flushed)}.`;
  const words =
    range === undefined
      ? `Too little load to say how much of the cache may be lost at once.${lost}`
      : `By these figures ${rangeText(range, percentText)} of the keys may be lost at once before the engine has more to do than it can.${lost}`;
  return [
    {
      name: 'Survivable at once (f*)',
      meaning: MEANINGS.survivable,
      measured: measuredRange(learned, range, percentText),
      predicted: foretold === undefined ? UNKNOWN : `${percentText(foretold)} at least`,
      words: learned !== undefined && learned.survival === undefined ? OF_OLD : words,
    },
  ];
}

function amplification({ learned, preview }: Track): readonly Conclusion[] {
  const peak = learned?.stages.reduce((most, stage) => Math.max(most, stage.peakEngineCallsPerSecond), 0);
  const before = learned?.baseline.engineCallsPerSecond;
  const { engineCallsPerSecond, extraCallsPerSecond, amplification: foretold } = preview?.engine ?? {};
  const most =
    engineCallsPerSecond === undefined || extraCallsPerSecond === undefined
      ? ''
      : ` The dry run expected ${perSecondText(engineCallsPerSecond + extraCallsPerSecond)} at most.`;
  const range = learned?.survival?.amplification;
  const told = range === undefined ? '' : ` With nothing cached that would be ${rangeText(range, timesText)}.`;
  return [
    {
      name: 'Amplification (A)',
      meaning: MEANINGS.amplification,
      measured: measuredRange(learned, range, timesText),
      predicted: foretold === undefined ? UNKNOWN : `${timesText(foretold)} at most`,
      words: `The engine was asked up to ${perSecondText(peak)}, against ${perSecondText(before)} in the baseline.${told}${most}`,
    },
  ];
}

/** Chance makes a full engine look a little less than full. */
const FULL = 1.1;
const OF_OLD = 'Its journal is of an older version, which told single figures: they are not repeated here.';

/** What was not measured and what nobody wrote down are two things. */
export function measuredRange(
  learned: DomainResult | undefined,
  range: Range | undefined,
  text: (value: number) => string,
): string {
  return learned?.survival === undefined ? UNKNOWN : rangeText(range, text);
}

function refill({ learned }: Track, plan: Plan): readonly Conclusion[] {
  const stages = learned?.stages ?? [];
  const slowest = stages.toSorted((a, b) => (b.refillMs ?? -1) - (a.refillMs ?? -1))[0];
  const open = stages.filter((stage) => stage.refillMs === undefined);
  const title = (one: (typeof stages)[number]): string => stageTitle(plan, one.stage, one.title);
  const within = pointsText(plan.recovery.withinPoints);
  const words = [
    ...(slowest?.refillMs === undefined
      ? []
      : [`Slowest to come back within ${within} of its own past: ${title(slowest)}.`]),
    ...(open.length === 0 ? [] : [`Not back while it was watched: ${open.map(title).join('; ')}.`]),
  ].join(' ');
  return [
    {
      name: 'Longest refill',
      measured: durationText(slowest?.refillMs),
      predicted: UNKNOWN,
      words: words === '' ? 'No stage was measured.' : words,
    },
  ];
}

function harm(track: Track): readonly Conclusion[] {
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
  return [
    {
      name: 'Searches refused',
      measured: percentText(sum.searches > 0 ? refused / sum.searches : undefined),
      predicted: UNKNOWN,
      words,
    },
  ];
}

function afterwards({ learned }: Track): readonly Conclusion[] {
  const [before, after] = [learned?.baseline.hitRatio, learned?.after?.hitRatio];
  if (before === undefined || after === undefined) return [];
  const points = (after - before) * 100;
  const changed =
    Math.abs(points) < 0.05 ? 'the same as' : `${pointsText(Math.abs(points))} ${points < 0 ? 'below' : 'above'}`;
  return [
    {
      name: 'Hit ratio afterwards',
      measured: percentText(after),
      predicted: UNKNOWN,
      words: `Once the cache was restored: ${changed} the baseline's ${percentText(before)}.`,
    },
  ];
}

interface Ratio {
  readonly searches: number;
  readonly hitRatio: number;
}

/** A stage in which the control cohort was asked for less often is told together with the others. */
const ENOUGH_SEARCHES = 100;

/**
 * Whether the loss reached keys that nobody flushed. From all samples of a stage: the cohort is small, and its ratio at
 * one moment says little.
 */
export function controlConclusion(track: Track, plan: Plan): readonly Conclusion[] {
  const past = ratioOf([track.learned?.baseline.cohorts[0]]);
  const lowest = lowestStage(track);
  if (past === undefined || lowest === undefined) return [];
  const lost = Math.max(0, (past.hitRatio - lowest.hitRatio) * 100);
  const chance = chancePoints(past, lowest);
  const { withinPoints } = plan.recovery;
  const asFar = chance > withinPoints ? `, as far as ${countText(lowest.searches)} searches can tell` : '';
  const words =
    lost <= Math.max(withinPoints, chance)
      ? `The control cohort, which nobody flushed, did as well as before${asFar}: the loss stayed where it was made.`
      : 'The control cohort, which nobody flushed, lost hits too: the loss reached keys outside of the stages.';
  return [{ name: 'Lost by the control cohort', measured: pointsText(lost), predicted: UNKNOWN, words }];
}

function lowestStage(track: Track): Ratio | undefined {
  const during = samplesOf(track).filter(({ phase }) => phase !== 'baseline' && phase !== 'after');
  const control = (samples: typeof during): Ratio | undefined =>
    ratioOf(samples.map(({ figures }) => figures.cohorts[0]));
  const stages = [...Map.groupBy(during, ({ stage }) => stage).values()].flatMap((samples) => control(samples) ?? []);
  const told = stages.filter(({ searches }) => searches >= ENOUGH_SEARCHES);
  return told.length === 0 ? control(during) : told.toSorted((a, b) => a.hitRatio - b.hitRatio)[0];
}

function ratioOf(cohorts: readonly (CohortFigures | undefined)[]): Ratio | undefined {
  const searches = cohorts.reduce((sum, cohort) => sum + (cohort?.searches || 0), 0);
  const hits = cohorts.reduce((sum, cohort) => sum + (cohort?.searches || 0) * (cohort?.hitRatio || 0), 0);
  return searches > 0 ? { searches, hitRatio: hits / searches } : undefined;
}
