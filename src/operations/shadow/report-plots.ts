import { amountText, countText, durationText, percentText, perSecondText, UNKNOWN } from '../../report/format.ts';
import { curve, highest, type Point, type Slice, type SliceRuns, sum } from '../../report/plot/curve.ts';
import type { BackdropOptions, Band, Moment } from '../../report/plot/figure.ts';
import type { TimeSpan } from '../../report/plot/frame.ts';
import { type Panel, plotPanel, type Series } from '../../report/plot/panel.ts';
import type { Agreed, Servers, ShadowFigures, ShadowSample, Side, SideName } from './figures.ts';
import type { ShadowReport } from './shadow.ts';

/** The plots of a shadow, for its report and for the console. */

/** Style of the curves. The sides differ in thickness too, and results in dashes, for readers without colours. */
export const SHADOW_STYLE = `
.primary{--own:var(--line-control)}
.candidate{--own:var(--line-flushed)}
.line.primary{stroke-width:1.3}
.line.candidate{stroke-width:2.4}
.line.missing{--own:var(--line-noted)}
.line.surplus{--own:var(--line-p50);stroke-dasharray:4 2}
.line.older{--own:var(--line-queued)}
.line.newer{--own:var(--line-p50);stroke-dasharray:7 3}
.line.wrong{--own:var(--line-broken);stroke-width:2.4;stroke-dasharray:2 2}
`;

/** The curves of a shadow: each point stands for the samples of one column. */
export interface Curves extends TimeSpan {
  readonly runs: SliceRuns<readonly ShadowFigures[]>;
}

/** Number of points along a plot: it keeps the page small, also for a long shadow. */
const MAX_COLUMNS = 240;
/** With fewer reads a hit ratio is chance; a quiet shadow gets one point per `MAX_POINT_MS`. */
const MIN_POINT_READS = 50;
const MAX_POINT_MS = 30_000;
/** An interval that begins later after the one before, in its own lengths, is drawn after a gap. */
const GAP_INTERVALS = 3;
const MIN_SPAN_MS = 1000;

/** @param isLive more samples follow: a last point of a few reads waits for them. */
export function curvesOf(samples: readonly ShadowSample[], lastedMs: number, isLive = false): Curves {
  const inOrder = samples.toSorted((a, b) => a.atMs - b.atMs);
  const toMs = Math.max(MIN_SPAN_MS, lastedMs, inOrder.at(-1)?.atMs ?? 0);
  const columnMs = toMs / MAX_COLUMNS;
  const runs: Slice<readonly ShadowFigures[]>[][] = [];
  let open: ShadowSample[] = [];
  let endMs = 0;
  const close = (): void => {
    const [first, last] = [open[0], open.at(-1)];
    if (first === undefined || last === undefined) return;
    const fromMs = Math.max(0, first.atMs - lengthMs(first));
    runs.at(-1)?.push({ fromMs, toMs: last.atMs, data: open.map(({ figures }) => figures) });
    open = [];
  };
  const hasEnough = (): boolean => {
    const lastedMs = sum(open.map(lengthMs));
    const reads = sum(open.map(({ figures }) => figures.primary.compared));
    return lastedMs >= columnMs && (reads >= MIN_POINT_READS || lastedMs >= MAX_POINT_MS);
  };
  for (const sample of inOrder) {
    if (runs.length === 0 || sample.atMs - lengthMs(sample) - endMs > GAP_INTERVALS * lengthMs(sample)) {
      close();
      runs.push([]);
    }
    open.push(sample);
    endMs = sample.atMs;
    if (hasEnough()) close();
  }
  if (!isLive || runs.flat().length === 0) close();
  return { fromMs: 0, toMs, runs: runs.filter((run) => run.length > 0) };
}

function lengthMs({ figures }: ShadowSample): number {
  return figures.seconds * 1000;
}

