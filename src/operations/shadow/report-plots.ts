import { amountText, countText, durationText, percentText, perSecondText, UNKNOWN } from '../../report/format.mjs';
import type { Band, Moment } from '../../report/plot/backdrop.ts';
import { highest, linesPlot, type Series } from '../../report/plot/lines.ts';
import type { Panel } from '../../report/plot/panel.ts';
import type { Point, Run } from '../../report/plot/series.ts';
import type { Servers, ShadowFigures, ShadowSample, Side, SideName } from './figures.ts';
import type { ShadowReport } from './shadow.ts';

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
export interface Curves {
  readonly fromMs: number;
  readonly toMs: number;
  /** Columns without a gap; between two runs nothing was recorded. */
  readonly runs: readonly (readonly Column[])[];
}

interface Column {
  readonly fromMs: number;
  readonly toMs: number;
  readonly figures: readonly ShadowFigures[];
}

/** Number of points along a plot: it keeps the page small, also for a long shadow. */
const MAX_COLUMNS = 240;
/** With fewer reads a hit ratio is chance; a quiet shadow gets one point per `MAX_POINT_MS`. */
const MIN_POINT_READS = 50;
const MAX_POINT_MS = 30_000;
/** An interval that begins later after the one before, in its own lengths, is drawn after a gap. */
const GAP_INTERVALS = 3;
const MIN_SPAN_MS = 1000;

export function curvesOf({ samples, startedAtMs, endedAtMs }: ShadowReport): Curves {
  const inOrder = samples.toSorted((a, b) => a.atMs - b.atMs);
  const toMs = Math.max(MIN_SPAN_MS, endedAtMs - startedAtMs, inOrder.at(-1)?.atMs ?? 0);
  const columnMs = toMs / MAX_COLUMNS;
  const runs: Column[][] = [];
  let open: ShadowSample[] = [];
  let endMs = 0;
  const close = (): void => {
    const [first, last] = [open[0], open.at(-1)];
    if (first === undefined || last === undefined) return;
    const fromMs = Math.max(0, first.atMs - lengthMs(first));
    runs.at(-1)?.push({ fromMs, toMs: last.atMs, figures: open.map(({ figures }) => figures) });
    open = [];
  };
  for (const sample of inOrder) {
    const fromMs = sample.atMs - lengthMs(sample);
    if (runs.length === 0 || fromMs - endMs > GAP_INTERVALS * lengthMs(sample)) {
      close();
      runs.push([]);
    }
    open.push(sample);
    endMs = sample.atMs;
    const lastedMs = endMs - (open[0]?.atMs ?? endMs) + lengthMs(sample);
    const reads = sum(open.map(({ figures }) => figures.primary.compared));
    if (lastedMs >= columnMs && (reads >= MIN_POINT_READS || lastedMs >= MAX_POINT_MS)) close();
  }
  close();
  return { fromMs: 0, toMs, runs: runs.filter((run) => run.length > 0) };
}

function lengthMs({ figures }: ShadowSample): number {
  return figures.seconds * 1000;
}

/** Maximum number of changes that are drawn; the table has all. */
const MAX_DRAWN_CHANGES = 40;

/** The time is divided by the changes of the fraction and the reads; a mark stands at each but the first. */
export function annotationsOf(
  { changes }: Pick<ShadowReport, 'changes'>,
  { toMs }: Curves,
): { readonly bands: readonly Band[]; readonly moments: readonly Moment[] } {
  const drawn = changes.slice(-MAX_DRAWN_CHANGES).filter(({ atMs }) => atMs < toMs);
  return {
    bands: drawn.map(
      ({ atMs, fraction, reads }, at): Band => ({
        fromMs: atMs,
        toMs: drawn[at + 1]?.atMs ?? toMs,
        name: bandName({ fraction, reads }),
        style: at % 2 === 0 ? 'phase-stage-even' : 'phase-stage-odd',
      }),
    ),
    moments: drawn.slice(1).map(({ atMs }): Moment => ({ atMs, style: 'restored', shape: 'diamond' })),
  };
}

