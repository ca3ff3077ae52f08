import type { Interest } from '../cache/entry.ts';
import type { RecordView } from './record.ts';
import { isShort, ownKey, prefixKey, startKey } from './words.ts';

/** The tables of a log of changes, each of a fixed size. They hold numbers of changes from 1; 0: none. */
export type LogTables = ReturnType<typeof createLogTables>;

const RECENT_SLOTS = 1 << 13;

/** The shares of 16: documents 8, the last changes of words 1, the words of recent changes 3, their records 3½. */
export function createLogTables(maxBytes: number) {
  const part = maxBytes / 16;
  return {
    documents: createLastChanges(floorToPower(part / 2)),
    touched: createTouched(floorToPower(part / 4)),
    recentWords: createRecentWords(3 * part),
    records: createRecords(Math.floor(2.8 * part), floorToPower(part / 32)),
  };
}

const floorToPower = (n: number): number => 2 ** Math.floor(Math.log2(Math.max(n, 16)));

const slotOf = (key: number, shift: number): number => Math.imul(key, 0x9e3779b1) >>> shift;

/**
 * The last change of each document, as its number × 2, and 1 more where it is a deletion. In two halves: when the newer one is full,
 * the older one is emptied and takes its place.
 */
function createLastChanges(slots: number) {
  const most = Math.floor(slots * 0.75);
  const shift = 32 - Math.log2(slots);
  const half = () => ({ keys: new Uint32Array(slots), values: new Uint32Array(slots), count: 0, last: 0 });
  let [newer, older] = [half(), half()];
  /** The last number of the documents of a slot. It stays in the cache of a core, and mostly it is not after a page. */
  const recent = new Uint32Array(RECENT_SLOTS);
  /** The place of a key, or of the free slot where it would be. 0 marks a free slot, so the key 0 is kept as 1. */
  const placeOf = ({ keys }: typeof newer, key: number): number => {
    let at = slotOf(key, shift);
    while (keys[at] !== 0 && keys[at] !== key) at = (at + 1) & (slots - 1);
    return at;
  };
  /** The last value of a document; 0 when there is none. */
  const get = (fingerprint: number): number => {
    const key = fingerprint || 1;
    const at = placeOf(newer, key);
    if (newer.keys[at] === key) return newer.values[at] ?? 0;
    const place = placeOf(older, key);
    return older.keys[place] === key ? (older.values[place] ?? 0) : 0;
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
      recent[key & (RECENT_SLOTS - 1)] = value >>> 1;
      return dropped;
    },
    get,
    /** The last value of a document that changed after a number; 0: it did not. */
    after: (fingerprint: number, number: number): number => {
      if ((recent[(fingerprint || 1) & (RECENT_SLOTS - 1)] ?? 0) <= number) return 0;
      const last = get(fingerprint);
      return last >>> 1 > number ? last : 0;
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
      if (isShort(word) ? isAfter(prefixKey(word) ^ name, from) : isAfter(word ^ name, from)) return true;
      if (!isShort(word) && isAfter(startKey(word) ^ name, from)) return true;
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
      if (first !== 0) bits |= isShort(word) ? first : first & (cell(start, word) | cell(start, startKey(word)));
    }
    return bits;
  };
  /** The bits of the changes in a row that may concern a search. */
  const find = (row: number, { words, id, attributes }: Interest): number => {
    const start = startOf(row);
    let bits = -1;
    for (let at = 0; at < words.length && bits !== 0; at += 1) bits &= anyOf(start, words[at] ?? []);
    bits |= (cell(start, ownKey(id)) & cell(start, prefixKey(id))) | (cells[start + WORDLESS] ?? 0);
    let matter = cells[start + TEXTS] ?? 0;
    for (const name of attributes) matter |= cell(start, name);
    return bits & matter;
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
    /** The first change after `from`, up to `newest`, that may concern a search; 0: none. */
    next: (interest: Interest, from: number, newest: number): number => {
      const first = from + 1;
      for (let row = rowOf(first); row <= rowOf(newest); row += 1) {
        const bits = find(row, interest) & (row === rowOf(first) ? -1 << (first % ROW_CHANGES) : -1);
        if (bits !== 0) return row * ROW_CHANGES + 31 - Math.clz32(bits & -bits);
      }
      return 0;
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
