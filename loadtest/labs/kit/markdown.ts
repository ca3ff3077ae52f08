import { durationText } from '../../../src/report/format.ts';
import { plotFile } from './chart.ts';
import { claimCells, holds, isBounded, VERDICT_TEXT, verdictText } from './claims.ts';
import { type Finding, type FindingRecord, PLOTS, RECORDS } from './finding.ts';
import { type Cells, cellsOf } from './table.ts';
import { othersWords, plainText, prose } from './text.ts';

const MAX_ROWS = 8;

/**
 * The part of a finding that its page shows. The page of the experiments shows each one in brief: the claims, those with a
 * bound first, and one plot; the records have the rest. Any other page shows all.
 */
export function shownOnPage({ command, finding }: FindingRecord): Finding {
  if (!command.startsWith('npm run experiments ')) return finding;
  const [bounded, others] = [finding.claims.filter(isBounded), finding.claims.filter((claim) => !isBounded(claim))];
  const claims = [...bounded, ...others].slice(0, MAX_ROWS);
  return { ...finding, claims, tables: [], charts: finding.charts.slice(0, 1), notes: [] };
}

/** The section of a page for a finding. Measured text is escaped. */
export function findingMarkdown(record: FindingRecord): string {
  const finding = shownOnPage(record);
  const { name, title, published, tables, charts, notes, sentence } = finding;
  const blocks = [
    `## ${prose(title)}`,
    published === '' ? '' : `Published: ${prose(published)}`,
    `**${verdictText(finding)}.** ${prose(sentence)}`,
    finding.claims.length === 0 ? '' : tableOfCells(claimCells(finding)),
    ...tables.flatMap((table) => [bold(table.title), tableOfCells(cellsOf(table))]),
    ...charts.map((chart) => `![${prose(chart.title)}](${PLOTS}/${plotFile(name, chart.id)})`),
    notes.map((note) => `- ${prose(note)}`).join('\n'),
    `${measuredWords(record, name)}${othersWords(record.othersCores)}`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** The command, date and machine of a measurement, with a link to all figures. @param name of the section. */
export function measuredWords(
  { command, machine, startedAt, tookSeconds, commit }: Omit<FindingRecord, 'version' | 'finding'>,
  name: string,
): string {
  const day = prose(startedAt.slice(0, 10));
  const at = commit === undefined ? '' : `, commit ${code(commit)}`;
  const took = durationText(tookSeconds * 1000);
  return `${code(command)}: measured on ${day} in ${took} on ${prose(machine)}${at} ([all figures](${RECORDS}/${name}.json)).`;
}

export function tableOfCells({ titles, rows, isFigure }: Cells): string {
  const written = (cells: readonly string[]): string => `| ${cells.map(prose).join(' | ')} |`;
  const rule = `|${isFigure.map((one) => (one ? '---:' : '---')).join('|')}|`;
  return [written(titles), rule, ...rows.map(written)].join('\n');
}

function bold(text: string): string {
  const words = prose(text);
  return words === '' ? '' : `**${words}**`;
}

function code(text: string): string {
  return `\`${plainText(text).trim()}\``;
}

const [START, END] = ['<!-- overview -->', '<!-- /overview -->'];
const HEAD = '| | does it hold here? |\n|---|---|';

/**
 * Replaces or adds this finding's row in the table of verdicts at the beginning of a page. A page without the markers of
 * this table is returned unchanged. @param names of all findings of the page, in their order.
 * @throws when one marker is missing, because the table would become outdated.
 */
export function withOverview(page: string, { finding }: FindingRecord, names: readonly string[]): string {
  const place = overviewOf(page);
  if (place === undefined) return page;
  const { from, to } = place;
  const rows = new Map([...page.slice(from, to).matchAll(/^\| `([^`]+)` .*$/gm)].map(([row, name]) => [name, row]));
  const { name, title, claims, verdict } = finding;
  const seen = claims.map(holds).filter((one) => one !== undefined);
  const count = seen.length === 0 ? '' : `, ${seen.filter((one) => one).length} of ${seen.length} claims`;
  rows.set(name, `| \`${name}\` ${prose(title)} | **${VERDICT_TEXT[verdict]}**${count} |`);
  const table = [HEAD, ...names.flatMap((one) => rows.get(one) ?? [])].join('\n');
  return `${page.slice(0, from)}${START}\n${table}\n${page.slice(to)}`;
}

/** The positions of the start marker and of the end marker; undefined when the page has none. @throws as `withOverview`. */
export function overviewOf(page: string): { readonly from: number; readonly to: number } | undefined {
  const [from, to] = [page.indexOf(`${START}\n`), page.indexOf(`\n${END}`) + 1];
  if (from < 0 && to === 0) return undefined;
  if (from >= 0 && from < to) return { from, to };
  throw new Error(`the overview of a page stands between one line "${START}" and one "${END}"`);
}