/** `25 % ×3`: the fraction of the keys and the reads. */
function bandName({ fraction, reads }: { readonly fraction: number; readonly reads: number }): string {
  return `${percentText(fraction)} ×${countText(reads)}`;
}

/** Reads and errors of both sides. */
export function sidePlots(curves: Curves, { total }: ShadowReport, id: string): readonly Panel[] {
  const hits = bothSides(curves, (some) =>
    ratio(
      some,
      ({ hits }) => hits,
      ({ compared }) => compared,
    ),
  );
  const p99 = bothSides(curves, (some) => rangeOf(some.map((one) => one.p99Ms)));
  const reads = bothSides(curves, (some, seconds) =>
    level(seconds > 0 ? sumOf(some, (one) => one.reads) / seconds : undefined),
  );
  const errors = bothSides(curves, (some) => ratio(some, faults, (one) => one.reads + one.writes));
  return [
    linesPlot(curves, {
      ...{ id: `${id}-hits`, heightPx: 200, max: 1, tickCount: 5, tickText: percentText },
      title: 'Hit ratio, % of compared reads',
      ...described('Hit ratio over time', hits, ({ hitRatio }) => `${percentText(hitRatio)} in all`, total),
    }),
    linesPlot(curves, {
      ...{ id: `${id}-p99`, heightPx: 160, tickText: durationText },
      title: 'Time of a read, p99',
      ...described('p99 over time', p99, ({ p99Ms }) => `${durationText(p99Ms)} in all`, total, true),
      notes: [
        'A point of several intervals is their worst p99; the tint reaches from the lowest to the highest of them.',
      ],
    }),
    linesPlot(curves, {
      ...{ id: `${id}-reads`, heightPx: 130, tickText: perSecondText },
      title: 'Reads, per second',
      ...described(
        'Reads over time',
        reads,
        ({ readsPerSecond }) => `${perSecondText(readsPerSecond)} on average`,
        total,
      ),
    }),
    linesPlot(curves, {
      ...{ id: `${id}-errors`, heightPx: 110, tickCount: 3, tickText: percentText },
      // A side without errors is a line at the bottom, on an axis that shows what a few would be.
      max: Math.max(MIN_ERROR_AXIS, highest(errors.primary, errors.candidate)),
      title: 'Errors, % of reads and writes',
      ...described('Errors over time', errors, ({ errorRate }) => `${percentText(errorRate)} in all`, total),
    }),
  ];
}

const MIN_ERROR_AXIS = 0.01;

/** How the values agree. */
export function agreementPlots(curves: Curves, id: string): readonly Panel[] {
  const plot = (name: string, title: string, kinds: readonly AgreementKind[]): Panel => {
    const series = kinds.map((kind): Series => {
      const runs = agreementRuns(curves, kind);
      return { style: kind, name: kind, figure: `${percentText(highest(runs))} at most`, runs };
    });
    return linesPlot(curves, {
      ...{ id: `${id}-${name}`, heightPx: 110, tickCount: 3, tickText: percentText, series },
      title,
      words: `${title}: ${series.map(({ name: kind, figure }) => `${kind} ${figure}`).join(', ')}.`,
      max: Math.max(MIN_ERROR_AXIS, ...series.map(({ runs = [] }) => highest(runs))),
      isEmpty: isEmpty(series),
    });
  };
  return [
    plot('sided', 'Values on one side only, % of compared values', ['missing', 'surplus']),
    plot('differ', 'Values that differ, % of compared values', ['wrong', 'older', 'newer']),
  ];
}

type AgreementKind = 'missing' | 'surplus' | 'wrong' | 'older' | 'newer';

function agreementRuns(curves: Curves, kind: AgreementKind): readonly Run[] {
  return runsOf(curves, ({ figures }) => {
    const compared = sum(figures.map(({ agreement }) => agreement.compared));
    return level(compared > 0 ? sum(figures.map(({ agreement }) => agreement[kind])) / compared : undefined);
  });
}

