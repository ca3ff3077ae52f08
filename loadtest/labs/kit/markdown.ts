import { durationText } from '../../../src/report/format.mjs';
import { plotFile } from './chart.ts';
import { claimCells, holds, VERDICT_TEXT, verdictText } from './claims.ts';
import { type Finding, type FindingRecord, type FindingTable, PLOTS, RECORDS } from './finding.ts';
import { type Cells, cellsOf, commandsOf } from './table.ts';
import { othersWords, plainText, prose } from './text.ts';

/** The section of a page for a finding. Measured text is escaped. */
export function findingMarkdown(record: FindingRecord): string {
  const { name, title, published, tables, charts, notes, sentence } = record.finding;
  const blocks = [
    `## ${prose(title)}`,
    published === '' ? '' : `Published: ${prose(published)}`,
    `**${verdictText(record.finding)}.** ${prose(sentence)}`,
    claimTable(record.finding),
    ...tables.flatMap((table) => [bold(table.title), tableOfCells(cellsOf(table))]),
    ...charts.map((chart) => `![${prose(chart.title)}](${PLOTS}/${plotFile(name, chart.id)})`),
    commandBlock(tables),
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

function claimTable(finding: Finding): string {
  const rows = claimCells(finding);
  const titles = ['', 'figure', 'bound', 'holds'];
  return rows.length === 0 ? '' : tableOfCells({ titles, rows, isFigure: [false, true, false, false] });
}

export function tableOfCells({ titles, rows, isFigure }: Cells): string {
  const written = (cells: readonly string[]): string => `| ${cells.map(prose).join(' | ')} |`;
  const rule = `|${isFigure.map((one) => (one ? '---:' : '---')).join('|')}|`;
  return [written(titles), rule, ...rows.map(written)].join('\n');
}

/** Folded, because commands are long and only for readers who want to repeat a row. */
function commandBlock(tables: readonly FindingTable[]): string {
  const lists = tables.flatMap(({ title, rows }) => {
    const commands = [...commandsOf(rows)];
    const lines = commands.flatMap(([command, names]) => [`# ${names.map(plainText).join('; ')}`, command]);
    return lines.length === 0 ? [] : [{ title: `## ${plainText(title)}`, lines }];
  });
  if (lists.length === 0) return '';
  const text = lists
    // Rows of different tables may have the same name.
    .map(({ title, lines }) => [...(lists.length > 1 ? [title] : []), ...lines].join('\n'))
    .join('\n\n')
    // Text in a fence cannot be escaped, and a search for markers would take the start of a comment for one.
    .replaceAll('<!--', '<! --');
  const fence = '`'.repeat(Math.max(3, longestTicks(text) + 1));
  return `<details><summary>Commands that repeat the rows</summary>\n\n${fence}sh\n${text}\n${fence}\n\n</details>`;
}

function bold(text: string): string {
  const words = prose(text);
  return words === '' ? '' : `**${words}**`;
}

function code(text: string): string {
  const plain = plainText(text).trim().replaceAll('<!--', '<! --');
  const ticks = '`'.repeat(longestTicks(plain) + 1);
  const gap = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${ticks}${gap}${plain}${gap}${ticks}`;
}

function longestTicks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
}

const [START, END] = ['<!-- overview -->', '<!-- /overview -->'];
/** Also edited markers: a comment at the start of a line with that word. */
const LIKE_ONE = /^[ \t]*<!--[^>\n]*\boverview\b[^>\n]*-->.*$/gim;
const HEAD = '| | does it hold here? |\n|---|---|';

/**
 * Replaces or adds this finding's row in the table of verdicts at the beginning of a page. A page without the markers of
 * this table is returned unchanged. @param names of all findings of the page, in their order.
 * @throws when a marker is missing or was edited, because the table would become outdated.
 */
export function withOverview(page: string, { finding }: FindingRecord, names: readonly string[]): string {
  const eol = page.includes('\r\n') ? '\r\n' : '\n';
  const place = overviewOf(page);
  if (place === undefined) return page;
  const { from, to } = place;
  const rows = new Map(
    page
      .slice(from + START.length, to)
      .split(eol)
      .flatMap((line) => {
        const name = /^\| `([^`]+)` /.exec(line)?.[1];
        return name === undefined ? [] : [[name, line] as const];
      }),
  );
  const { name, title, claims, verdict, sentence } = finding;
  const seen = claims.map(holds).filter((one) => one !== undefined);
  const count = seen.length === 0 ? '' : `, ${seen.filter((one) => one).length} of ${seen.length} claims`;
  rows.set(name, `| \`${name}\` ${prose(title)} | **${VERDICT_TEXT[verdict]}**${count}: ${prose(sentence)} |`);
  const lines = names.flatMap((one) => rows.get(one) ?? []);
  const table = [HEAD.replaceAll('\n', eol), ...lines].join(eol);
  return `${page.slice(0, from)}${START}${eol}${table}${eol}${page.slice(to)}`;
}

/** The positions of the start marker and of the end marker; undefined when the page has none. @throws as `withOverview`. */
export function overviewOf(page: string): { readonly from: number; readonly to: number } | undefined {
  const found = [...page.matchAll(LIKE_ONE)].map(({ 0: line, index }) => ({ text: line.trim(), from: index }));
  if (found.length === 0) return undefined;
  const [start, end] = found;
  if (found.length === 2 && start?.text === START && end?.text === END) return { from: start.from, to: end.from };
  throw new Error(
    `the overview of a page stands between one line "${START}" and one "${END}"; there are ${found.map(({ text }) => `"${text}"`).join(', ')}`,
  );
}
