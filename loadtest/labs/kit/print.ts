import { durationText } from '../../../src/report/format.ts';
import type { FindingRecord, FindingTable, Lesson } from './finding.ts';
import { cellsOf, commandsOf, oneLine } from './table.ts';
import { othersWords, plainText } from './text.ts';

const [WIDTH, BETWEEN] = [110, '  '];

/** What an experiment found, for a terminal: the sentence it all comes to is the last line. */
export function printFinding({ finding, machine, tookSeconds, othersCores, command }: FindingRecord): string {
  const { name, title, published, tables, notes, lesson } = finding;
  return [
    ...wrapped(`${name}: ${title}`),
    ...(published === '' ? [] : wrapped(`Published: ${published}`)),
    ...tables.flatMap((table) => ['', ...tableLines(table)]),
    '',
    ...notes.flatMap((note) => wrapped(`- ${note}`, '  ')),
    ...wrapped(`- Measured in ${durationText(tookSeconds * 1000)} on ${machine}.${othersWords(othersCores)}`, '  '),
    `- Again: ${oneLine(command)}`,
    '',
    ...wrapped(`${LESSON_SIGNS[lesson.holds]} ${lesson.sentence}`, '  '),
  ].join('\n');
}

function tableLines(table: FindingTable): readonly string[] {
  const commands = [...commandsOf(table.rows)];
  return [
    ...wrapped(table.title),
    ...columns(table).map((line) => `  ${line}`),
    ...(commands.length === 0 ? [] : ['  to repeat:']),
    // Not broken into lines: they are there to be copied.
    ...commands.map(([command, rows]) => `    ${rows.map(plainText).join('; ')}: ${command}`),
  ];
}

/** Names at the left, figures at the right. */
function columns(table: FindingTable): readonly string[] {
  const { titles, rows, isFigure } = cellsOf(table);
  const cells = [titles, ...rows].map((row) => row.map(plainText));
  const widths = titles.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, at) => (isFigure[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join(BETWEEN)
      .trimEnd(),
  );
}

/** In lines of 110 characters; all but the first are indented. */
function wrapped(text: string, indent = ''): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of plainText(text).trim().split(' ')) {
    if (current.trim() !== '' && current.length + 1 + word.length > WIDTH) {
      lines.push(current);
      current = `${indent}${word}`;
    } else current += `${current === '' ? '' : ' '}${word}`;
  }
  return [...lines, current];
}

/** For who looks for the sentence in many lines: it says the same in words. */
export const LESSON_SIGNS: Readonly<Record<Lesson['holds'], string>> = { yes: '✓', partly: '~', no: '✕', unseen: '?' };