/** The INFO of both sides. Bytes are drawn in MiB, so that the axis has round numbers. */
export function serverPlots(curves: Curves, { total }: ShadowReport, id: string): readonly Panel[] {
  const plot = (name: string, title: string, of: (servers: Servers) => number | undefined): Panel => {
    const runs = bothSides(curves, (some) => mean(some.map(({ servers }) => servers && of(servers))));
    const figure = ({ servers }: Side): string => (servers === undefined ? UNKNOWN : amountText(of(servers)));
    return linesPlot(curves, {
      ...{ id: `${id}-${name}`, heightPx: 110, tickCount: 3, tickText: amountText, title },
      ...described(title, runs, figure, total),
    });
  };
  return [
    plot('memory', 'Memory in use, MiB', ({ memoryBytes }) => inMiB(memoryBytes)),
    plot('evicted', 'Keys evicted, per second', (one) => one.evictedPerSecond),
    plot('cpu', 'Processors in use', ({ cpu }) => cpu),
    plot('out', 'Bytes sent, MiB per second', (one) => inMiB(one.bytesOutPerSecond)),
  ];
}

function inMiB(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : bytes / 2 ** 20;
}

/** The value of one point, and the range of the samples that it stands for. */
type Value = Pick<Point, 'value' | 'low' | 'high'> | undefined;
type BothRuns = Readonly<Record<SideName, readonly Run[]>>;

function bothSides(curves: Curves, of: (some: readonly Side[], seconds: number) => Value): BothRuns {
  const runs = (name: SideName): readonly Run[] =>
    runsOf(curves, ({ figures }) =>
      of(
        figures.map((one) => one[name]),
        sum(figures.map(({ seconds }) => seconds)),
      ),
    );
  return { primary: runs('primary'), candidate: runs('candidate') };
}

/** A column without a value breaks the line. */
function runsOf(curves: Curves, of: (column: Column) => Value): readonly Run[] {
  return curves.runs.flatMap((columns) => {
    const found: Point[][] = [[]];
    for (const column of columns) {
      const value = of(column);
      if (value === undefined) found.push([]);
      else found.at(-1)?.push({ ...value, fromMs: column.fromMs, toMs: column.toMs, weight: 1 });
    }
    return found.filter((run) => run.length > 0);
  });
}

/** The candidate is drawn on top. */
function described(
  what: string,
  { primary, candidate }: BothRuns,
  figure: (side: Side) => string,
  total: ShadowFigures,
  isTinted = false,
): Pick<Panel, 'words' | 'isEmpty'> & { readonly series: readonly Series[] } {
  const series: readonly Series[] = [
    { style: 'candidate', name: 'candidate', figure: figure(total.candidate), runs: candidate, isTinted },
    { style: 'primary', name: 'primary', figure: figure(total.primary), runs: primary, isTinted },
  ];
  const words = `${what}: ${series.map((one) => `${one.name} ${one.figure}`).join(', ')}.`;
  return { series, words, isEmpty: isEmpty(series) };
}

function isEmpty(series: readonly Series[]): boolean {
  return series.every(({ runs = [] }) => runs.length === 0);
}

function faults({ errors }: Side): number {
  return sum(Object.values(errors));
}

function ratio(some: readonly Side[], part: (side: Side) => number, all: (side: Side) => number): Value {
  const whole = sumOf(some, all);
  return level(whole > 0 ? sumOf(some, part) / whole : undefined);
}

function mean(values: readonly (number | undefined)[]): Value {
  const known = values.filter((one) => one !== undefined);
  return level(known.length > 0 ? sum(known) / known.length : undefined);
}

function level(value: number | undefined): Value {
  return value === undefined || !Number.isFinite(value) ? undefined : { value, low: value, high: value };
}

/** Percentiles have no meaningful mean. */
function rangeOf(values: readonly (number | undefined)[]): Value {
  const known = values.filter((one) => one !== undefined);
  if (known.length === 0) return undefined;
  const high = Math.max(...known);
  return { value: high, low: Math.min(...known), high };
}

function sumOf(some: readonly Side[], of: (side: Side) => number): number {
  return sum(some.map(of));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
