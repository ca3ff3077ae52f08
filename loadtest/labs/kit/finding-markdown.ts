import { durationText } from '../../../src/report/format.ts';
import type { FindingRecord, FindingTable } from './finding.ts';
import { othersWords } from './others-words.ts';
import { plainText } from './plain-text.ts';
import { plotFile } from './plot-files.ts';
import { prose } from './prose.ts';
import { PLOTS, RECORDS } from './publish-section.ts';
import { type Cells, cellsOf, commandsOf } from './table-cells.ts';

/** The section of a README for a finding. Measured text is escaped, so it is never markup. */
export function findingMarkdown(record: FindingRecord): string {
  const { name, title, published, tables, charts, notes, lesson } = record.finding;
  const blocks = [
    `## ${prose(title)}`,
    published === '' ? '' : `Published: ${prose(published)}`,
    ...tables.flatMap((table) => [bold(table.title), markdownTable(table)]),
    ...charts.map((chart) => `![${prose(chart.title)}](${PLOTS}/${plotFile(name, chart.id)})`),
    commandBlock(tables),
    notes.map((note) => `- ${prose(note)}`).join('\n'),
    `${measuredWords(record, name)}${othersWords(record.othersCores)}`,
    bold(lesson.sentence),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** How figures came about, in a sentence that leads to all of them. @param name of the section. */
export function measuredWords(
  { command, machine, startedAt, tookSeconds, commit }: Omit<FindingRecord, 'version' | 'finding'>,
  name: string,
): string {
  const day = prose(startedAt.slice(0, 10));
  const at = commit === undefined ? '' : `, commit ${code(commit)}`;
  const took = durationText(tookSeconds * 1000);
  return `${code(command)}: measured on ${day} in ${took} on ${prose(machine)}${at} ([all figures](${RECORDS}/${name}.json)).`;
}

function markdownTable(table: FindingTable): string {
  return tableOfCells(cellsOf(table));
}

export function tableOfCells({ titles, rows, isFigure }: Cells): string {
  const written = (cells: readonly string[]): string => `| ${cells.map(prose).join(' | ')} |`;
  const rule = `|${isFigure.map((one) => (one ? '---:' : '---')).join('|')}|`;
  return [written(titles), rule, ...rows.map(written)].join('\n');
}

/** Folded: they are for who wants to repeat a row, and long. */
function commandBlock(tables: readonly FindingTable[]): string {
  const lists = tables.flatMap(({ title, rows }) => {
    const commands = [...commandsOf(rows)];
    const lines = commands.flatMap(([command, names]) => [`# ${names.map(plainText).join('; ')}`, command]);
    return lines.length === 0 ? [] : [{ title: `## ${plainText(title)}`, lines }];
  });
  if (lists.length === 0) return '';
  const text = lists
    // Rows of several tables may have one name.
    .map(({ title, lines }) => [...(lists.length > 1 ? [title] : []), ...lines].join('\n'))
    .join('\n\n')
    // What is in a fence cannot be escaped: a comment's beginning would be one to whoever looks for markers.
    .replaceAll('<!--', '<! --');
  const fence = '`'.repeat(Math.max(3, longestTicks(text) + 1));
  return `<details><summary>Commands that repeat the rows</summary>\n\n${fence}sh\n${text}\n${fence}\n\n</details>`;
}

function bold(text: string): string {
  const words = prose(text);
  return words === '' ? '' : `**${words}**`;
}

export function code(text: string): string {
  const plain = plainText(text).trim().replaceAll('<!--', '<! --');
  const ticks = '`'.repeat(longestTicks(plain) + 1);
  const gap = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${ticks}${gap}${plain}${gap}${ticks}`;
}

function longestTicks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
}
