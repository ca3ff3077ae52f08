import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  pointsText,
  UNKNOWN,
} from '../../report/format.ts';
import type { Agreed, Copying, Criterion, Servers, ShadowVerdict, Side } from './figures.ts';

/**
 * A shadow as text: what the report page, the console and the CLI show of its verdict, its criteria and its figures. The
 * browser loads this file too. An answer may come from a process of another version, so an unknown name is shown and never
 * throws.
 */

type Tone = 'good' | 'bad' | 'none';

/** Undefined for an unknown name; a member that every object inherits, such as `constructor`, is unknown too. */
function own<Views extends object>(views: Views, name: keyof Views): Views[keyof Views] | undefined {
  return Object.hasOwn(views, name) ? views[name] : undefined;
}

type VerdictView = { readonly word: string; readonly tone: Tone };

const VERDICTS: Readonly<Record<ShadowVerdict['kind'], VerdictView>> = {
  'cut-over': { word: 'cut over', tone: 'good' },
  'do-not': { word: 'do not cut over', tone: 'bad' },
  undecided: { word: 'undecided', tone: 'none' },
};

export function shadowVerdict(kind: ShadowVerdict['kind']): VerdictView {
  return own(VERDICTS, kind) ?? { word: kind, tone: 'none' };
}

interface CriterionView {
  readonly name: string;
  readonly limit: 'at least' | 'at most';
  readonly text: (value: number | undefined) => string;
}

const CRITERIA: Readonly<Record<Criterion['name'], CriterionView>> = {
  duration: { name: 'Recorded time', limit: 'at least', text: durationText },
  volume: { name: 'Compared reads', limit: 'at least', text: countText },
  'hit-ratio': { name: 'Hit ratio', limit: 'at most', text: (value) => `${pointsText(value)} lower` },
  latency: { name: 'p99 of reads', limit: 'at most', text: durationText },
  errors: { name: 'Errors', limit: 'at most', text: (value) => `${amountText(value)} points more` },
  values: { name: 'Values', limit: 'at most', text: (value) => `${countText(value)} wrong` },
};

export function criterionName(name: Criterion['name']): string {
  return own(CRITERIA, name)?.name ?? name;
}

/** The measured value and the bound of a criterion: `1.2 points lower`, `at most 2 points lower`. */
export function criterionFigures({ name, value, bound }: Pick<Criterion, 'name' | 'value' | 'bound'>) {
  const { limit, text } = own(CRITERIA, name) ?? { limit: 'bound', text: amountText };
  return {
    measured: value === undefined ? UNKNOWN : text(value),
    bound: bound === undefined ? UNKNOWN : `${limit} ${text(bound)}`,
  };
}

type MetView = VerdictView & { readonly sign: string };

const MET: Readonly<Record<Criterion['met'], MetView>> = {
  yes: { word: 'met', sign: '✓', tone: 'good' },
  no: { word: 'missed', sign: '✕', tone: 'bad' },
  'not-measured': { word: 'not measured', sign: '?', tone: 'none' },
};

export function metOf(met: Criterion['met']): MetView {
  return own(MET, met) ?? { word: met, sign: '?', tone: 'none' };
}

interface SideRow {
  readonly name: string;
  readonly text: (side: Side) => string;
  readonly meaning?: string;
}

/** The figures of a side. */
export const SIDE_ROWS: readonly SideRow[] = [
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

function server(name: string, text: (servers: Servers) => string, meaning?: string): SideRow {
  return { name, text: ({ servers }) => (servers === undefined ? UNKNOWN : text(servers)), meaning };
}

export const AGREEMENT_ROWS: readonly (readonly [name: Agreed, meaning: string])[] = [
  ['equal', 'The same page, or no value on either side.'],
  ['older', 'The candidate has an older page of the same search.'],
  ['newer', 'The candidate has a newer page of the same search.'],
  ['missing', 'Only the primary has a value.'],
  ['surplus', 'Only the candidate has a value.'],
  ['wrong', 'The candidate has a value that is no page of this search, or other bytes than its page.'],
];

export const COPY_ROWS: readonly (readonly [name: keyof Copying, meaning: string])[] = [
  ['sampled', 'Reads and writes of sampled keys.'],
  ['sent', 'Copies that were sent to the candidate.'],
  ['dropped', 'Copies that were given up because the queue was full.'],
  ['paused', 'Copies that were not made because the event loop was late.'],
  ['filled', 'Values of the primary that were written to the candidate, because it had none or an older one.'],
];
