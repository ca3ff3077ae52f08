import { element, type Markup } from '../../src/report/markup.ts';
import type { Frame } from '../../src/report/plot/frame.ts';
import { type Place, pathData } from '../../src/report/plot/series.ts';
import { holdOf, type Step } from '../k6/kit/step.ts';

/** Searches a second while the step's rate holds. */
export function plannedRate({ ratePerSecond, searchesPerRequest }: Step): number {
  return ratePerSecond * searchesPerRequest;
}

/** The rate the steps ask for, from ramp to ramp, as far as the run came. */
export function plannedLine(frame: Frame, steps: readonly Step[]): Markup {
  const corners = cornersOf(steps);
  const endMs = frame.x.to;
  const places: Place[] = [];
  for (const [i, [atMs, rate]] of corners.entries()) {
    if (atMs > endMs) {
      const [fromMs, from] = corners[i - 1] ?? [0, 0];
      const share = (endMs - fromMs) / (atMs - fromMs);
      places.push([frame.x.at(endMs), frame.y.at(from + (rate - from) * share)]);
      break;
    }
    places.push([frame.x.at(atMs), frame.y.at(rate)]);
  }
  return element('path', { class: 'line planned', d: pathData(places) });
}

function cornersOf(steps: readonly Step[]): readonly (readonly [atMs: number, rate: number])[] {
  return steps.flatMap((step, i) => {
    const before = steps[i - 1];
    const startMs = step.startSeconds * 1000;
    const holdsMs = startMs + step.rampSeconds * 1000;
    const rate = plannedRate(step);
    const endedMs = before === undefined ? 0 : holdOf(before)[1] * 1000;
    return [
      // Nothing is sent in a break.
      ...(startMs > endedMs
        ? ([
            [endedMs, 0],
            [startMs, 0],
          ] as const)
        : []),
      [startMs, before === undefined ? 0 : plannedRate(before)],
      [holdsMs, rate],
      [holdsMs + step.holdSeconds * 1000, rate],
    ] as const;
  });
}
