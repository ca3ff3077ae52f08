import type { Interest, PageChange } from '../cache/entry.ts';
import { mayChange, type RecordView, recordsIn, viewOf } from './record.ts';
import { isShort, ownKey, prefixKey, startKey } from './words.ts';

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
const MAX_READ = 2000;
const RECENT_SLOTS = 1 << 14;

/** @param maxBytes of all tables; they are made with the first change @param maxNumber for tests */
export function createChangeLog({ maxBytes, maxNumber = MAX_NUMBER }: { maxBytes: number; maxNumber?: number }) {
  /** Number of the newest change. */
  let head = 0;
  /** Pages older than this number count as changed. */
  let knownFrom = 0;
  /** The tables hold numbers less this. */
  let base = 0;
  let tables: Tables | undefined;
  /** Number of the last change that the table of documents has dropped. */
  let droppedTo = 0;
  const seen = { texts: 0, known: 0 };
  const positions = createPositions();

  const add = (record: Buffer, position: number): void => {
    if (tables === undefined || head - base >= maxNumber) {
      if (tables !== undefined) droppedTo = head;
      base = head;
      tables = createTables(maxBytes);
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
    tables.recent[fingerprint & (RECENT_SLOTS - 1)] = number;
    tables.records.keep(number, record, position);
    tables.recentWords.add(number, view);
    tables.touched.note(number, view);
  };

  /** A change after `from` of a document on the page, a deletion before all others. */
  const changeOnPage = (
    { documents, recent }: Tables,
    fingerprints: readonly number[],
    from: number,
  ): PageChange | undefined => {
    let found: PageChange | undefined;
    for (let at = 0; at < fingerprints.length; at += 1) {
      const fingerprint = fingerprints[at] ?? 0;
      if ((recent[fingerprint & (RECENT_SLOTS - 1)] ?? 0) <= from) continue;
      const last = documents.get(fingerprint);
      if (last >>> 1 <= from) continue;
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
    /** The records of a range of numbers, its end included; undefined where some are no longer kept. */
    records: (after: number, until: number): readonly Buffer[] | undefined => {
      const found: Buffer[] = [];
      for (let number = after + 1; number <= until; number += 1) {
        const record = tables?.records.get(number - base);
        if (record === undefined) return undefined;
        found.push(Buffer.from(record));
      }
      return found;
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
  { touched, recentWords, records }: Tables,
  interest: Interest,
  from: number,
  newest: number,
): PageChange | undefined {
  // Mostly no change since has all words.
  if (!touched.isTouched(interest, from)) return undefined;
  if (from + 1 < recentWords.oldest()) return UNKNOWN;
  const first = from + 1;
  let read = 0;
  for (let row = rowOf(first); row <= rowOf(newest); row += 1) {
    let bits = recentWords.find(row, interest);
    if (row === rowOf(first)) bits &= -1 << (first % ROW_CHANGES);
    for (; bits !== 0; bits &= bits - 1) {
      const number = row * ROW_CHANGES + 31 - Math.clz32(bits & -bits);
      const record = records.get(number);
      read += 1;
      if (read > MAX_READ || record === undefined) return UNKNOWN;
      if (!mayChange(record, interest)) continue;
      return { kind: 'entered', fingerprint: record.readUInt32LE(4), position: records.position(number) };
    }
  }
  return undefined;
}

type Tables = ReturnType<typeof createTables>;

/** The shares of 16: documents 8, the last changes of words 1, the words of recent changes 3, their records 3½. */
function createTables(maxBytes: number) {
  const part = maxBytes / 16;
  return {
    documents: createLastChanges(floorToPower(part / 2)),
    /** The last change of the documents of a slot: small, so that it stays in the cache of a core. */
    recent: new Uint32Array(RECENT_SLOTS),
    touched: createTouched(floorToPower(part / 4)),
    recentWords: createRecentWords(3 * part),
    records: createRecords(Math.floor(2.8 * part), floorToPower(part / 32)),
  };
}

const floorToPower = (n: number): number => 2 ** Math.floor(Math.log2(Math.max(n, 16)));

const slotOf = (key: number, shift: number): number => Math.imul(key, 0x9e3779b1) >>> shift;

/** The last change of each document, in two halves: when the newer one is full, the older one is emptied and takes its place. */
function createLastChanges(slots: number) {
  const most = Math.floor(slots * 0.75);
  const shift = 32 - Math.log2(slots);
  const half = () => ({ keys: new Uint32Array(slots), values: new Uint32Array(slots), count: 0, last: 0 });
  let [newer, older] = [half(), half()];
  /** The place of a key, or of the free slot where it would be. 0 marks a free slot, so the key 0 is kept as 1. */
  const placeOf = ({ keys }: typeof newer, key: number): number => {
    let at = slotOf(key, shift);
    while (keys[at] !== 0 && keys[at] !== key) at = (at + 1) & (slots - 1);
    return at;
  };
  return {
    /** @returns the last value that was dropped for it, 0 mostly */
    set: (fingerprint: number, value: number): number => {
      const key = fingerprint || 1;
      let dropped = 0;
      if (newer.count >= most) {
        dropped = older.last;
        [newer, older] = [older, newer];
        newer.keys.fill(0);
        newer.count = 0;
      }
      const at = placeOf(newer, key);
      if (newer.keys[at] === 0) newer.count += 1;
      newer.keys[at] = key;
      newer.values[at] = value;
      newer.last = value;
      return dropped;
    },
    /** The last value of a key; 0 when there is none. */
    get: (fingerprint: number): number => {
      const key = fingerprint || 1;
      const at = placeOf(newer, key);
      if (newer.keys[at] === key) return newer.values[at] ?? 0;
      const place = placeOf(older, key);
      return older.keys[place] === key ? (older.values[place] ?? 0) : 0;
    },
    filled: () => newer.count / most,
  };
}

/** The last change of each word, or a later one of another word in its slot. */
function createTouched(slots: number) {
  const numbers = new Uint32Array(slots);
  const shift = 32 - Math.log2(slots);
  const noted = (key: number, number: number): void => {
    numbers[slotOf(key, shift)] = number;
  };
  const isAfter = (key: number, from: number): boolean => (numbers[slotOf(key, shift)] ?? 0) > from;
  const isAnyAfter = (classes: readonly number[], from: number, name: number): boolean => {
    for (let at = 0; at < classes.length; at += 1) {
      const word = classes[at] ?? 0;
      const [own, start] = isShort(word) ? [prefixKey(word), prefixKey(word)] : [word, startKey(word)];
      if (isAfter(own ^ name, from) || isAfter(start ^ name, from)) return true;
    }
    return false;
  };
  /** @param name of an attribute that changed; 0: the text did */
  const isTouchedBy = ({ words, id }: Interest, from: number, name: number): boolean => {
    let at = 0;
    while (at < words.length && isAnyAfter(words[at] ?? [], from, name)) at += 1;
    return at === words.length || isAfter(ownKey(id) ^ name, from);
  };
  return {
    note: (number: number, { isText, words, attributes }: RecordView): void => {
      const names = isText ? [0] : attributes;
      for (const name of names) {
        if (words.length === 0) noted(name, number);
        for (const word of words) {
          noted(ownKey(word) ^ name, number);
          noted(prefixKey(word) ^ name, number);
        }
      }
    },
    /** Whether changes after `from` have every word of a search, or one of its attributes and perhaps the words. */
    isTouched: (interest: Interest, from: number): boolean =>
      isTouchedBy(interest, from, 0) ||
      interest.attributes.some((name) => isAfter(name, from) || isTouchedBy(interest, from, name)),
  };
}

/** Changes of a row, a bit each. */
const ROW_CHANGES = 32;
const rowOf = (number: number): number => Math.floor(number / ROW_CHANGES);
const [ROW_SLOTS, ROW_SHIFT] = [2048, 21];
/** Two cells of a row beside its slots: changes whose words may be new, and changes whose words are not known. */
const [TEXTS, WORDLESS, ROW_CELLS] = [ROW_SLOTS, ROW_SLOTS + 1, ROW_SLOTS + 2];

/**
 * The words and attributes of the newest changes. A cell has a bit for each of 32 changes: whether it has a word of the slot. The
 * changes that have all words of a search are the bits that its cells have in common.
 */
function createRecentWords(bytes: number) {
  const rows = Math.max(2, Math.floor(bytes / ROW_CELLS / 4));
  const cells = new Int32Array(rows * ROW_CELLS);
  /** The newest row. */
  let begun = 0;
  const startOf = (row: number): number => (row % rows) * ROW_CELLS;
  const cell = (start: number, key: number): number => cells[start + slotOf(key, ROW_SHIFT)] ?? 0;
  /** The changes that have one of the classes: its first letters, and all letters that both have. */
  const anyOf = (start: number, classes: readonly number[]): number => {
    let bits = 0;
    for (let at = 0; at < classes.length; at += 1) {
      const word = classes[at] ?? 0;
      const first = cell(start, prefixKey(word));
      bits |= isShort(word) ? first : first & (cell(start, word) | cell(start, startKey(word)));
    }
    return bits;
  };
  return {
    add: (number: number, { isText, words, attributes }: RecordView): void => {
      for (const row = rowOf(number); begun < row; ) {
        begun = Math.max(begun + 1, row - rows);
        cells.fill(0, startOf(begun), startOf(begun) + ROW_CELLS);
      }
      const start = startOf(begun);
      const bit = 1 << (number % ROW_CHANGES);
      const mark = (at: number): void => {
        cells[start + at] = (cells[start + at] ?? 0) | bit;
      };
      if (isText) mark(TEXTS);
      else for (const name of attributes) mark(slotOf(name, ROW_SHIFT));
      if (words.length === 0) mark(WORDLESS);
      for (const word of words) {
        mark(slotOf(ownKey(word), ROW_SHIFT));
        mark(slotOf(prefixKey(word), ROW_SHIFT));
      }
    },
    /** The bits of the changes in a row that may concern a search. */
    find: (row: number, { words, id, attributes }: Interest): number => {
      const start = startOf(row);
      let bits = -1;
      for (let at = 0; at < words.length && bits !== 0; at += 1) bits &= anyOf(start, words[at] ?? []);
      bits |= (cell(start, ownKey(id)) & cell(start, prefixKey(id))) | (cells[start + WORDLESS] ?? 0);
      let matter = cells[start + TEXTS] ?? 0;
      for (const name of attributes) matter |= cell(start, name);
      return bits & matter;
    },
    /** The number of the oldest change that is kept with all after it. */
    oldest: (): number => Math.max(1, (begun - rows + 1) * ROW_CHANGES),
  };
}

/** The newest records, in a ring of bytes. */
function createRecords(bytes: number, most: number) {
  const ring = Buffer.alloc(bytes);
  const starts = new Float64Array(most).fill(-1);
  const positions = new Float64Array(most);
  /** The number of the record in each slot. */
  const numbers = new Uint32Array(most);
  let written = 0;
  let kept = 1;
  const get = (number: number): Buffer | undefined => {
    const slot = number & (most - 1);
    const start = starts[slot] ?? -1;
    if (numbers[slot] !== number || start < 0 || start < written - bytes) return undefined;
    const at = start % bytes;
    return ring.subarray(at, at + ring.readUInt32LE(at));
  };
  return {
    keep: (number: number, record: Buffer, position: number): void => {
      if (record.length > bytes) return;
      // A record is in one piece.
      if ((written % bytes) + record.length > bytes) written += bytes - (written % bytes);
      const slot = number & (most - 1);
      record.copy(ring, written % bytes);
      starts[slot] = written;
      positions[slot] = position;
      numbers[slot] = number;
      written += record.length;
    },
    get,
    /** The number of the oldest record that is kept with all up to `newest`. */
    oldest: (newest: number): number => {
      while (kept < newest && get(kept) === undefined) kept += 1;
      return kept;
    },
    position: (number: number): number => positions[number & (most - 1)] ?? 0,
  };
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
