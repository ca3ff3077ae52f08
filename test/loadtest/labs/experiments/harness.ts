import assert from 'node:assert/strict';
import { holds } from '../../../../loadtest/labs/kit/claims.ts';
import type { Finding, FindingTable } from '../../../../loadtest/labs/kit/finding.ts';

export type Found = Omit<Finding, 'name'>;

/** The figure of a claim, and whether it holds. */
export function claimOf({ claims }: Found, text: RegExp): readonly [number | undefined, boolean | undefined] {
  const claim = claims.find((one) => text.test(one.text));
  assert.ok(claim, String(text));
  return [claim.figure, holds(claim)];
}

export function tableOf({ tables }: Found, title: RegExp): FindingTable {
  const table = tables.find((one) => title.test(one.title));
  assert.ok(table, String(title));
  return table;
}

/** Values of one column. */
export function columnOf(table: FindingTable, name: RegExp): readonly (number | string | undefined)[] {
  const at = table.columns.findIndex((column) => name.test(column.name));
  assert.ok(at >= 0, String(name));
  return table.rows.map(({ values }) => values[at]);
}

/** One value of a table. */
export function cellOf(found: Found, title: RegExp, row: RegExp, column: RegExp): number | string | undefined {
  const table = tableOf(found, title);
  const at = table.rows.findIndex(({ name }) => row.test(name));
  assert.ok(at >= 0, String(row));
  return columnOf(table, column)[at];
}

export function figureOf(found: Found, text: RegExp): number | undefined {
  return claimOf(found, text)[0];
}
