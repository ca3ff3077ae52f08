import { durationText } from '../../../src/report/format.mjs';
import { claimCells, verdictText } from './claims.ts';
import type { Finding, FindingRecord, FindingTable, Verdict } from './finding.ts';
import { cellsOf, commandsOf, oneLine } from './table.ts';
import { othersWords, plainText } from './text.ts';

const [WIDTH, BETWEEN] = [110, '  '];

/** A finding for a terminal; the verdict and the sentence are the last line. */
export function printFinding({ finding, machine, tookSeconds, othersCores, command }: FindingRecord): string {
  const { name, title, published, tables, notes, verdict, sentence } = finding;
  return [
    ...wrapped(`${name}: ${title}`),
    ...(published === '' ? [] : wrapped(`Published: ${published}`)),
    ...tables.flatMap((table) => ['', ...tableLines(table)]),
    '',
    ...notes.flatMap((note) => wrapped(`- ${note}`, '  ')),
    ...wrapped(`- Measured in ${durationText(tookSeconds * 1000)} on ${machine}.${othersWords(othersCores)}`, '  '),
    `- Again: ${oneLine(command)}`,
    '',
    ...claimLines(finding),
    ...wrapped(`${VERDICT_SIGNS[verdict]} ${verdictText(finding)}. ${sentence}`, '  '),
  ].join('\n');
}

function tableLines(table: FindingTable): readonly string[] {
  const commands = [...commandsOf(table.rows)];
  return [
    ...wrapped(table.title),
    ...columns(table).map((line) => `  ${line}`),
    ...(commands.length === 0 ? [] : ['  to repeat:']),
    // Not wrapped, so that they can be copied.
    ...commands.map(([command, rows]) => `    ${rows.map(plainText).join('; ')}: ${command}`),
  ];
}

function claimLines(finding: Finding): readonly string[] {
  if (finding.claims.length === 0) return [];
  const rows = [['', 'figure', 'bound', 'holds'], ...claimCells(finding)];
  return [...aligned(rows, [false, true, false, false]).map((line) => `  ${line}`), ''];
}

/** Names at the left, figures at the right. */
function columns(table: FindingTable): readonly string[] {
  const { titles, rows, isFigure } = cellsOf(table);
  return aligned([titles, ...rows], isFigure);
}

function aligned(table: readonly (readonly string[])[], isFigure: readonly boolean[]): readonly string[] {
  const cells = table.map((row) => row.map(plainText));
  const widths = isFigure.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
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

/** Marks of the verdict line, which says the same in words. */
const VERDICT_SIGNS: Readonly<Record<Verdict, string>> = { yes: '✓', partly: '~', no: '✕', unseen: '?' };
