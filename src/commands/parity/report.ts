import type { Figures, SideFigures, WorstQuery } from './figures.ts';

/** Everything `serpcache parity` found out; `--json` prints it as it is. */
export interface ParityReport {
  readonly domain: string;
  readonly limit: number;
  /** As given: `-price`, `brand:hp`. */
  readonly sort: string | null;
  readonly filters: readonly string[];
  readonly engine: SideHead;
  readonly lifeboat: SideHead;
  readonly queries: {
    readonly file: string;
    readonly lines: number;
    readonly badLines: number;
    readonly distinct: number;
    readonly asked: number;
    /** Of the weight of all distinct queries, 0–1. */
    readonly askedShare: number;
  };
  readonly figures: Figures;
  /** What should be known before the figures are believed. */
  readonly warnings: readonly string[];
}

export interface SideHead {
  readonly is: string;
  /** Past it clients get no page of this engine. */
  readonly deadlineMs: number;
  /** Null where the engine does not say. */
  readonly documents: number | null;
  readonly builtAt: string | null;
}

/** The report as a person reads it. `nowMs` is wall time, for the age of an index. */
export function reportText(report: ParityReport, nowMs: number): string {
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
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  const table = rows.map(([label, text]) => `${label.padEnd(width)}${text}`.trimEnd());
  const worst = figures.worst.length === 0 ? [] : ['', 'least alike', ...figures.worst.flatMap(worstLines)];
  const warnings = report.warnings.length === 0 ? [] : ['', ...report.warnings.map((text) => `! ${text}`)];
  return `${[...table, ...worst, ...warnings].join('\n')}\n`;
}

function headText({ is, documents, builtAt }: SideHead, nowMs: number): string {
  const counted = documents === null ? [] : [`${documents} documents`];
  const built = builtAt === null ? [] : [`built ${builtAt} (${ageText(nowMs - Date.parse(builtAt))} ago)`];
  return [is, ...counted, ...built].join(', ');
}

function timeText({ p50Ms, p99Ms, answered, late }: SideFigures, { deadlineMs }: SideHead): string {
  return `p50 ${milliseconds(p50Ms)}  p99 ${milliseconds(p99Ms)}  ${answered} answered, ${late} after its deadline of ${deadlineMs} ms`;
}

function faultRows(name: string, { faults }: SideFigures): readonly (readonly [string, string])[] {
  return Object.entries(faults).map(([code, { count, message }]) => [
    'failed',
    `${name} ${code} ${count}: ${plain(message)}`,
  ]);
}

function worstLines({ query, weight, overlap, engineTitles, lifeboatTitles }: WorstQuery): readonly string[] {
  const titles = (of: readonly string[]): string =>
    of.map((title) => shortened(plain(title))).join(' | ') || '(nothing)';
  return [
    `  ${share(overlap)}  ${plain(query)}${weight === 1 ? '' : `  (asked ${Number(weight.toPrecision(4))})`}`,
    `        engine    ${titles(engineTitles)}`,
    `        lifeboat  ${titles(lifeboatTitles)}`,
  ];
}

const MAX_TITLE = 60;

function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_TITLE ? text : `${characters.slice(0, MAX_TITLE - 1).join('')}…`;
}

/** A title is anybody's text, and a terminal obeys control characters. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

function share(value: number | null): string {
  return value === null ? '–' : value.toFixed(2);
}

function percent(value: number | null): string {
  return value === null ? '–' : `${Number((100 * value).toFixed(1))} %`;
}

function milliseconds(value: number | null): string {
  return value === null ? '–' : `${value.toFixed(1)} ms`;
}

function ageText(ageMs: number): string {
  const hours = Math.max(0, ageMs) / 3_600_000;
  if (hours < 1) return `${Math.floor(hours * 60)} min`;
  return hours < 48 ? `${Math.floor(hours)} h` : `${Math.floor(hours / 24)} days`;
}
