import type { DomainResult, Mark, Sample } from '../../src/operations/drills/journal.ts';
import { survivalOf } from '../../src/operations/drills/result.ts';
import type { Figures } from '../../src/operations/meter/figures.ts';
import { OUTCOMES, type Outcome } from '../../src/search/events.ts';

/** What a drill would have learned from these samples. */
export function learn(
  domain: string,
  samples: readonly Sample[],
  marks: readonly Mark[],
  baseline: Figures,
): DomainResult {
  const during = samples.filter(({ phase }) => phase === 'stage' || phase === 'recovery');
  const stages = marks.flatMap((mark) => {
    if (mark.kind !== 'stage') return [];
    const own = during.filter(({ stage }) => stage === mark.stage);
    const ratios = own.map((_, i) => mean(own.slice(Math.max(0, i - 7), i + 1).map(({ figures }) => figures)).cohorts);
    const seen = (cohort: number): readonly number[] => ratios.flatMap((cohorts) => cohorts[cohort]?.hitRatio ?? []);
    const [before, end, control] = [
      baseline.cohorts[mark.stage + 1]?.hitRatio,
      seen(mark.stage + 1).at(-1),
      seen(0).at(-1),
    ];
    const back = marks.find((one) => one.kind === 'recovered' && one.stage === mark.stage);
    return [
      {
        ...{ stage: mark.stage, title: mark.title },
        ...(before !== undefined && { before }),
        ...(seen(mark.stage + 1).length > 0 && { lowest: Math.min(...seen(mark.stage + 1)) }),
        ...(end !== undefined && { end }),
        ...(control !== undefined && { control }),
        ...(back?.kind === 'recovered' && { refillMs: back.afterMs }),
        peakEngineCallsPerSecond: Math.max(0, ...own.map(({ figures }) => figures.engineCallsPerSecond)),
      },
    ];
  });
  const after = samples.filter(({ phase }) => phase === 'after').map(({ figures }) => figures);
  const [worst] = during
    .map(({ figures }) => figures)
    .toSorted((one, other) => other.engineCallsPerSecond - one.engineCallsPerSecond);
  const saturated = during.some(({ figures }) => figures.engineInFlight >= figures.engineCeiling);
  return {
    ...{ domain, baseline, stages },
    ...(after.length > 0 && { after: mean(after) }),
    survival: survivalOf({ baseline, worst, share: stages.length > 0 ? 0.75 : 0, saturated }),
  };
}

/** Over all of them; of levels the last. */
export function mean(some: readonly Figures[]): Figures {
  const sum = (of: (figures: Figures) => number | undefined): number =>
    some.reduce((total, one) => total + (of(one) ?? 0), 0);
  const [seconds, searches] = [sum((one) => one.seconds), sum((one) => one.searches)];
  const outcomes = Object.fromEntries(OUTCOMES.map((name) => [name, sum((one) => one.outcomes[name])])) as Record<
    Outcome,
    number
  >;
  const middle = (of: (figures: Figures) => number | undefined): number | undefined =>
    some.flatMap((one) => of(one) ?? []).toSorted((a, b) => a - b)[Math.floor(some.length / 2)];
  const last = some.at(-1);
  const [p50Ms, p99Ms] = [middle((one) => one.p50Ms), middle((one) => one.p99Ms)];
  const cohorts = Math.max(0, ...some.map((one) => one.cohorts.length));
  return {
    ...{ seconds, processes: last?.processes ?? 0, searches, outcomes },
    searchesPerSecond: searches / Math.max(1, seconds),
    ...(searches > 0 && {
      hitRatio: (outcomes['hit-l1'] + outcomes['hit-l2']) / searches,
      errorRate: outcomes.failed / searches,
      shedRate: outcomes.shed / searches,
    }),
    ...(p50Ms !== undefined && { p50Ms }),
    ...(p99Ms !== undefined && { p99Ms }),
    engineCallsPerSecond: sum((one) => one.engineCallsPerSecond * one.seconds) / Math.max(0.5, seconds),
    engineFailures: sum((one) => one.engineFailures),
    engineInFlight: last?.engineInFlight ?? 0,
    engineQueued: last?.engineQueued ?? 0,
    engineMax: last?.engineMax ?? 0,
    engineCeiling: last?.engineCeiling ?? 0,
    breakersOpen: last?.breakersOpen ?? 0,
    cohorts: Array.from({ length: cohorts }, (_, at) => {
      const asked = sum((one) => one.cohorts[at]?.searches);
      const hits = sum((one) => (one.cohorts[at]?.searches ?? 0) * (one.cohorts[at]?.hitRatio ?? 0));
      return { searches: asked, ...(asked > 0 && { hitRatio: hits / asked }) };
    }),
  };
}
