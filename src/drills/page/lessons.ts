import {
  countText,
  durationText,
  percentText,
  perSecondText,
  pointsText,
  timesText,
  UNKNOWN,
} from '../../report/number-text.ts';
import type { Plan } from '../plan.ts';
import { controlLesson } from './control-lesson.ts';
import { shareFlushed, stageTitle } from './stage-name.ts';
import { lastStage, samplesOf, type Track } from './track.ts';

export interface Lesson {
  readonly name: string;
  readonly measured: string;
  /** By the dry run. */
  readonly foretold: string;
  readonly words: string;
}

export function lessonsOf(track: Track, plan: Plan): readonly Lesson[] {
  if (lastStage(track) === undefined) {
    return [
      ...survival(track, plan),
      {
        name: 'Flushed',
        measured: 'nothing',
        foretold: UNKNOWN,
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
    ...controlLesson(track, plan),
    ...afterwards(track),
  ];
}

function headroom({ learned, preview }: Track): readonly Lesson[] {
  const left = learned?.headroomLeft;
  const words =
    left === undefined
      ? 'The engine was never seen at work, so nothing can be said.'
      : left <= 1
        ? 'At the worst moment every place at the engine was taken: nothing was left.'
        : left < 1.5
          ? `At the worst moment ${percentText(1 / left)} of the engine's places were taken: little was left.`
          : `At the worst moment ${percentText(1 / left)} of the engine's places were taken.`;
  const before = preview?.engine.headroom;
  const foretold = before === undefined ? UNKNOWN : `${timesText(before)} before`;
  return [{ name: 'Headroom left (H)', measured: timesText(left), foretold, words }];
}

function survival(track: Track, plan: Plan): readonly Lesson[] {
  const measured = track.learned?.survivable;
  const foretold = track.preview?.engine.survivable;
  const best = measured ?? foretold;
  const stage = lastStage(track);
  const flushed = stage === undefined ? undefined : shareFlushed(plan, stage);
  const words =
    best === undefined
      ? 'Too little was measured to say how much of the cache may be lost at once.'
      : best >= 1
        ? `By these figures the engine can carry the loss of every key at once${isFull(track) ? ', with nothing to spare' : ''}.`
        : `Up to ${percentText(best)} of the keys may be lost at once before the engine has more to do than it can.${
            flushed !== undefined && flushed > best ? ` This drill flushed ${percentText(flushed)}.` : ''
          }`;
  return [{ name: 'Survivable at once (f*)', measured: percentText(measured), foretold: percentText(foretold), words }];
}

function amplification({ learned, preview }: Track): readonly Lesson[] {
  const peak = learned?.stages.reduce((most, stage) => Math.max(most, stage.peakEngineCallsPerSecond), 0);
  const before = learned?.baseline.engineCallsPerSecond;
  const { engineCallsPerSecond, extraCallsPerSecond, amplification: foretold } = preview?.engine ?? {};
  const most =
    engineCallsPerSecond === undefined || extraCallsPerSecond === undefined
      ? ''
      : ` The dry run expected ${perSecondText(engineCallsPerSecond + extraCallsPerSecond)} at most.`;
  const words =
    learned?.amplification === undefined
      ? 'Without engine calls in the baseline there is nothing to compare with.'
      : `The engine was asked up to ${perSecondText(peak)}, against ${perSecondText(before)} in the baseline.${most}`;
  return [
    { name: 'Amplification (A)', measured: timesText(learned?.amplification), foretold: timesText(foretold), words },
  ];
}

function refill({ learned }: Track, plan: Plan): readonly Lesson[] {
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
      foretold: UNKNOWN,
      words: words === '' ? 'No stage was measured.' : words,
    },
  ];
}

function harm(track: Track): readonly Lesson[] {
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
      foretold: UNKNOWN,
      words,
    },
  ];
}

function afterwards({ learned }: Track): readonly Lesson[] {
  const [before, after] = [learned?.baseline.hitRatio, learned?.after?.hitRatio];
  if (before === undefined || after === undefined) return [];
  const points = (after - before) * 100;
  const changed =
    Math.abs(points) < 0.05 ? 'the same as' : `${pointsText(Math.abs(points))} ${points < 0 ? 'below' : 'above'}`;
  return [
    {
      name: 'Hit ratio afterwards',
      measured: percentText(after),
      foretold: UNKNOWN,
      words: `Once the cache was restored: ${changed} the baseline's ${percentText(before)}.`,
    },
  ];
}

/** Every place at the engine was taken at some moment. */
function isFull({ learned }: Track): boolean {
  return learned?.headroomLeft !== undefined && learned.headroomLeft <= 1;
}