/** Maximum number of changes that are drawn; the table has all. */
const MAX_DRAWN_CHANGES = 40;
export const CHANGE_SIGN = { style: 'restored', shape: 'diamond', words: 'the fraction or the reads changed' } as const;

/** The time is divided by the changes of the fraction and the reads; a mark stands at each but the first. */
export function shadowAnnotations(
  { changes }: Pick<ShadowReport, 'changes'>,
  { toMs }: TimeSpan,
): Pick<BackdropOptions, 'bands' | 'moments'> {
  const drawn = changes.slice(-MAX_DRAWN_CHANGES).filter(({ atMs }) => atMs < toMs);
  const { style, shape } = CHANGE_SIGN;
  return {
    bands: drawn.map(
      ({ atMs, fraction, reads }, at): Band => ({
        fromMs: atMs,
        toMs: drawn[at + 1]?.atMs ?? toMs,
        // `25 % ×3`: the fraction of the keys and the reads.
        name: `${percentText(fraction)} ×${countText(reads)}`,
        style: at % 2 === 0 ? 'phase-stage-even' : 'phase-stage-odd',
      }),
    ),
    moments: drawn.slice(1).map(({ atMs }): Moment => ({ atMs, style, shape })),
  };
}

/** A figure of both sides over time. */
interface SidePlot {
  readonly name: string;
  readonly title: string;
  readonly heightPx: number;
  readonly text: (value: number | undefined) => string;
  readonly what: string;
  readonly read: (some: readonly Side[], seconds: number) => Value;
  /** The figure of the whole shadow. */
  readonly total: (side: Side) => string;
  readonly tickCount?: number;
  readonly max?: number;
  /** A curve without any values is on an axis that shows what a few would be. */
  readonly minMax?: number;
  readonly isTinted?: boolean;
  readonly notes?: readonly string[];
}

const MIN_ERROR_AXIS = 0.01;

const SIDE_PLOTS: readonly SidePlot[] = [
  {
    name: 'hits',
    title: 'Hit ratio, % of compared reads',
    what: 'Hit ratio over time',
    heightPx: 200,
    max: 1,
    tickCount: 5,
    text: percentText,
    read: (some) => ratio(sum(some.map(({ hits }) => hits)), sum(some.map(({ compared }) => compared))),
    total: ({ hitRatio }) => `${percentText(hitRatio)} in all`,
  },
  {
    name: 'p99',
    title: 'Time of a read, p99',
    what: 'p99 over time',
    heightPx: 160,
    text: durationText,
    read: (some) => rangeOf(some.map((one) => one.p99Ms)),
    total: ({ p99Ms }) => `${durationText(p99Ms)} in all`,
    isTinted: true,
    notes: [
      'A point of several intervals is their worst p99; the tint reaches from the lowest to the highest of them.',
    ],
  },
  {
    name: 'reads',
    title: 'Reads, per second',
    what: 'Reads over time',
    heightPx: 130,
    text: perSecondText,
    read: (some, seconds) => ratio(sum(some.map(({ reads }) => reads)), seconds),
    total: ({ readsPerSecond }) => `${perSecondText(readsPerSecond)} on average`,
  },
  {
    name: 'errors',
    title: 'Errors, % of reads and writes',
    what: 'Errors over time',
    heightPx: 110,
    tickCount: 3,
    text: percentText,
    minMax: MIN_ERROR_AXIS,
    read: (some) =>
      ratio(
        sum(some.flatMap(({ errors }) => Object.values(errors))),
        sum(some.map(({ reads, writes }) => reads + writes)),
      ),
    total: ({ errorRate }) => `${percentText(errorRate)} in all`,
  },
];

/** Reads and errors of both sides. @param total Absent: the legend shows the present values. */
export function sidePlots(curves: Curves, id: string, total?: ShadowFigures): readonly Panel[] {
  return SIDE_PLOTS.map((plot) => sidePlot(curves, `${id}-${plot.name}`, plot, total));
}

