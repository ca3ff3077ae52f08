import { durationText, percentText } from '../../report/format.ts';
import type { PageComparison } from '../../search/overlap.ts';
import { columns, printable } from '../terminal.ts';
import type { ParityAnswers, ParitySample, ReplyFacts, ReplyFault, Sides } from './ask.ts';
import { MAX_LINES, type Queries, weightOf } from './queries.ts';

/** The measured request. Sort order and filters are as given on the command line: `-price`, `brand:hp`. */
interface ParityRequest {
  readonly domain: string;
  readonly limit: number;
  readonly sort: string | undefined;
  readonly filters: readonly string[];
  readonly file: string;
}

export type ParityReport = ReturnType<typeof reportOf>;

/** The result of `serpcache parity`; `--json` prints it unchanged. */
export function reportOf(
  { domain, limit, sort, filters, file }: ParityRequest,
  queries: Queries,
  sides: Sides,
  { samples, gaveUp }: ParityAnswers,
) {
  const figures = figuresOf(samples);
  return {
    domain,
    limit,
    sort: sort ?? null,
    filters,
    engine: headOf(sides.engine),
    lifeboat: headOf(sides.lifeboat),
    queries: {
      file,
      lines: queries.lines,
      badLines: queries.badLines,
      distinct: queries.distinct,
      asked: samples.length,
      /** The share of the asked queries in the weight of all distinct queries, 0–1. */
      askedShare: weightOf(samples) / queries.weight,
    },
    figures,
    /** Reasons to doubt the figures. */
    warnings: [...(gaveUp === undefined ? [] : [gaveUp]), ...parityWarnings(queries, sides, figures)],
  };
}

type SideHead = ReturnType<typeof headOf>;

/** Documents and age are null when the engine does not tell them. */
function headOf({ is, deadlineMs, index }: Sides['engine']) {
  const builtAt = index === undefined ? null : new Date(index.builtAtMs).toISOString();
  return { is, deadlineMs, documents: index?.documents ?? null, builtAt };
}

type Figures = ReturnType<typeof figuresOf>;
type SideFigures = ReturnType<typeof sideFigures>;

const WORST = 10;

type Compared = ParitySample & { readonly comparison: PageComparison };

/** Figures of the comparison. Shares are 0–1; null when there was nothing to count. */
export function figuresOf(samples: readonly ParitySample[]) {
  const compared = samples.filter((sample): sample is Compared => sample.comparison !== undefined);
  const found = compared.filter(({ comparison }) => comparison.empty !== 'both');
  const bothFound = compared.filter(({ comparison }) => comparison.empty === 'neither');
  const overlaps = compared.map(({ comparison }) => comparison.overlap);
  const ratios = compared.flatMap(({ comparison }) => comparison.totalRatio ?? []);
  const emptyShare = (which: PageComparison['empty']): number | null =>
    shareOf(compared, ({ comparison }) => comparison.empty === which);
  return {
    /** Queries that both engines answered. The figures below are of these queries only. */
    compared: compared.length,
    overlap: {
      mean: meanOverlap(compared, () => 1),
      /** Each query weighted by its count. */
      weightedMean: meanOverlap(compared, ({ weight }) => weight),
      /** Without the queries for which neither engine found anything; in `mean` each of these counts as 1. */
      meanOfFound: meanOverlap(found, () => 1),
      weightedMeanOfFound: meanOverlap(found, ({ weight }) => weight),
      p10: quantile(overlaps, 0.1),
      p50: quantile(overlaps, 0.5),
      p90: quantile(overlaps, 0.9),
    },
    /** Queries for which the engine's list is cut between results of equal rank: no other engine can match it fully. */
    ties: {
      share: shareOf(found, ({ comparison }) => comparison.tied),
      meanWithout: meanOverlap(
        found.filter(({ comparison }) => !comparison.tied),
        () => 1,
      ),
    },
    /** Share of the queries for which both engines found something. */
    sameOrder: shareOf(bothFound, ({ comparison }) => comparison.sameOrder),
    /** Shares of all compared queries. */
    empty: { both: emptyShare('both'), onlyEngine: emptyShare('first'), onlyLifeboat: emptyShare('second') },
    /** The lifeboat's total divided by the engine's, for queries with results of both. */
    totalRatio: { p10: quantile(ratios, 0.1), p50: quantile(ratios, 0.5), p90: quantile(ratios, 0.9) },
    /**
     * Results of the engine; the part that is missing on the lifeboat's page; the part of that which its index does not
     * hold.
     */
    results: {
      engine: total(compared.map(({ comparison }) => comparison.shown)),
      missing: total(compared.map(({ comparison }) => comparison.missing.length)),
      notIndexed: total(compared.map(({ notIndexed }) => notIndexed)),
    },
    engine: sideFigures(samples.map(({ engine }) => engine)),
    lifeboat: sideFigures(samples.map(({ lifeboat }) => lifeboat)),
    /** Least overlap first; among equals the most frequent. */
    worst: worstOf(compared),
  };
}

