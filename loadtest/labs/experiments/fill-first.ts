import type { FindingTable } from '../kit/finding.ts';

/** The same tables, where the first command that is printed fills the store for itself and for all that follow. */
export function fillFirst(fill: string, tables: readonly FindingTable[]): readonly FindingTable[] {
  const first = tables.findIndex(({ rows }) => rows.some(({ command }) => command !== undefined));
  return tables.map((table, at) => {
    if (at !== first) return table;
    const row = table.rows.find(({ command }) => command !== undefined);
    // Rows with one command are printed as one: all of them are changed, or it would stand there twice.
    const rows = table.rows.map((one) =>
      one.command !== undefined && one.command === row?.command
        ? { ...one, command: `${fill} && ${one.command}` }
        : one,
    );
    return { ...table, rows };
  });
}
