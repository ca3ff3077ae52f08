/**
 * The data of the live plots: the last five minutes, the charts, the columns a chart draws, and the colours.
 * @typedef {import('../api.mjs').LiveLine} LiveLine
 * @typedef {import('../api.mjs').DomainLook} DomainLook
 * @typedef {import('../api.mjs').Outcome} Outcome
 * @typedef {(number | null)[]} Column
 */

/**
 * @template Look What is known at one time.
 * @typedef {{ readonly atMs: number, readonly look?: Look }} Moment Without a look: nothing is known of that time.
 */

/**
 * @template Look
 * @typedef {object} Line
 * @property {string} name
 * @property {Colour} colour
 * @property {boolean} [dashed]
 * @property {boolean} [stepped]
 * @property {(look: Look) => number | undefined} read
 */

/**
 * @template Look
 * @typedef {object} Chart
 * @property {string} id
 * @property {string} title
 * @property {'share' | 'part' | 'count' | 'log'} scale `part`: a share whose axis ends at its highest value.
 * @property {boolean} [stacked]
 * @property {(value: number | undefined) => string} format
 * @property {readonly Line<Look>[]} lines
 */

import { amountText, countText, durationText, percentText } from '../../../../report/format.mjs';

export const WINDOW_MS = 300_000;
const MAX_MOMENTS = 400;
/** Lines come one a second. A longer pause is drawn as a gap. */
const GAP_MS = 2500;
/** The lowest value of a logarithmic scale, in ms; no answer is faster. */
const MIN_LOG = 0.01;

const COLOURS = /** @type {const} */ ([
  'ink',
  'soft',
  'line',
  'ground',
  'memory',
  'store',
  'stale',
  'collapsed',
  'engine',
  'lifeboat',
  'shed',
  'failed',
  'other',
  'accent',
  'drill',
]);
/** @typedef {typeof COLOURS[number]} Colour */
/** @typedef {(name: Colour, alpha?: string) => string} Palette `alpha`: two hexadecimal digits. */

/**
 * Reads the colours from the style sheets' custom properties, because a canvas does not resolve them.
 * @returns {{ readonly colour: Palette, readonly reread: () => void }}
 */
export function createPalette() {
  /** @type {Map<Colour, string>} */
  const known = new Map();
  const reread = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of COLOURS) known.set(name, style.getPropertyValue(`--${name}`).trim());
  };
  reread();
  return { colour: (name, alpha = '') => `${known.get(name) ?? '#888888'}${alpha}`, reread };
}

/** The last five minutes of each domain, kept in this page only. */
export function createHistory() {
  /** @type {Map<string, Moment<DomainLook>[]>} */
  const byDomain = new Map();

  return {
    /** @param {LiveLine} line */
    add: ({ atMs, domains }) => {
      for (const look of domains) {
        const moments = byDomain.get(look.domain) ?? [];
        byDomain.set(look.domain, moments);
        const last = moments.at(-1);
        // The service's clock was set back: the moments before can no longer be put in order.
        if (last !== undefined && last.atMs >= atMs) moments.length = 0;
        else if (last !== undefined && atMs - last.atMs > GAP_MS) moments.push({ atMs: last.atMs + 1 });
        moments.push({ atMs, look });
        const from = moments.findIndex((moment) => moment.atMs > atMs - WINDOW_MS);
        moments.splice(0, Math.max(from, moments.length - MAX_MOMENTS));
      }
    },
    /**
     * @param {string} domain
     * @returns {readonly Moment<DomainLook>[]}
     */
    of: (domain) => byDomain.get(domain) ?? [],
  };
}

/** @type {readonly Chart<DomainLook>[]} */
export const CHARTS = [
  {
    id: 'outcomes',
    title: 'Outcomes per second',
    scale: 'count',
    stacked: true,
    format: amountText,
    lines: [
      outcome('memory', 'memory', 'hit-l1'),
      outcome('store', 'store', 'hit-l2'),
      outcome('stale', 'stale', 'stale'),
      outcome('collapsed', 'collapsed', 'collapsed'),
      outcome('engine', 'engine', 'engine'),
      outcome('lifeboat', 'lifeboat', 'lifeboat'),
      outcome('shed', 'shed', 'shed'),
      outcome('failed', 'failed', 'failed'),
      outcome('rejected, aborted', 'other', 'rejected', 'aborted'),
    ],
  },
  {
    id: 'hits',
    title: 'Hit ratio',
    scale: 'share',
    format: percentText,
    lines: [{ name: 'memory and store', colour: 'memory', read: ({ figures }) => figures?.hitRatio }],
  },
  {
    id: 'latency',
    title: 'Time to answer',
    scale: 'log',
    format: durationText,
    lines: [
      { name: 'p99', colour: 'engine', read: ({ figures }) => figures?.p99Ms },
      { name: 'p50', colour: 'store', dashed: true, read: ({ figures }) => figures?.p50Ms },
    ],
  },
  {
    id: 'calls',
    title: 'Engine calls per second',
    scale: 'count',
    format: amountText,
    lines: [
      { name: 'calls', colour: 'engine', read: ({ figures }) => figures?.engineCallsPerSecond },
      {
        name: 'failed',
        colour: 'failed',
        dashed: true,
        read: ({ figures }) =>
          figures === undefined || figures.seconds <= 0 ? undefined : figures.engineFailures / figures.seconds,
      },
    ],
  },
  {
    id: 'places',
    title: 'Engine permits',
    scale: 'count',
    format: countText,
    lines: [
      { name: 'in flight', colour: 'engine', read: ({ status }) => status.engine.inFlight },
      { name: 'limit', colour: 'ink', stepped: true, read: ({ status }) => status.engine.maxConcurrent },
      { name: 'ceiling', colour: 'soft', stepped: true, dashed: true, read: ({ status }) => status.engine.ceiling },
      { name: 'queued', colour: 'shed', dashed: true, read: ({ status }) => status.engine.queued },
    ],
  },
];

/**
 * The columns of a chart: seconds, then one per line. Null where a value is not known: the line breaks there.
 * @template Look
 * @param {Chart<Look>} chart
 * @param {readonly Moment<Look>[]} moments
 * @returns {[number[], ...Column[]]}
 */
export function columnsOf(chart, moments) {
  const columns = chart.lines.map((line) =>
    moments.map(({ look }) => {
      const value = look === undefined ? undefined : line.read(look);
      if (value === undefined || !Number.isFinite(value)) return null;
      return chart.scale === 'log' ? Math.max(MIN_LOG, value) : value;
    }),
  );
  return [moments.map(({ atMs }) => atMs / 1000), ...(chart.stacked === true ? stacked(columns) : columns)];
}

/**
 * @param {string} name
 * @param {Colour} colour
 * @param {...Outcome} outcomes
 * @returns {Line<DomainLook>}
 */
function outcome(name, colour, ...outcomes) {
  return {
    name,
    colour,
    read: ({ figures }) =>
      figures === undefined || figures.seconds <= 0
        ? undefined
        : outcomes.reduce((sum, each) => sum + figures.outcomes[each], 0) / figures.seconds,
  };
}

/**
 * Adds to each column the sum of the columns before it.
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
