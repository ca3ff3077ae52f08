import { durationText } from '../../src/report/number-text.ts';
import { plainText } from '../report/plain-text.ts';
import type { FindingRecord, FindingTable } from './finding.ts';
import { othersWords } from './others-words.ts';
import { plotFile } from './plot-files.ts';
import { prose } from './prose.ts';
import { cellsOf, commandsOf } from './table-cells.ts';

/** What an experiment found, for a README: nothing that was measured is taken for markup. @param plotsPath from the page. */
export function findingMarkdown(record: FindingRecord, plotsPath: string): string {
  const { name, title, published, tables, charts, notes, lesson } = record.finding;
  const folder = plotsPath === '' || plotsPath.endsWith('/') ? plotsPath : `${plotsPath}/`;
  const blocks = [
    `## ${prose(title)}`,
    published === '' ? '' : `Published: ${prose(published)}`,
    ...tables.flatMap((table) => [bold(table.title), markdownTable(table)]),
    ...charts.map((chart) => `![${prose(chart.title)}](${encodeURI(folder)}${plotFile(name, chart.id)})`),
    commandBlock(tables),
    notes.map((note) => `- ${prose(note)}`).join('\n'),
    `${code(record.command)}: ${measured(record)}.${othersWords(record.othersCores)}`,
    bold(lesson.sentence),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function measured({ machine, startedAt, tookSeconds }: FindingRecord): string {
  const day = prose(startedAt.slice(0, 10));
  return `measured on ${day} in ${durationText(tookSeconds * 1000)} on ${prose(machine)}`;
}

function markdownTable(table: FindingTable): string {
  const { titles, rows, isFigure } = cellsOf(table);
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

function code(text: string): string {
  const plain = plainText(text).trim().replaceAll('<!--', '<! --');
  const ticks = '`'.repeat(longestTicks(plain) + 1);
  const gap = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${ticks}${gap}${plain}${gap}${ticks}`;
}

function longestTicks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
}
