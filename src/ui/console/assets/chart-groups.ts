import type { Journal } from '../../../operations/drills/journal.ts';
import { drillAnnotations, trackOf } from '../../../operations/drills/report/track.ts';
import type { DomainLook } from '../../../operations/operations.ts';
import { curvesOf, sidePlots } from '../../../operations/shadow/report-plots.ts';
import { amountText, countText, durationText, percentText, stopwatchText } from '../../../report/format.ts';
import { curve, highest, type PointRun, pilesOf, type Slice, type SliceRuns } from '../../../report/plot/curve.ts';
import type { BackdropOptions, Band } from '../../../report/plot/figure.ts';
import type { TimeSpan } from '../../../report/plot/frame.ts';
import { type Panel, plotPanel } from '../../../report/plot/panel.ts';
import type { Outcome } from '../../../search/outcome.ts';
import type { FeedValues, LiveLine } from './api.ts';
import { cohortRuns, cohortStyle, drilledDomain } from './view/cohorts.ts';
import { clockTime, minuteTime } from './view/components.ts';

/** The charts of the console: of a domain, by the clock, of a shadow, and of a drill. */

/** Charts with one axis of time, which show the same pointer. */
export interface ChartGroup extends Pick<BackdropOptions, 'bands' | 'moments' | 'timeText'> {
  readonly panels: readonly Panel[];
  readonly span: TimeSpan;
  /** The legends show the values of this time, unless the pointer names another one. */
  readonly lastMs: number;
  readonly isClock?: boolean;
  /** The time at the pointer. */
  readonly pointedText: (atMs: number) => string;
}

const SHOWN_MS = 300_000;
const MAX_MOMENTS = 400;
/** Lines come one a second. A longer pause is drawn as a gap. */
const GAP_MS = 2500;

interface LiveMoment {
  readonly atMs: number;
  /** Absent: nothing is known of that time. */
  readonly look?: DomainLook;
}

/** The last five minutes of each domain, kept in this page only. */
export function createHistory() {
  const byDomain = new Map<string, LiveMoment[]>();
  return {
    add: ({ atMs, domains }: LiveLine): void => {
      for (const look of domains) {
        const moments = byDomain.get(look.domain) ?? [];
        byDomain.set(look.domain, moments);
        const last = moments.at(-1);
        // The service's clock was set back: the moments before can no longer be put in order.
        if (last !== undefined && last.atMs >= atMs) moments.length = 0;
        else if (last !== undefined && atMs - last.atMs > GAP_MS) moments.push({ atMs: last.atMs + 1 });
        moments.push({ atMs, look });
        const from = moments.findIndex((moment) => moment.atMs > atMs - SHOWN_MS);
        moments.splice(0, Math.max(from, moments.length - MAX_MOMENTS));
      }
    },
    of: (domain: string): readonly LiveMoment[] => byDomain.get(domain) ?? [],
  };
}

/** Each look stands for the time since the one before it. */
function slicesOf(moments: readonly LiveMoment[]): SliceRuns<DomainLook> {
  const runs: Slice<DomainLook>[][] = [[]];
  for (const { atMs, look } of moments) {
    const run = runs.at(-1);
    if (look === undefined) runs.push([]);
    else run?.push({ fromMs: run.at(-1)?.toMs ?? atMs - 1000, toMs: atMs, data: look });
  }
  return runs.filter((run) => run.length > 0);
}

/** From the bottom up: the best answers are lowest. */
const OUTCOMES: readonly (readonly [name: string, style: string, ...outcomes: Outcome[]])[] = [
  ['memory', 'hit-l1', 'hit-l1'],
  ['store', 'hit-l2', 'hit-l2'],
  ['stale', 'stale', 'stale'],
  ['collapsed', 'collapsed', 'collapsed'],
  ['engine', 'engine', 'engine'],
  ['lifeboat', 'lifeboat', 'lifeboat'],
  ['shed', 'shed', 'shed'],
  ['failed', 'failed', 'failed'],
  ['rejected, aborted', 'unanswered', 'rejected', 'aborted'],
];

