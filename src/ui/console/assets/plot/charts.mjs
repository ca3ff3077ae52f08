import { duration, number, percent, rate } from '../view/format.mjs';

/**
 * @typedef {import('../data/shapes.mjs').DomainLook} DomainLook
 * @typedef {import('../data/shapes.mjs').Outcome} Outcome
 * @typedef {import('./palette.mjs').Colour} Colour
 *
 * @typedef {object} Line
 * @property {string} name
 * @property {Colour} colour
 * @property {boolean} [dashed]
 * @property {boolean} [stepped]
 * @property {(look: DomainLook) => number | undefined} read
 *
 * @typedef {object} Chart
 * @property {string} id
 * @property {string} title
 * @property {'share' | 'count' | 'log'} scale
 * @property {boolean} [stacked]
 * @property {(value: number | undefined) => string} format
 * @property {readonly Line[]} lines
 */

/**
 * @param {string} name
 * @param {Colour} colour
 * @param {...Outcome} outcomes
 * @returns {Line}
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

/** @type {readonly Chart[]} */
export const CHARTS = [
  {
    id: 'outcomes',
    title: 'Outcomes per second',
    scale: 'count',
    stacked: true,
    format: rate,
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
    format: percent,
    lines: [{ name: 'memory and store', colour: 'memory', read: ({ figures }) => figures?.hitRatio }],
  },
  {
    id: 'latency',
    title: 'Time to answer',
    scale: 'log',
    format: duration,
    lines: [
      { name: 'p99', colour: 'engine', read: ({ figures }) => figures?.p99Ms },
      { name: 'p50', colour: 'store', dashed: true, read: ({ figures }) => figures?.p50Ms },
    ],
  },
  {
    id: 'calls',
    title: 'Engine calls per second',
    scale: 'count',
    format: rate,
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
    title: 'Engine places',
    scale: 'count',
    format: number,
    lines: [
      { name: 'in flight', colour: 'engine', read: ({ status }) => status.engine.inFlight },
      { name: 'limit', colour: 'ink', stepped: true, read: ({ status }) => status.engine.maxConcurrent },
      { name: 'ceiling', colour: 'soft', stepped: true, dashed: true, read: ({ status }) => status.engine.ceiling },
      { name: 'queued', colour: 'shed', dashed: true, read: ({ status }) => status.engine.queued },
    ],
  },
];
