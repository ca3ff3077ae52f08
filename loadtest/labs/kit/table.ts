import type { Chart, FindingTable, Row } from './finding.ts';
import { type Unit, valueText } from './text.ts';

/** A table as texts: the varied setting, the figures, and columns for limits and published values if any row has them. */
export interface Cells {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** For each column: figures are aligned to the right. */
  readonly isFigure: readonly boolean[];
}

export function cellsOf({ columns, rows }: FindingTable): Cells {
  const hasLimit = rows.some(({ limit }) => limit !== undefined);
  const hasPublished = rows.some(({ published }) => published !== undefined);
  const further = [...(hasLimit ? ['limit'] : []), ...(hasPublished ? ['published'] : [])];
  return {
    titles: ['', ...columns.map(({ name }) => name), ...further],
    rows: rows.map(({ name, values, limit, published }) => [
      name,
      ...columns.map(({ unit }, at) => valueText(values[at], unit)),
      ...(hasLimit ? [limit ?? ''] : []),
      ...(hasPublished ? [published ?? ''] : []),
    ]),
    isFigure: [false, ...columns.map(({ unit }) => unit !== 'text'), ...further.map(() => false)],
  };
}

/** A table as columns with accessors. A measured row may have a member `limit`. */
export interface TableParts<Measured> {
  readonly title: string;
  readonly rows: readonly Measured[];
  readonly name: (row: Measured) => string;
  readonly columns: readonly (readonly [
    name: string,
    unit: Unit,
    of: (row: Measured) => number | string | undefined,
  ])[];
  readonly published?: (row: Measured) => string | undefined;
}

export function tableOf<Measured extends object>({
  title,
  rows,
  name,
  columns,
  published,
}: TableParts<Measured>): FindingTable {
  return {
    title,
    columns: columns.map(([column, unit]) => ({ name: column, unit })),
    rows: rows.map((row) => {
      const { limit }: Pick<Row, 'limit'> = row as object;
      return { name: name(row), values: columns.map(([, , of]) => of(row)), published: published?.(row), limit };
    }),
  };
}

/** A chart as series with accessors, from a point of the axis to its value. */
interface ChartParts<Point> extends Omit<Chart, 'id' | 'places' | 'series'> {
  readonly id?: string;
  readonly points: readonly Point[];
  readonly pointName: (point: Point) => string;
  readonly series: readonly {
    readonly name: string;
    readonly isPublished?: true;
    readonly of: (point: Point) => number | undefined;
  }[];
}

export function chartOf<Point>({ id = '', points, pointName, series, ...rest }: ChartParts<Point>): Chart {
  return {
    id,
    ...rest,
    places: points.map(pointName),
    series: series.map(({ of, ...own }) => ({ ...own, values: points.map(of) })),
  };
}
