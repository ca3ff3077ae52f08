import { bytesText, countText, durationText } from '../../../../src/report/format.ts';
import type { Lesson } from '../../kit/finding.ts';
import { evictionBytes } from './figures.ts';
import { breakSeconds, type PersistenceRow } from './measure.ts';
import { BACKLOG_BYTES, BARE_NAME, SITE_NAME } from './setups.ts';

/** What of a row the lesson is made from. */
export type LessonRow = Pick<
  PersistenceRow,
  | 'setup'
  | 'attachedBefore'
  | 'times'
  | 'askedPerSecond'
  | 'answeredPerSecond'
  | 'seconds'
  | 'p99Ms'
  | 'longestMs'
  | 'fullSyncs'
  | 'attached'
  | 'awaySeconds'
  | 'evicted'
  | 'streamBytes'
>;

/** Below, requests were lost; a little always falls after the end. */
const HELD_SHARE = 0.97;
/** A read's deadline in serpcache: what takes longer is a miss. */
const HELD_P99_MS = 50;
/** As many times the worst without either, whatever its load: there the p99 differs by as much from row to row. */
const STALL_TIMES = 2;
/** What the master itself noticed: forks of so little memory take 10 ms, which nobody calls a stall. */
const STALL_MS = 20;

/** Do evictions outrun the backlog, can replicas not come back, does the master stall; and is x3 held without all that. */
export function persistenceLesson(rows: readonly LessonRow[]): Lesson {
  const bares = rows.filter(({ setup }) => setup.name === BARE_NAME);
  const bare = bares.find(({ times }) => times === 3);
  // A replica that did not even follow before the row says nothing about the row.
  const replicated = rows.filter(
    ({ setup, attachedBefore }) => setup.replicas > 0 && attachedBefore === setup.replicas,
  );
  const site = rows.filter(({ setup }) => setup.name === SITE_NAME).toSorted((a, b) => a.times - b.times);
  if (bare === undefined || site.length === 0 || replicated.length === 0) {
    return { holds: 'unseen', sentence: 'It could not be seen here: in no row replicas followed at first.' };
  }
  const worst = (of: (row: LessonRow) => number): number => Math.max(...bares.map(of));
  const [worstP99Ms, worstOwnMs] = [worst(({ p99Ms }) => p99Ms), worst(({ longestMs }) => longestMs)];
  const slow = site.filter(({ p99Ms }) => p99Ms >= STALL_TIMES * worstP99Ms);
  // Replicas may share processors with whoever asks: only what the master noticed as well is its stall.
  const isStalled = slow.some(({ longestMs }) => longestMs >= Math.max(STALL_MS, STALL_TIMES * worstOwnMs));
  const isUnfinished = replicated.some(isBegunAgain);
  const hasOutrun = replicated.some(isOutrun);
  const held = `without either x3 ${isHeld(bare) ? 'was held' : 'was not held'} with ${countText(bare.answeredPerSecond)} of ${countText(bare.askedPerSecond)} requests/s on one shard at p99 ${durationText(bare.p99Ms)}`;
  const stalls = site
    .map(({ times, p99Ms, longestMs }) => `x${times} p99 ${durationText(p99Ms)} and ${longestMs} ms`)
    .join(', ');
  const stalling = `p99 and the longest of the master's own with ${SITE_NAME}: ${stalls}; without either ${durationText(worstP99Ms)} and ${worstOwnMs} ms at most`;
  const told = `${resyncText(replicated)}; ${evictionText(replicated)}; ${held}; ${stalling}`;
  if (!isHeld(bare)) {
    return {
      holds: 'unseen',
      sentence: `It could not be seen here: this machine does not hold x3 without either, which the others are compared with: ${told}.`,
    };
  }
  const missing = [
    ...(isUnfinished ? [] : ['replicas come back']),
    ...(isStalled
      ? []
      : [slow.length > 0 ? 'what is slow is not the master (it noticed little itself)' : 'the master does not stall']),
    ...(hasOutrun ? [] : ['evictions do not outrun the backlog at these rates']),
  ];
  if (missing.length === 0) return { holds: 'yes', sentence: `It holds here: ${told}.` };
  const shown = [
    ...(isUnfinished ? ['full resyncs cannot finish'] : []),
    ...(isStalled ? ['the master stalls'] : []),
    ...(hasOutrun ? ['evictions outrun the backlog'] : []),
  ];
  return shown.length === 0
    ? { holds: 'no', sentence: `It does not hold here, as ${listed(missing)}: ${told}.` }
    : { holds: 'partly', sentence: `It holds in part, ${listed(shown)}, but ${listed(missing)}: ${told}.` };
}

export function isHeld(row: Pick<LessonRow, 'answeredPerSecond' | 'askedPerSecond' | 'p99Ms'>): boolean {
  return row.answeredPerSecond >= HELD_SHARE * row.askedPerSecond && row.p99Ms <= HELD_P99_MS;
}

function resyncText(replicated: readonly LessonRow[]): string {
  const fellOut = replicated.filter(({ fullSyncs }) => fullSyncs > 0);
  if (fellOut.length === 0)
    return 'no replica needed a full resync: what was written during the break fitted into the backlog';
  const again = fellOut.filter(isBegunAgain);
  const away = fellOut.filter(({ setup, attached }) => attached < setup.replicas);
  const fell = `replicas needed a full resync in ${fellOut.length} of ${replicated.length} rows`;
  if (again.length === 0) {
    return away.length === 0
      ? `${fell}, and every one finished under load, in ${Math.max(...fellOut.map(({ awaySeconds }) => awaySeconds)).toFixed(1)} s at most`
      : `${fell}, none had to begin again, and in ${away.length} it was under way when the row ended`;
  }
  const [first, most] = [
    Math.min(...again.map(({ times }) => times)),
    Math.max(...again.map(({ fullSyncs, setup }) => fullSyncs / setup.replicas)),
  ];
  return `${fell}; in ${again.length} it did not finish and had to begin again (from x${first}; up to ${most.toFixed(1).replace('.0', '')} times a replica), in ${away.length} replicas were away at the end`;
}

/** What the backlog would hold of evictions alone, and how little of what replicas are sent they are. */
function evictionText(replicated: readonly LessonRow[]): string {
  const most = replicated.toSorted((a, b) => b.evicted / b.seconds - a.evicted / a.seconds)[0];
  if (most === undefined) return '';
  const [evictions, stream] = [evictionBytes(most), most.streamBytes].map((bytes) => bytes / most.seconds);
  const sizes = `${countText(most.evicted / most.seconds)} evictions/s at most (x${most.times}) are ${bytesText(evictions ?? 0)}/s of the ${bytesText(stream ?? 0)}/s that replicas are sent`;
  if (replicated.some(isOutrun)) return `evictions alone outran the backlog: ${sizes}`;
  return `${sizes}, so it is what is written that outruns a backlog of ${bytesText(BACKLOG_BYTES)}, not evictions`;
}

/** During the break of the row, whatever else is written. */
function isOutrun(row: LessonRow): boolean {
  return (evictionBytes(row) / row.seconds) * breakSeconds(row.seconds) > BACKLOG_BYTES;
}

/** More than once for each replica. One that is still under way when the row ends is none that cannot finish. */
function isBegunAgain({ setup, fullSyncs }: LessonRow): boolean {
  return fullSyncs > setup.replicas;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
