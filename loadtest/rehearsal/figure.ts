/** One figure of a rehearsal beside what it should be. */
export interface Figure {
  readonly scene: string;
  readonly what: string;
  readonly value: string;
  readonly target: string;
  readonly met: boolean;
}

export function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ scene, what, value, target, met }) => [scene, what, value, target, met ? 'yes' : 'NO']);
  const all = [['scene', 'figure', 'measured', 'target', 'met'], ...rows];
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...rest] = all;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rest.map(line)].join('\n');
}

export function percent(ratio: number): string {
  return Number.isNaN(ratio) ? 'of nothing' : `${(100 * ratio).toFixed(1)} %`;
}