function sideFigures(replies: readonly ReplyFacts[]) {
  const pages = replies.filter((reply) => reply.kind === 'page');
  const times = pages.map(({ tookMs }) => tookMs);
  /** Count and first message per code. */
  const faults: Partial<Record<ReplyFault, { count: number; message: string }>> = {};
  for (const reply of replies) {
    if (reply.kind !== 'fault') continue;
    const counted = faults[reply.fault];
    if (counted === undefined) faults[reply.fault] = { count: 1, message: reply.message };
    else counted.count += 1;
  }
  return {
    answered: pages.length,
    /** Answered after its deadline. */
    late: pages.filter(({ late }) => late).length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    faults,
  };
}

function worstOf(compared: readonly Compared[]) {
  return compared
    .filter(({ comparison }) => comparison.overlap < 1)
    .sort((a, b) => a.comparison.overlap - b.comparison.overlap || b.weight - a.weight)
    .slice(0, WORST)
    .map(({ text, weight, comparison, engine, lifeboat }) => ({
      query: text,
      weight,
      overlap: rounded(comparison.overlap),
      engineTitles: engine.kind === 'page' ? engine.titles : [],
      lifeboatTitles: lifeboat.kind === 'page' ? lifeboat.titles : [],
    }));
}

function meanOverlap(samples: readonly Compared[], weightOf: (sample: Compared) => number): number | null {
  const weight = total(samples.map(weightOf));
  if (weight === 0) return null;
  return rounded(total(samples.map((sample) => weightOf(sample) * sample.comparison.overlap)) / weight);
}

function shareOf<T>(values: readonly T[], holds: (value: T) => boolean): number | null {
  return values.length === 0 ? null : rounded(values.filter(holds).length / values.length);
}

/** The nearest-rank quantile, which is always one of the values. */
function quantile(values: readonly number[], share: number): number | null {
  const value = values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)];
  return value === undefined ? null : rounded(value);
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** Share of the engine's results that the lifeboat's index may lack without a warning: two builds differ a little. */
const FEW_UNKNOWN = 0.01;

/** Reasons why the figures may mislead. */
function parityWarnings(queries: Queries, sides: Sides, figures: Figures): readonly string[] {
  const { engine, missing, notIndexed } = figures.results;
  const [own, other] = [sides.engine.index, sides.lifeboat.index];
  const warnings: string[] = [];
  if (queries.cut) warnings.push(`only the first ${MAX_LINES} lines of the file were read`);
  if (own !== undefined && own.build === other?.build)
    warnings.push('both sides are the same index: of course they agree');
  if (engine > 0 && notIndexed === engine) {
    const ids =
      "are its ids the engine's (for sphinx and manticore the setting idAttribute, doc_id with sphinx-source)?";
    warnings.push(`none of the engine's ${engine} results is in the lifeboat's index; ${ids}`);
  } else if (notIndexed > FEW_UNKNOWN * engine) {
    const share = Math.round((100 * notIndexed) / missing);
    const why = 'it is older than the engine, or of another catalogue; build it again and measure again';
    warnings.push(`${share} % of the results that the lifeboat lacks are not in its index: ${why}`);
  }
  return warnings;
}

