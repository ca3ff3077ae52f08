import type { Fault, ReplyFacts, Sample, Sides } from './ask.ts';
import type { Comparison } from './overlap.ts';
import { MAX_LINES, type Queries } from './queries.ts';

/** What `serpcache parity --json` prints of the comparison. Shares are 0–1; null where nothing could be counted. */
export interface Figures {
  /** Queries that both engines answered: all that the figures below are about. */
  readonly compared: number;
  readonly overlap: {
    readonly mean: number | null;
    /** Each query as often as it is asked. */
    readonly weightedMean: number | null;
    /** Without the queries for which neither found anything, each of which counts as 1 above. */
    readonly meanOfFound: number | null;
    readonly weightedMeanOfFound: number | null;
    readonly p10: number | null;
    readonly p50: number | null;
    readonly p90: number | null;
  };
  /** Where the engine's own list is cut between results that it ranks alike, no other engine can be wholly like it. */
  readonly ties: { readonly share: number | null; readonly meanWithout: number | null };
  /** Of the queries for which both found something. */
  readonly sameOrder: number | null;
  /** Of all compared. */
  readonly empty: {
    readonly both: number | null;
    readonly onlyEngine: number | null;
    readonly onlyLifeboat: number | null;
  };
  /** The lifeboat's total over the engine's, where both found something. */
  readonly totalRatio: { readonly p10: number | null; readonly p50: number | null; readonly p90: number | null };
  /** The engine's results; of them, those not on the lifeboat's page; of those, the ones its index does not hold. */
  readonly results: { readonly engine: number; readonly missing: number; readonly notIndexed: number };
  readonly engine: SideFigures;
  readonly lifeboat: SideFigures;
  /** Least overlap first; among equals the most asked. */
  readonly worst: readonly WorstQuery[];
}

export interface SideFigures {
  readonly answered: number;
  /** Answered, but after its own deadline. */
  readonly late: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** By code, with the first message of each. */
  readonly faults: Readonly<Partial<Record<Fault, { readonly count: number; readonly message: string }>>>;
}

export interface WorstQuery {
  readonly query: string;
  readonly weight: number;
  readonly overlap: number;
  readonly engineTitles: readonly string[];
  readonly lifeboatTitles: readonly string[];
}

const WORST = 10;

type Compared = Sample & { readonly comparison: Comparison };

export function figuresOf(samples: readonly Sample[]): Figures {
  const compared = samples.filter((sample): sample is Compared => sample.comparison !== undefined);
  const found = compared.filter(({ comparison }) => comparison.empty !== 'both');
  const bothFound = compared.filter(({ comparison }) => comparison.empty === 'neither');
  const overlaps = compared.map(({ comparison }) => comparison.overlap);
  const ratios = compared.flatMap(({ comparison }) => comparison.totalRatio ?? []);
  const emptyShare = (which: Comparison['empty']): number | null =>
    shareOf(compared, ({ comparison }) => comparison.empty === which);
  return {
    compared: compared.length,
    overlap: {
      mean: meanOverlap(compared, () => 1),
      weightedMean: meanOverlap(compared, ({ weight }) => weight),
      meanOfFound: meanOverlap(found, () => 1),
      weightedMeanOfFound: meanOverlap(found, ({ weight }) => weight),
      p10: quantile(overlaps, 0.1),
      p50: quantile(overlaps, 0.5),
      p90: quantile(overlaps, 0.9),
    },
    ties: {
      share: shareOf(found, ({ comparison }) => comparison.tied),
      meanWithout: meanOverlap(
        found.filter(({ comparison }) => !comparison.tied),
        () => 1,
      ),
    },
    sameOrder: shareOf(bothFound, ({ comparison }) => comparison.sameOrder),
    empty: { both: emptyShare('both'), onlyEngine: emptyShare('first'), onlyLifeboat: emptyShare('second') },
    totalRatio: { p10: quantile(ratios, 0.1), p50: quantile(ratios, 0.5), p90: quantile(ratios, 0.9) },
    results: {
      engine: total(compared.map(({ comparison }) => comparison.shown)),
      missing: total(compared.map(({ comparison }) => comparison.missing.length)),
      notIndexed: total(compared.map(({ notIndexed }) => notIndexed)),
    },
    engine: sideFigures(samples.map(({ engine }) => engine)),
    lifeboat: sideFigures(samples.map(({ lifeboat }) => lifeboat)),
    worst: worstOf(compared),
  };
}

function sideFigures(replies: readonly ReplyFacts[]): SideFigures {
  const pages = replies.filter((reply) => reply.kind === 'page');
  const times = pages.map(({ tookMs }) => tookMs);
  const faults: Partial<Record<Fault, { count: number; message: string }>> = {};
  for (const reply of replies) {
    if (reply.kind !== 'fault') continue;
    const counted = faults[reply.fault];
    if (counted === undefined) faults[reply.fault] = { count: 1, message: reply.message };
    else counted.count += 1;
  }
  return {
    answered: pages.length,
    late: pages.filter(({ late }) => late).length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    faults,
  };
}

function worstOf(compared: readonly Compared[]): readonly WorstQuery[] {
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

/** Nearest rank: always a value that was seen. */
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

/** Of the engine's results, unknown to the lifeboat's index: more than this is no rounding at the edge of two builds. */
const FEW_UNKNOWN = 0.01;

/** Why the figures may say less, or something else, than they seem to. */
export function warningsOf(queries: Queries, sides: Pick<Sides, 'engine' | 'lifeboat'>, figures: Figures): string[] {
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
    const why = 'it is older than the engine, or of another catalogue; build it anew and measure again';
    warnings.push(`${share} % of the results that the lifeboat lacks are not in its index: ${why}`);
  }
  return warnings;
}
