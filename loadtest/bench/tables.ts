import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { tableOfCells } from '../labs/kit/markdown.ts';
import { aligned } from '../labs/kit/print.ts';
import { replaceFiles, withSection } from '../labs/kit/publish.ts';
import type { Cells } from '../labs/kit/table.ts';
import { prose } from '../labs/kit/text.ts';
import { BENCHES, type Bench, SERPCACHE } from './benches.ts';
import { type BenchResult, type BenchResults, goalVerdict, median, ratiosOf } from './verdict.ts';

export const PAGE = join(import.meta.dirname, 'README.md');
export const SECTION = 'hits';

/** A row for each goal, and for each bench without one; figures are medians of the starts, with the lowest and the highest. */
export function goalCells(results: BenchResults): Cells {
  const rows = listed(results).flatMap(([name, { goals }, result]) =>
    (goals ?? [{ against: result.baseline }]).flatMap((goal) => {
      const ratios = ratiosOf(result.rates, SERPCACHE, goal.against);
      if (!ratios.every(Number.isFinite)) return [];
      const isJudged = goal.goal !== undefined || goal.floor !== undefined;
      return [
        [
          name,
          goal.against,
          times(median(ratios)),
          rangeText(ratios),
          times(goal.goal),
          times(goal.floor),
          isJudged ? goalVerdict(median(ratios), goal) : '',
        ],
      ];
    }),
  );
  return {
    titles: ['bench', 'serpcache against', 'figure', 'starts', 'goal', 'no less than', 'verdict'],
    rows,
    isFigure: [false, false, true, true, true, true, false],
  };
}

/** A row for each server of each bench, the fastest first. */
export function serverCells(results: BenchResults): Cells {
  const rows = listed(results).flatMap(([name, , result]) => {
    const names = Object.keys(result.rates[0] ?? {});
    const own = names.map((server) => {
      const perCpu = median(result.rates.map((rates) => rates[server] ?? Number.NaN));
      const ratios = ratiosOf(result.rates, server, result.baseline);
      return { server, perCpu, cells: [times(median(ratios)), rangeText(ratios)] };
    });
    return own
      .sort((a, b) => b.perCpu - a.perCpu)
      .map(({ server, perCpu, cells }) => [
        name,
        server === result.baseline ? `${server} (1.00)` : server,
        Math.round(perCpu).toLocaleString('en-US'),
        (1e6 / perCpu).toFixed(1),
        ...cells,
      ]);
  });
  return {
    titles: ['bench', 'server', 'requests/s of CPU', 'µs each', 'ratio', 'starts'],
    rows,
    isFigure: [false, false, true, true, true, true],
  };
}

export function tableLines(results: BenchResults): readonly string[] {
  return [goalCells(results), serverCells(results)].flatMap(({ titles, rows, isFigure }) => [
    '',
    ...aligned([titles, ...rows], isFigure),
  ]);
}

/** The generated part of the page, from the committed results alone. */
export function pageMarkdown(results: BenchResults): string {
  const how = listed(results).map(
    ([name, { title }, { command, machine, commit, startedAt, rates, seconds }]) =>
      `- \`${name}\`: ${prose(title)}. \`${command}\`, ${rates.length} starts, ${seconds} s of load on each server at each, ` +
      `${startedAt.slice(0, 10)}${commit === undefined ? '' : `, commit \`${commit}\``}, ${prose(machine)}.`,
  );
  const parts = [tableOfCells(goalCells(results)), '### Servers', tableOfCells(serverCells(results)), how.join('\n')];
  return `${parts.join('\n\n')}\n`;
}

/** Replaces the generated part of the page; everything else is written by hand and stays. @throws without its markers */
export function publishPage(results: BenchResults, page = PAGE): void {
  const text = withSection(
    readFileSync(page, 'utf8'),
    { name: SECTION, markdown: pageMarkdown(results) },
    basename(page),
  );
  replaceFiles(new Map([[page, text]]));
}

/** The benches that were measured, in the order of the table of benches. */
function listed(results: BenchResults): (readonly [string, Bench, BenchResult])[] {
  return Object.entries(BENCHES).flatMap(([name, bench]) => {
    const result = results[name];
    return result === undefined ? [] : [[name, bench, result] as const];
  });
}

function times(ratio: number | undefined): string {
  return ratio === undefined ? '' : ratio.toFixed(2);
}

function rangeText(ratios: readonly number[]): string {
  return `${times(Math.min(...ratios))}–${times(Math.max(...ratios))}`;
}
