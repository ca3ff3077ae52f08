import type { Interest, PageChange } from '../cache/entry.ts';
import { mayChange, recordsIn, viewOf } from './record.ts';
import { createLogTables, type LogTables } from './tables.ts';

/**
 * The latest changes of one domain, in memory of a fixed size: the last change of each document, and recent records with their
 * words. Changes are numbered from 1 as they arrive. A page is judged when it is asked for, by the changes that are newer than
 * it; no call looks at other pages (the timestamps of Alıcı et al., SIGIR 2011, made exact by the records).
 */
export type ChangeLog = ReturnType<typeof createChangeLog>;

const UNKNOWN: PageChange = { kind: 'unknown' };

/** Numbers are kept in 31 bits, beside the bit of a deletion. After as many changes the tables begin anew. */
const MAX_NUMBER = 2 ** 31 - 2;
/** Records that one judgement reads. A page for which more are needed counts as changed. */
const MAX_READ = 1000;

/** @param maxBytes of all tables; they are made with the first change @param maxNumber for tests */
export function createChangeLog({ maxBytes, maxNumber = MAX_NUMBER }: { maxBytes: number; maxNumber?: number }) {
  /** Number of the newest change. */
  let head = 0;
  /** Pages older than this number count as changed. */
  let knownFrom = 0;
  /** The tables hold numbers less this. */
  let base = 0;
  let tables: LogTables | undefined;
  /** Number of the last change that the table of documents has dropped. */
  let droppedTo = 0;
  const seen = { texts: 0, known: 0 };
  const positions = createPositions();

  const add = (record: Buffer, position: number): void => {
    if (tables === undefined || head - base >= maxNumber) {
      if (tables !== undefined) droppedTo = head;
      base = head;
      tables = createLogTables(maxBytes);
    }
    head += 1;
    const number = head - base;
    const view = viewOf(record);
    const { fingerprint, deleted, isText, isKnown } = view;
    if (isText) seen.texts += 1;
    if (isKnown) seen.known += 1;
    const dropped = tables.documents.set(fingerprint, number * 2 + (deleted ? 1 : 0)) >>> 1;
    if (dropped > 0) droppedTo = base + dropped;
    knownFrom = Math.max(knownFrom, droppedTo);
    tables.records.keep(number, record, position);
    tables.recentWords.add(number, view);
    tables.touched.note(number, view);
  };

  /** A change after `from` of a document on the page, a deletion before all others. */
  const changeOnPage = (
    { documents }: LogTables,
    fingerprints: readonly number[],
    from: number,
  ): PageChange | undefined => {
    let found: PageChange | undefined;
    for (let at = 0; at < fingerprints.length; at += 1) {
      const fingerprint = fingerprints[at] ?? 0;
      const last = documents.after(fingerprint, from);
      if (last === 0) continue;
      const position = positions.of(base + (last >>> 1));
      if ((last & 1) === 1) return { kind: 'deleted', fingerprint, position };
      found ??= { kind: 'changed', fingerprint, position };
    }
    return found;
  };

  /**
   * The change after the number `from` by which a page is no longer right. @param interest absent where the search is not known:
   * only documents on the page are compared
   */
  const judge = (fingerprints: readonly number[], from: number, interest?: Interest): PageChange | undefined => {
    if (from >= head) return undefined;
    if (tables === undefined) return from >= knownFrom ? undefined : UNKNOWN;
    // NaN too: a position that no process has written.
    if (!(from >= knownFrom)) return changeOnPage(tables, fingerprints, 0) ?? UNKNOWN;
    const own = Math.max(0, from - base);
    return changeOnPage(tables, fingerprints, own) ?? (interest && changeOfAnswer(tables, interest, own, head - base));
  };

  return {
    head: () => head,
    /**
     * Adds the records of a batch, which have a position in common. Where positions fall, all before are forgotten.
     * @returns their number @throws RangeError where the bytes are not records
     */
    append: (batch: Buffer, position: number): number => {
      const records = [...recordsIn(batch)];
      for (const record of records) add(record, position);
      positions.note(position, head);
      return records.length;
    },
    /** Every page that exists now counts as changed. */
    forget: (position: number): void => {
      head += 1;
      knownFrom = head;
      positions.note(position, head);
    },
    /** The number of the last change at a position or before it; below every known number when the position is too old. */
    numberAt: positions.numberAt,
    judge,
    /** Whether the last change of a document was its deletion, after the position. */
    isDeletedSince: (fingerprint: number, position: number): boolean => {
      const last = tables?.documents.get(fingerprint) ?? 0;
      return (last & 1) === 1 && positions.of(base + (last >>> 1)) > position;
    },
    /** Counts of changes, as in FeedStatus. */
    seen: () => ({ ...seen }),
    /** The position of the oldest change that is known with all after it; undefined: none was dropped. */
    coversFrom: (): number | undefined => {
      const kept = tables === undefined ? 1 : Math.max(tables.records.oldest(head - base), tables.recentWords.oldest());
      const dropped = kept > 1 ? Math.max(droppedTo, base + kept - 1) : droppedTo;
      return dropped > 0 ? positions.of(dropped + 1) : undefined;
    },
    /** The share of the newer half of the table of documents that is used, 0–1. */
    filled: () => tables?.documents.filled() ?? 0,
  };
}

