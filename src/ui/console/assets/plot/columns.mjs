/**
 * @typedef {import('../data/history.mjs').Moment} Moment
 * @typedef {import('./charts.mjs').Chart} Chart
 * @typedef {(number | null)[]} Column
 */

/** What a logarithm can show; nothing is answered faster. */
const LEAST_LOG = 0.01;

/**
 * What a chart draws: seconds, then a column per line. Null where nothing is known, so that the line breaks there.
 * @param {Chart} chart
 * @param {readonly Moment[]} moments
 * @returns {[number[], ...Column[]]}
 */
export function columnsOf(chart, moments) {
  const columns = chart.lines.map((line) =>
    moments.map(({ look }) => {
      const value = look === undefined ? undefined : line.read(look);
      if (value === undefined || !Number.isFinite(value)) return null;
      return chart.scale === 'log' ? Math.max(LEAST_LOG, value) : value;
    }),
  );
  return [moments.map(({ atMs }) => atMs / 1000), ...(chart.stacked === true ? stacked(columns) : columns)];
}

/**
 * Each on top of those before it.
 * @param {readonly Column[]} columns
 * @returns {Column[]}
 */
function stacked(columns) {
  /** @type {Column[]} */
  const sums = [];
  for (const column of columns) {
    const below = sums.at(-1);
    sums.push(column.map((value, i) => (value === null ? null : value + (below?.[i] ?? 0))));
  }
  return sums;
}
