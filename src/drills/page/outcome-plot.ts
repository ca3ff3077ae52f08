import { countText, percentText, perSecondText } from '../../report/number-text.ts';
import { createFrame } from '../../report/plot/frame.ts';
import type { Panel } from '../../report/plot/panel.ts';
import { type Layer, type Pile, stack, stackNames } from '../../report/plot/stack.ts';
import type { Outcome } from '../../search/outcome.ts';
import type { Sheet } from './curve.ts';
import { type Stretch, samplesOf } from './track.ts';

/** From the bottom up: the better the answer, the lower. Requests refused as wrong or left by their client are not drawn. */
const DRAWN_OUTCOMES = [
  'hit-l1',
  'hit-l2',
  'stale',
  'collapsed',
  'engine',
  'lifeboat',
  'shed',
  'failed',
] as const satisfies readonly Outcome[];

const LAYERS: readonly Layer[] = DRAWN_OUTCOMES.map((outcome) => ({ name: outcome, style: outcome }));

/** What became of the searches, a second. */
export function outcomePlot(sheet: Sheet, id: string): Panel {
  const { track, columnMs } = sheet;
  const runs = track.runs.map((run) => {
    const columns = Map.groupBy(run, ({ fromMs, toMs }) => Math.floor(((fromMs + toMs) / 2 - track.fromMs) / columnMs));
    return [...columns.values()].flatMap(pileOf);
  });
  const totals = DRAWN_OUTCOMES.map((outcome) =>
    samplesOf(track).reduce((sum, { figures }) => sum + counted(figures.outcomes[outcome]), 0),
  );
  const all = totals.reduce((sum, total) => sum + total, 0);
  const most = runs.flat().reduce(
    (high, { values }) =>
      Math.max(
        high,
        values.reduce((sum, value) => sum + value, 0),
      ),
    0,
  );
  const frame = createFrame({ fromMs: track.fromMs, toMs: track.toMs, max: most, heightPx: 220 });
  const figures = DRAWN_OUTCOMES.map((name, i) => {
    const total = totals[i] ?? 0;
    return { name, figure: total === 0 ? 'none' : `${countText(total)} (${percentText(total / all)})` };
  });
  return {
    id,
    title: 'Outcomes, searches per second',
    words: `Searches by outcome, as stacked areas: ${figures.map(({ name, figure }) => `${name} ${figure}`).join(', ')}.`,
    frame,
    tickText: perSecondText,
    drawn: stack(frame, runs, LAYERS),
    names: stackNames(frame, runs, LAYERS),
    // In the order in which they lie on each other, so that an area is found by its place as well.
    legend: figures.toReversed().map(({ name, figure }) => ({ kind: 'area', style: name, name, figure })),
    isEmpty: all === 0,
  };
}

/** Only columns in which time passed have a rate. */
function pileOf(stretches: readonly Stretch[]): readonly Pile[] {
  const [first, last] = [stretches[0], stretches[stretches.length - 1]];
  const seconds = stretches.reduce((sum, { sample }) => sum + counted(sample.figures.seconds), 0);
  if (first === undefined || last === undefined || seconds === 0) return [];
  const values = DRAWN_OUTCOMES.map(
    (outcome) => stretches.reduce((sum, { sample }) => sum + counted(sample.figures.outcomes[outcome]), 0) / seconds,
  );
  return [{ fromMs: first.fromMs, toMs: last.toMs, values }];
}

function counted(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) && value > 0 ? value : 0;
}