/** The INFO of both sides. Bytes are drawn in MiB, so that the axis has round numbers. */
export function serverPlots(curves: Curves, id: string, total: ShadowFigures): readonly Panel[] {
  const plot = (name: string, title: string, of: (servers: Servers) => number | undefined): Panel =>
    sidePlot(
      curves,
      `${id}-${name}`,
      {
        name,
        title,
        what: title,
        heightPx: 110,
        tickCount: 3,
        text: amountText,
        read: (some) => meanOf(some.map(({ servers }) => servers && of(servers))),
        total: ({ servers }) => (servers === undefined ? UNKNOWN : amountText(of(servers))),
      },
      total,
    );
  return [
    plot('memory', 'Memory in use, MiB', ({ memoryBytes }) => inMiB(memoryBytes)),
    plot('evicted', 'Keys evicted, per second', (one) => one.evictedPerSecond),
    plot('cpu', 'Processors in use', ({ cpu }) => cpu),
    plot('out', 'Bytes sent, MiB per second', (one) => inMiB(one.bytesOutPerSecond)),
  ];
}

/** The thin line of the primary is drawn on top: an equal candidate does not hide it. */
function sidePlot(curves: Curves, id: string, plot: SidePlot, whole: ShadowFigures | undefined): Panel {
  const { title, heightPx, tickCount, text, what, read, total, minMax, isTinted, notes } = plot;
  const series = (['primary', 'candidate'] as const).map((name: SideName): Series => {
    const runs = curve(curves.runs, (some) =>
      read(
        some.map((one) => one[name]),
        sum(some.map(({ seconds }) => seconds)),
      ),
    );
    return { style: name, name, figure: whole && total(whole[name]), runs, isTinted };
  });
  const max = minMax === undefined ? plot.max : Math.max(minMax, ...series.map(({ runs = [] }) => highest(runs)));
  const words = whole && `${what}: ${series.map(({ name, figure }) => `${name} ${figure}`).join(', ')}.`;
  return plotPanel(curves, { id, title, words, heightPx, tickCount, max, tickText: text, series, notes });
}

/** How the values agree. */
export function agreementPlots(curves: Curves, id: string): readonly Panel[] {
  const plot = (name: string, title: string, kinds: readonly Agreed[]): Panel => {
    const series = kinds.map((kind): Series => {
      const runs = curve(curves.runs, (some) => {
        const of = (key: Agreed | 'compared'): number => sum(some.map(({ agreement }) => agreement[key]));
        return ratio(of(kind), of('compared'));
      });
      return { style: kind, name: kind, figure: `${percentText(highest(runs))} at most`, runs };
    });
    return plotPanel(curves, {
      id: `${id}-${name}`,
      title,
      words: `${title}: ${series.map(({ name: kind, figure }) => `${kind} ${figure}`).join(', ')}.`,
      heightPx: 110,
      tickCount: 3,
      tickText: percentText,
      max: Math.max(MIN_ERROR_AXIS, ...series.map(({ runs = [] }) => highest(runs))),
      series,
    });
  };
  return [
    plot('sided', 'Values on one side only, % of compared values', ['missing', 'surplus']),
    plot('differ', 'Values that differ, % of compared values', ['wrong', 'older', 'newer']),
  ];
}

function inMiB(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : bytes / 2 ** 20;
}

/** The value of one point, and the range of the samples that it stands for. */
type Value = number | Pick<Point, 'value' | 'low' | 'high'> | undefined;

function ratio(part: number, whole: number): number | undefined {
  return whole > 0 ? part / whole : undefined;
}

function meanOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((one) => one !== undefined);
  return ratio(sum(known), known.length);
}

/** Percentiles have no meaningful mean. */
function rangeOf(values: readonly (number | undefined)[]): Value {
  const known = values.filter((one) => one !== undefined);
  if (known.length === 0) return undefined;
  const high = Math.max(...known);
  return { value: high, low: Math.min(...known), high };
}
