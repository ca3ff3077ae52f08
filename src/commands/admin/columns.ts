/** Lines of text in columns, each as wide as its widest cell. Numbers and what begins like one stand to the right. */
export function columns(rows: readonly (readonly string[])[], head?: readonly string[]): string {
  const all = head === undefined ? rows : [head, ...rows];
  const count = Math.max(0, ...all.map(({ length }) => length));
  const widths = Array.from({ length: count }, (_, i) => Math.max(...all.map((row) => widthOf(row[i] ?? ''))));
  const toRight = widths.map((_, i) => rows.every((row) => /^$|^[–\d.,]+( [%\p{L}]+)?$/u.test(row[i] ?? '')));
  return all
    .map((row) =>
      row
        .map((cell, i) => {
          const space = ' '.repeat((widths[i] ?? 0) - widthOf(cell));
          return toRight[i] ? space + cell : cell + space;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function widthOf(text: string): number {
  return [...text].length;
}

export function indented(text: string, by = '  '): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : by + line))
    .join('\n');
}
