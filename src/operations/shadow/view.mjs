// @ts-check
/**
 * A shadow as text: what the report page, the console and the CLI show of its verdict, its criteria and its figures. The
 * browser loads this file as it is. An answer may come from a process of another version, so an unknown name is shown and
 * never throws.
 * @typedef {import('./figures.ts').Agreement} Agreement
 * @typedef {import('./figures.ts').Copying} Copying
 * @typedef {import('./figures.ts').Criterion} Criterion
 * @typedef {import('./figures.ts').Servers} Servers
 * @typedef {import('./figures.ts').Side} Side
 * @typedef {import('./figures.ts').ShadowVerdict} Verdict
 * @typedef {'good' | 'bad' | 'none'} Tone
 */

import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  pointsText,
  UNKNOWN,
} from '../../report/format.mjs';

/**
 * Undefined for an unknown name; a member that every object inherits, such as `constructor`, is unknown too.
 * @template {object} Views
 * @param {Views} views
 * @param {keyof Views} name
 */
function own(views, name) {
  return Object.hasOwn(views, name) ? views[name] : undefined;
}

/** @type {Readonly<Record<Verdict['kind'], { readonly word: string, readonly tone: Tone }>>} */
const VERDICTS = {
  'cut-over': { word: 'cut over', tone: 'good' },
  'do-not': { word: 'do not cut over', tone: 'bad' },
  undecided: { word: 'undecided', tone: 'none' },
};

/** @param {Verdict['kind']} kind */
export function shadowVerdict(kind) {
  return own(VERDICTS, kind) ?? { word: kind, tone: 'none' };
}

/**
 * @typedef {object} CriterionView
 * @property {string} name
 * @property {'at least' | 'at most'} limit
 * @property {(value: number | undefined) => string} text
 */

/** @type {Readonly<Record<Criterion['name'], CriterionView>>} */
const CRITERIA = {
  duration: { name: 'Recorded time', limit: 'at least', text: durationText },
  volume: { name: 'Compared reads', limit: 'at least', text: countText },
  'hit-ratio': { name: 'Hit ratio', limit: 'at most', text: (value) => `${pointsText(value)} lower` },
  latency: { name: 'p99 of reads', limit: 'at most', text: durationText },
  errors: { name: 'Errors', limit: 'at most', text: (value) => `${amountText(value)} points more` },
  values: { name: 'Values', limit: 'at most', text: (value) => `${countText(value)} wrong` },
};

/** @param {Criterion['name']} name */
export function criterionName(name) {
  return own(CRITERIA, name)?.name ?? name;
}

/**
 * The measured value and the bound of a criterion: `1.2 points lower`, `at most 2 points lower`.
 * @param {Pick<Criterion, 'name' | 'value' | 'bound'>} criterion
 */
export function criterionFigures({ name, value, bound }) {
  const { limit, text } = own(CRITERIA, name) ?? { limit: 'bound', text: amountText };
  return {
    measured: value === undefined ? UNKNOWN : text(value),
    bound: bound === undefined ? UNKNOWN : `${limit} ${text(bound)}`,
  };
}

/** @type {Readonly<Record<Criterion['met'], { readonly word: string, readonly sign: string, readonly tone: Tone }>>} */
const MET = {
  yes: { word: 'met', sign: '✓', tone: 'good' },
  no: { word: 'missed', sign: '✕', tone: 'bad' },
  'not-measured': { word: 'not measured', sign: '?', tone: 'none' },
};

/** @param {Criterion['met']} met */
export function metOf(met) {
  return own(MET, met) ?? { word: met, sign: '?', tone: 'none' };
}

/**
 * @typedef {object} SideRow
 * @property {string} name
 * @property {(side: Side) => string} text
 * @property {string | undefined} [meaning]
 */

/**
 * The figures of a side.
 * @type {readonly SideRow[]}
 */
export const SIDE_ROWS = [
  { name: 'Reads per second', text: ({ readsPerSecond }) => perSecondText(readsPerSecond) },
  {
    name: 'Hit ratio',
    text: ({ hitRatio }) => percentText(hitRatio),
    meaning: 'Hits of the compared reads: the first copy of each read that had no error',
  },
  { name: 'Errors', text: ({ errorRate }) => percentText(errorRate), meaning: 'Share of all reads and writes' },
  { name: 'p50', text: ({ p50Ms }) => durationText(p50Ms) },
  { name: 'p95', text: ({ p95Ms }) => durationText(p95Ms) },
  { name: 'p99', text: ({ p99Ms }) => durationText(p99Ms) },
  { name: 'Writes', text: ({ writes }) => countText(writes) },
  server('Nodes', ({ nodes, missing }) => `${countText(nodes)}${missing > 0 ? `, ${countText(missing)} silent` : ''}`),
  server('Connections', ({ connections }) => countText(connections)),
  server('Memory in use', ({ memoryBytes }) => bytesText(memoryBytes), 'At the end of the time'),
  server('Memory limit', ({ maxMemoryBytes }) => (maxMemoryBytes === 0 ? 'none' : bytesText(maxMemoryBytes))),
  server('Keys evicted', ({ evictedPerSecond }) => perSecondText(evictedPerSecond)),
  server('Keys expired', ({ expiredPerSecond }) => perSecondText(expiredPerSecond)),
  server('Bytes received per second', ({ bytesInPerSecond }) => bytesText(bytesInPerSecond)),
  server('Bytes sent per second', ({ bytesOutPerSecond }) => bytesText(bytesOutPerSecond)),
  server('Processors in use', ({ cpu }) => amountText(cpu), 'CPU time of the servers ÷ time'),
];

/**
 * @param {string} name
 * @param {(servers: Servers) => string} text
 * @param {string} [meaning]
 * @returns {SideRow}
 */
function server(name, text, meaning) {
  return { name, text: ({ servers }) => (servers === undefined ? UNKNOWN : text(servers)), meaning };
}

/** @type {readonly (readonly [name: Exclude<keyof Agreement, 'compared' | `life${string}`>, meaning: string])[]} */
export const AGREEMENT_ROWS = [
  ['equal', 'The same page, or no value on either side.'],
  ['older', 'The candidate has an older page of the same search.'],
  ['newer', 'The candidate has a newer page of the same search.'],
  ['missing', 'Only the primary has a value.'],
  ['surplus', 'Only the candidate has a value.'],
  ['wrong', 'The candidate has a value that is no page of this search, or other bytes than its page.'],
];

/** @type {readonly (readonly [name: keyof Copying, meaning: string])[]} */
export const COPY_ROWS = [
  ['sampled', 'Reads and writes of sampled keys.'],
  ['sent', 'Copies that were sent to the candidate.'],
  ['dropped', 'Copies that were given up because the queue was full.'],
  ['paused', 'Copies that were not made because the event loop was late.'],
  ['filled', 'Values of the primary that were written to the candidate, because it had none or an older one.'],
];
