import { durationText } from '../../../src/report/format.ts';
import { claimCells, verdictText } from './claims.ts';
import type { FindingRecord, Verdict } from './finding.ts';
import { type Cells, cellsOf } from './table.ts';
import { othersWords, plainText } from './text.ts';

export const WIDTH = 110;

/** A finding for a terminal. The verdict is the last line. */
export function printFinding({ finding, machine, tookSeconds, othersCores, command }: FindingRecord): string {
  const { name, title, published, tables, notes, verdict, sentence } = finding;
  return [
    ...wrapped(`${name}: ${title}`),
    ...(published === '' ? [] : wrapped(`Published: ${published}`)),
    ...tables.flatMap((table) => ['', ...wrapped(table.title), ...cellLines(cellsOf(table))]),
    '',
    ...notes.flatMap((note) => wrapped(`- ${note}`, '  ')),
    ...wrapped(`- Measured in ${durationText(tookSeconds * 1000)} on ${machine}.${othersWords(othersCores)}`, '  '),
    `- Again: ${plainText(command)}`,
    '',
    ...(finding.claims.length === 0 ? [] : [...cellLines(claimCells(finding)), '']),
    ...wrapped(`${VERDICT_SIGNS[verdict]} ${verdictText(finding)}. ${sentence}`, '  '),
  ].join('\n');
}

function cellLines({ titles, rows, isFigure }: Cells): readonly string[] {
  return aligned([titles, ...rows], isFigure).map((line) => `  ${line}`);
}

/** Rows as lines of columns: figures are aligned to the right, texts to the left. */
export function aligned(table: readonly (readonly string[])[], isFigure: readonly boolean[]): readonly string[] {
  const cells = table.map((row) => row.map(plainText));
  const widths = isFigure.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, at) => (isFigure[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** Two columns for a help text. */
export function columns(rows: readonly (readonly [left: string, right: string])[]): readonly string[] {
  return aligned(rows, [false, false]).map((line) => `  ${line}`);
}

/** A text in lines of at most 110 characters. @param indent of all lines but the first. @param first indent of the first line. */
export function wrapped(text: string, indent = '', first = ''): readonly string[] {
  const lines: string[] = [];
  let current = first;
  for (const word of plainText(text).trim().split(' ')) {
    const isEmpty = current.trim() === '';
    if (!isEmpty && current.length + 1 + word.length > WIDTH) {
      lines.push(current);
      current = `${indent}${word}`;
    } else current += `${isEmpty ? '' : ' '}${word}`;
  }
  return [...lines, current];
}

/** Signs that make the verdict easy to find; its words follow. */
const VERDICT_SIGNS: Readonly<Record<Verdict, string>> = { yes: '✓', partly: '~', no: '✕', unseen: '?' };