/** The report as text. `nowMs` is wall time, for the age of an index. */
export function parityText(report: ParityReport, nowMs: number): string {
  const { figures, queries, limit } = report;
  const { overlap, ties, empty, totalRatio, results } = figures;
  const how = [
    ...report.filters.map((filter) => `filter ${filter}`),
    ...(report.sort === null ? [] : [`sort ${report.sort}`]),
  ];
  const rows: readonly (readonly [string, string])[] = [
    ['domain', [report.domain, ...how].join(', ')],
    ['engine', headText(report.engine, nowMs)],
    ['lifeboat', headText(report.lifeboat, nowMs)],
    [
      'queries',
      `${queries.distinct} distinct in ${queries.lines} lines (${queries.badLines} bad), ${queries.asked} asked ` +
        `(${percent(queries.askedShare)} of all searches), ${figures.compared} answered by both`,
    ],
    ['', ''],
    [
      `overlap@${limit}`,
      `mean ${share(overlap.mean)}  weighted ${share(overlap.weightedMean)}  ` +
        `p10 ${share(overlap.p10)}  p50 ${share(overlap.p50)}  p90 ${share(overlap.p90)}`,
    ],
    [
      '',
      `without queries nobody finds: mean ${share(overlap.meanOfFound)}  weighted ${share(overlap.weightedMeanOfFound)}`,
    ],
    [
      'ties',
      `${percent(ties.share)} of these the engine cuts amid results it ranks alike; without them mean ${share(ties.meanWithout)}`,
    ],
    ['same order', `${percent(figures.sameOrder)} of the queries for which both find something`],
    [
      'empty',
      `only the engine ${percent(empty.onlyEngine)}  only the lifeboat ${percent(empty.onlyLifeboat)}  both ${percent(empty.both)}`,
    ],
    [
      'totals',
      `lifeboat ÷ engine: p10 ${share(totalRatio.p10)}  p50 ${share(totalRatio.p50)}  p90 ${share(totalRatio.p90)}`,
    ],
    [
      'results',
      `${results.engine} of the engine, ${results.missing} not on the lifeboat's page; ${results.notIndexed} of these not in its index`,
    ],
    ['', ''],
    ['time', `engine ${timeText(figures.engine, report.engine)}`],
    ['', `lifeboat ${timeText(figures.lifeboat, report.lifeboat)}`],
    ...faultRows('engine', figures.engine),
    ...faultRows('lifeboat', figures.lifeboat),
  ];
  const worst = figures.worst.length === 0 ? [] : ['', 'least alike', ...figures.worst.flatMap(worstLines)];
  const warnings = report.warnings.length === 0 ? [] : ['', ...report.warnings.map((text) => `! ${text}`)];
  return `${printable([columns(rows), ...worst, ...warnings].join('\n'))}\n`;
}

function headText({ is, documents, builtAt }: SideHead, nowMs: number): string {
  const counted = documents === null ? [] : [`${documents} documents`];
  const built = builtAt === null ? [] : [`built ${builtAt} (${ageText(nowMs - Date.parse(builtAt))} ago)`];
  return [is, ...counted, ...built].join(', ');
}

function timeText({ p50Ms, p99Ms, answered, late }: SideFigures, { deadlineMs }: SideHead): string {
  return `p50 ${durationText(p50Ms ?? undefined)}  p99 ${durationText(p99Ms ?? undefined)}  ${answered} answered, ${late} after its deadline of ${deadlineMs} ms`;
}

function faultRows(name: string, { faults }: SideFigures): readonly (readonly [string, string])[] {
  return Object.entries(faults).map(([code, { count, message }]) => [
    'failed',
    `${name} ${code} ${count}: ${oneLine(message)}`,
  ]);
}

function worstLines(worst: Figures['worst'][number]): readonly string[] {
  const { query, weight, overlap, engineTitles, lifeboatTitles } = worst;
  const titles = (of: readonly string[]): string =>
    of.map((title) => shortened(oneLine(title))).join(' | ') || '(nothing)';
  return [
    `  ${share(overlap)}  ${oneLine(query)}${weight === 1 ? '' : `  (asked ${Number(weight.toPrecision(4))})`}`,
    `        engine    ${titles(engineTitles)}`,
    `        lifeboat  ${titles(lifeboatTitles)}`,
  ];
}

const MAX_TITLE = 60;

function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_TITLE ? text : `${characters.slice(0, MAX_TITLE - 1).join('')}…`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

function share(value: number | null): string {
  return value === null ? '–' : value.toFixed(2);
}

function percent(value: number | null): string {
  return percentText(value ?? undefined);
}

function ageText(ageMs: number): string {
  const hours = Math.max(0, ageMs) / 3_600_000;
  if (hours < 1) return `${Math.floor(hours * 60)} min`;
  return hours < 48 ? `${Math.floor(hours)} h` : `${Math.floor(hours / 24)} days`;
}
