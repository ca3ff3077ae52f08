// @ts-check
/**
 * A shadow as text: the names of its verdict, its criteria and its figures. The browser loads this file as it is. An answer
 * may come from a process of another version, so an unknown name is shown and never throws.
 * @typedef {import('./figures.ts').Agreement} Agreement
 * @typedef {import('./figures.ts').Copying} Copying
 * @typedef {import('./figures.ts').Criterion} Criterion
 * @typedef {import('./figures.ts').Servers} Servers
 * @typedef {import('./figures.ts').Side} Side
 * @typedef {import('./figures.ts').Verdict} Verdict
 * @typedef {'good' | 'warn' | 'bad' | 'none'} Tone
 */

import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  UNKNOWN,
} from '../../report/format.mjs';

/** @type {Readonly<Record<Verdict['kind'], { readonly word: string, readonly tone: Tone }>>} */
const VERDICTS = {
  'cut-over': { word: 'cut over', tone: 'good' },
  'do-not': { word: 'do not cut over', tone: 'bad' },
  undecided: { word: 'undecided', tone: 'none' },
};

/** @param {Verdict['kind']} kind */
export function verdictOf(kind) {
  return VERDICTS[kind] ?? { word: kind, tone: 'none' };
}

/** @type {Readonly<Record<Criterion['name'], string>>} */
const CRITERIA = {
  duration: 'Recorded time',
  volume: 'Compared reads',
  'hit-ratio': 'Hit ratio',
  latency: 'Time of a read',
  errors: 'Errors',
  values: 'Values',
};

/** @param {Criterion['name']} name */
export function criterionName(name) {
  return CRITERIA[name] ?? name;
}

/** @type {Readonly<Record<Criterion['met'], { readonly word: string, readonly sign: string, readonly tone: Tone }>>} */
const MET = {
  yes: { word: 'met', sign: '✓', tone: 'good' },
  no: { word: 'missed', sign: '✕', tone: 'bad' },
  'not-measured': { word: 'not measured', sign: '?', tone: 'none' },
};

/** @param {Criterion['met']} met */
export function metOf(met) {
  return MET[met] ?? { word: met, sign: '?', tone: 'none' };
}

/**
 * The figures of a side.
 * @type {readonly { readonly name: string, readonly text: (side: Side) => string }[]}
 */
export const SIDE_ROWS = [
  { name: 'Reads per second', text: ({ readsPerSecond }) => perSecondText(readsPerSecond) },
  { name: 'Hit ratio', text: ({ hitRatio }) => percentText(hitRatio) },
  { name: 'Errors', text: ({ errorRate }) => percentText(errorRate) },
  { name: 'p50', text: ({ p50Ms }) => durationText(p50Ms) },
  { name: 'p95', text: ({ p95Ms }) => durationText(p95Ms) },
  { name: 'p99', text: ({ p99Ms }) => durationText(p99Ms) },
  { name: 'Writes', text: ({ writes }) => countText(writes) },
  server('Nodes', ({ nodes, missing }) => `${countText(nodes)}${missing > 0 ? `, ${countText(missing)} silent` : ''}`),
  server('Connections', ({ connections }) => countText(connections)),
  server('Memory in use', ({ memoryBytes }) => bytesText(memoryBytes)),
  server('Memory limit', ({ maxMemoryBytes }) => (maxMemoryBytes === 0 ? 'none' : bytesText(maxMemoryBytes))),
  server('Keys evicted', ({ evictedPerSecond }) => perSecondText(evictedPerSecond)),
  server('Keys expired', ({ expiredPerSecond }) => perSecondText(expiredPerSecond)),
  server('Bytes in per second', ({ bytesInPerSecond }) => bytesText(bytesInPerSecond)),
  server('Bytes out per second', ({ bytesOutPerSecond }) => bytesText(bytesOutPerSecond)),
  server('Processors in use', ({ cpu }) => amountText(cpu)),
];

/**
 * @param {string} name
 * @param {(servers: Servers) => string} text
 * @returns {{ readonly name: string, readonly text: (side: Side) => string }}
 */
function server(name, text) {
  return { name, text: ({ servers }) => (servers === undefined ? UNKNOWN : text(servers)) };
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
  ['filled', 'Values of the primary that were written to the candidate, because it had none.'],
];
