import type { Lesson } from '../../finding/finding.ts';
import type { PersistenceRow } from './measure.ts';
import { BARE_NAME, SITE_NAME } from './setups.ts';

/** What of a row the lesson is made from. */
export type LessonRow = Pick<
  PersistenceRow,
  | 'setup'
  | 'attachedBefore'
  | 'times'
  | 'askedPerSecond'
  | 'answeredPerSecond'
  | 'p99Ms'
  | 'maxMs'
  | 'longestMs'
  | 'fullSyncs'
  | 'attached'
  | 'awaySeconds'
>;

/** Below, requests were lost; a little always falls after the end. */
const HELD_SHARE = 0.97;
/** A read's deadline in serpcache: what takes longer is a miss. */
const HELD_P99_MS = 50;
/** As many times the p99 without either: two runs of the same setup differ by half on a busy machine. */
const STALL_TIMES = 2;

/** Do replicas fall out, can they not come back, and does the master stall; and is x3 held without all that. */
export function persistenceLesson(rows: readonly LessonRow[]): Lesson {
  const of = (name: string, times: number): LessonRow | undefined =>
    rows.find((row) => row.setup.name === name && row.times === times);
  const bare = of(BARE_NAME, 3);
  // A replica that did not even follow before the row says nothing about the row.
  const replicated = rows.filter(
    ({ setup, attachedBefore }) => setup.replicas > 0 && attachedBefore === setup.replicas,
  );
  const site = rows.filter(({ setup }) => setup.name === SITE_NAME).toSorted((a, b) => a.times - b.times);
  if (bare === undefined || site.length === 0 || replicated.length === 0) {
    return { holds: 'no', sentence: 'Not to be said here: there is no row in which replicas followed at first.' };
  }
  const fellOut = replicated.filter(({ fullSyncs }) => fullSyncs > 0);
  const unfinished = replicated.filter(isUnfinished);
  const slow = site.filter(({ times, p99Ms }) => p99Ms >= STALL_TIMES * (of(BARE_NAME, times)?.p99Ms ?? Infinity));
  // Replicas may share processors with whoever asks: only what the master noticed as well is its stall.
  const stalled = slow.filter(
    ({ times, longestMs }) => longestMs > 0 && longestMs >= STALL_TIMES * (of(BARE_NAME, times)?.longestMs ?? Infinity),
  );
  const isHeld = bare.answeredPerSecond >= HELD_SHARE * bare.askedPerSecond && bare.p99Ms <= HELD_P99_MS;
  const held = `without either x3 ${isHeld ? 'was held' : 'was not held'} with ${rate(bare.answeredPerSecond)} of ${rate(bare.askedPerSecond)} requests/s on one shard at p99 ${ms(bare.p99Ms)}`;
  const resyncs =
    fellOut.length === 0
      ? 'no replica needed a full resync: what was written during the break fitted into the backlog'
      : unfinished.length === 0
        ? `replicas fell out, but every full resync finished under load, in ${Math.max(...fellOut.map(({ awaySeconds }) => awaySeconds)).toFixed(1)} s at most`
        : `full resyncs did not finish in ${unfinished.length} of ${replicated.length} rows with replicas (from x${Math.min(...unfinished.map(({ times }) => times))}; up to ${Math.max(...unfinished.map(({ fullSyncs }) => fullSyncs))} begun)`;
  const stalls = site
    .map(({ times, p99Ms, longestMs }) => {
      const other = of(BARE_NAME, times);
      if (other === undefined) return undefined;
      return `x${times} p99 ${ms(p99Ms)}, longest of the master's own ${longestMs} ms (without either ${ms(other.p99Ms)}, ${other.longestMs} ms)`;
    })
    .filter((text) => text !== undefined)
    .join('; ');
  const told = `${resyncs}; ${held}; with ${SITE_NAME}: ${stalls}`;
  const hasAll = unfinished.length > 0 && stalled.length > 0;
  if (isHeld && hasAll) return { holds: 'yes', sentence: `It holds here: ${told}.` };
  if (unfinished.length === 0 && stalled.length === 0) {
    return {
      holds: 'no',
      sentence: `It does not hold here: no stall of the master's, and ${told}.`,
    };
  }
  const missing = !isHeld
    ? 'but this machine does not hold x3 without either'
    : unfinished.length === 0
      ? 'the stalls are there, but replicas come back'
      : slow.length > 0
        ? 'replicas cannot come back, but what is slow is not the master, which noticed little itself'
        : `replicas cannot come back, but the p99 stays below ${STALL_TIMES} times that without either`;
  return { holds: 'partly', sentence: `It holds in part, ${missing}: ${told}.` };
}

/** Begun, and not attached when the load ended, or begun again because what was written meanwhile did not fit. */
function isUnfinished({ setup, attached, fullSyncs }: LessonRow): boolean {
  return fullSyncs > 0 && (attached < setup.replicas || fullSyncs > setup.replicas);
}

function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

function rate(value: number): string {
  return Math.round(value).toLocaleString('en');
}