/** A change after `from`, up to `newest`, by which a document may have entered or left the answer. */
function changeOfAnswer(
  { touched, recentWords, records }: LogTables,
  interest: Interest,
  from: number,
  newest: number,
): PageChange | undefined {
  // Mostly no change since has all words.
  if (!touched.isTouched(interest, from)) return undefined;
  if (from + 1 < recentWords.oldest()) return UNKNOWN;
  let read = 0;
  for (let number = from; ; ) {
    number = recentWords.next(interest, number, newest);
    if (number === 0) return undefined;
    const record = records.get(number);
    read += 1;
    if (read > MAX_READ || record === undefined) return UNKNOWN;
    if (!mayChange(record, interest)) continue;
    return { kind: 'entered', fingerprint: record.readUInt32LE(4), position: records.position(number) };
  }
}

/** Pairs of positions and numbers that are kept, and their least distance in positions: half an hour of a busy feed at least. */
const MAX_PAIRS = 1 << 16;
const LEAST_DISTANCE = 25 * 1024;

/** Translates positions in the feed, which all processes share, to the numbers of this process. */
function createPositions() {
  const positions = new Float64Array(MAX_PAIRS);
  const numbers = new Float64Array(MAX_PAIRS);
  let count = 0;
  const at = (index: number): number => positions[index % MAX_PAIRS] ?? 0;
  /** The last pair for which `isBefore` holds; pairs rise in both members. */
  const lastWhere = (isBefore: (index: number) => boolean): number => {
    let [low, high] = [Math.max(0, count - MAX_PAIRS), count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(middle)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  return {
    note: (position: number, number: number): void => {
      // The clock of the stream was set back: older positions are unknown.
      if (position < at(count - 1)) count = 0;
      // The last pair moves on until it is far enough from the one before it: pages between them are judged by changes that
      // they have seen.
      const isNew = count < 2 || at(count - 1) - at(count - 2) >= LEAST_DISTANCE;
      if (count === 0 || (isNew && position > at(count - 1))) count += 1;
      positions[(count - 1) % MAX_PAIRS] = position;
      numbers[(count - 1) % MAX_PAIRS] = number;
    },
    numberAt: (position: number): number => {
      const pair = lastWhere((index) => at(index) <= position);
      return pair < Math.max(0, count - MAX_PAIRS) || Number.isNaN(position) ? -1 : (numbers[pair % MAX_PAIRS] ?? -1);
    },
    /** The position of a number, or that of the first pair after it. */
    of: (number: number): number => {
      const pair = lastWhere((index) => (numbers[index % MAX_PAIRS] ?? 0) < number) + 1;
      return at(Math.min(pair, count - 1));
    },
  };
}