/** The charts of a domain. A figure is unknown before the service has measured its first second. */
export function liveCharts(moments: readonly LiveMoment[]): ChartGroup {
  const lastMs = moments.at(-1)?.atMs ?? Date.now();
  const span = { fromMs: lastMs - SHOWN_MS, toMs: lastMs };
  const slices = slicesOf(moments);
  const runsOf = (read: (look: DomainLook) => number | undefined): readonly PointRun[] => curve(slices, read);
  const perSecond = (count: (figures: NonNullable<DomainLook['figures']>) => number) =>
    runsOf(({ figures }) =>
      figures === undefined || figures.seconds <= 0 ? undefined : count(figures) / figures.seconds,
    );
  const counted = (
    id: string,
    title: string,
    series: NonNullable<Parameters<typeof plotPanel>[1]['series']>,
  ): Panel => {
    const runs = series.map((one) => one?.runs ?? []);
    const isWhole = id === 'places';
    const tickText = isWhole ? countText : amountText;
    return plotPanel(span, { id, title, tickText, isWhole, max: Math.max(1, highest(...runs)), series });
  };
  const piles = pilesOf(
    slices,
    ([look]) => {
      const { figures } = look ?? {};
      if (figures === undefined || figures.seconds <= 0) return undefined;
      return OUTCOMES.map(
        ([, , ...names]) => names.reduce((sum, name) => sum + figures.outcomes[name], 0) / figures.seconds,
      );
    },
    { columnMs: 1 },
  );
  const panels = [
    plotPanel(span, {
      id: 'outcomes',
      title: 'Outcomes per second',
      tickText: amountText,
      stacked: { areas: OUTCOMES.map(([name, style]) => ({ name, style })), runs: piles },
    }),
    plotPanel(span, {
      id: 'hits',
      title: 'Hit ratio',
      max: 1,
      tickText: percentText,
      series: [{ style: 'hits', name: 'memory and store', runs: runsOf(({ figures }) => figures?.hitRatio) }],
    }),
    plotPanel(span, {
      id: 'latency',
      title: 'Time to answer',
      isLog: true,
      tickText: durationText,
      series: [
        { style: 'p99', name: 'p99', runs: runsOf(({ figures }) => figures?.p99Ms) },
        { style: 'p50', name: 'p50', runs: runsOf(({ figures }) => figures?.p50Ms) },
      ],
    }),
    counted('calls', 'Engine calls per second', [
      { style: 'failed', name: 'failed', runs: perSecond(({ engineFailures }) => engineFailures) },
      { style: 'engine', name: 'calls', runs: runsOf(({ figures }) => figures?.engineCallsPerSecond) },
    ]),
    counted('places', 'Engine permits', [
      { style: 'engine', name: 'in flight', runs: runsOf(({ status }) => status.engine.inFlight) },
      { style: 'limit', name: 'limit', runs: runsOf(({ status }) => status.engine.maxConcurrent) },
      { style: 'ceiling', name: 'ceiling', runs: runsOf(({ status }) => status.engine.ceiling) },
      { style: 'queued', name: 'queued', runs: runsOf(({ status }) => status.engine.queued) },
    ]),
  ];
  const bands = drillBands(slices);
  return { panels, span, lastMs, bands, moments: [], isClock: true, timeText: minuteTime, pointedText: clockTime };
}

/** The time of a drill, with what it flushed; another tint while nothing is flushed. */
function drillBands(slices: SliceRuns<DomainLook>): readonly Band[] {
  const bands: Band[] = [];
  for (const { fromMs, toMs, data } of slices.flat()) {
    const { drill } = data.control;
    if (drill === undefined) continue;
    const name = drill.blackout ? 'blackout' : drill.flushed > 0 ? percentText(drill.flushed) : 'drill';
    const style = name === 'drill' ? 'phase-baseline' : 'phase-stage-odd';
    const last = bands.at(-1);
    if (last?.name === name && last.toMs === fromMs) bands[bands.length - 1] = { ...last, toMs };
    else bands.push({ fromMs, toMs, name, style });
  }
  return bands;
}

/** The shortest axis of a shadow, which would otherwise change its scale with every sample. */
const MIN_SHADOW_MS = 60_000;

/** Both sides of each figure, since the start of the shadow. */
export function shadowCharts({ samples }: FeedValues['curves']): ChartGroup {
  const curves = curvesOf(samples, MIN_SHADOW_MS, true);
  const lastMs = curves.runs.at(-1)?.at(-1)?.toMs ?? 0;
  const panels = sidePlots(curves, 'shadow');
  return { panels, span: curves, lastMs, bands: [], moments: [], pointedText: stopwatchText };
}

/** The hit ratio of each cohort since the drill began, behind it the phases and stages. */
export function cohortCharts(journal: Journal): ChartGroup | undefined {
  const track = trackOf(journal, drilledDomain(journal) ?? '');
  if (track.runs.length === 0) return undefined;
  const series = cohortRuns(journal).map(({ name, runs }, at) => ({ style: cohortStyle(at), name, runs }));
  const panel = plotPanel(track, {
    id: 'cohorts',
    title: 'Hit ratio of the cohorts',
    max: 1,
    tickText: percentText,
    series,
  });
  const annotations = drillAnnotations(track, journal.plan);
  return { panels: [panel], span: track, lastMs: track.toMs, pointedText: stopwatchText, ...annotations };
}
