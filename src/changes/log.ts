import type { Interest, PageChange } from '../cache/entry.ts';
import { hasText, mayChange, type RecordView, recordsIn, viewOf } from './record.ts';
import { attributeOfWord, classKey, isShort } from './words.ts';

/**
 * The latest changes of one domain, in memory of a fixed size: the last change of each document, and recent records with their
 * words. Changes are numbered from 1 as they arrive. A page is judged when it is asked for, by the changes that are newer than
 * it; no call looks at other pages (the timestamps of Alıcı et al., SIGIR 2011, made exact by the records).
 */
export type ChangeLog = ReturnType<typeof createChangeLog>;

const UNKNOWN: PageChange = { kind: 'unknown' };

/** Numbers are kept in 31 bits, beside the bit of a deletion. After as many changes the tables begin anew. */
const MAX_NUMBER = 2 ** 31 - 2;
/** Postings that one judgement follows. A page for which more are needed counts as changed. */
const MAX_STEPS = 2000;
const RECENT_SLOTS = 1 << 16;

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
    for (const key of keysOf(view)) {
      tables.postings.add(key, number);
      tables.touched.note(key, number);
    }
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
    return changeOnPage(tables, fingerprints, own) ?? (interest && changeOfAnswer(tables, interest, own));
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
      const kept = tables === undefined ? 1 : Math.max(tables.records.oldest(head - base), tables.postings.oldest());
      const dropped = kept > 1 ? Math.max(droppedTo, base + kept - 1) : droppedTo;
      return dropped > 0 ? positions.of(dropped + 1) : undefined;
    },
    /** The share of the newer half of the table of documents that is used, 0–1. */
    filled: () => tables?.documents.filled() ?? 0,
  };
}

/** A change after `from` by which a document may have entered or left the answer. */
function changeOfAnswer(
  { postings, records, touched }: Tables,
  interest: Interest,
  from: number,
): PageChange | undefined {
  let steps = 0;
  const follow = (keys: readonly number[], isByWords: boolean): PageChange | undefined => {
    for (const key of keys) {
      for (let posting = postings.newest(key); ; posting = postings.before(posting)) {
        const number = postings.numberOf(posting);
        if (number <= from) break;
        const record = records.get(number);
        steps += 1;
        if (steps > MAX_STEPS || !postings.isKept(posting) || record === undefined) return UNKNOWN;
        if (hasText(record) !== isByWords || !mayChange(record, interest)) continue;
        const position = records.position(number);
        return { kind: 'entered', fingerprint: record.readUInt32LE(4), position };
      }
    }
    return undefined;
  };
  // Mostly no change since has the word at all.
  const lastOf = (key: number): number =>
    isShort(key) ? postings.numberOf(postings.newest(key)) : touched.lastOf(key);
  /** A document has all words, so the changes of the one that was touched longest ago are enough. */
  const followRarest = (words: Interest['words'], name?: number): PageChange | undefined => {
    const keyOf = (word: number): number => (name === undefined ? word : attributeOfWord(name, word));
    let rarest: readonly number[] = [];
    let rarestLast = Number.POSITIVE_INFINITY;
    for (const classes of words) {
      let last = 0;
      for (const word of classes) last = Math.max(last, lastOf(keyOf(word)));
      if (last <= from) return undefined;
      if (last < rarestLast) [rarest, rarestLast] = [classes, last];
    }
    return follow(name === undefined ? rarest : rarest.map(keyOf), true);
  };
  const id = [[interest.id]];
  let found = followRarest(interest.words) ?? followRarest(id);
  for (const name of interest.attributes) {
    found ??= followRarest(interest.words, name) ?? followRarest(id, name) ?? follow([name], false);
  }
  return found;
}

/** The keys under which a change is found: its words, or the attributes that changed, each with each word where they are known. */
function keysOf({ isText, words, attributes }: RecordView): readonly number[] {
  if (isText) return words;
  if (words.length === 0) return attributes;
  return attributes.flatMap((name) => words.map((word) => attributeOfWord(name, word)));
}

type Tables = ReturnType<typeof createTables>;

/** The shares of 16: documents 8¼, postings 3 with the heads, records 4, the last changes of words ½. */
function createTables(maxBytes: number) {
  const part = maxBytes / 16;
  return {
    documents: createLastChanges(floorToPower(part / 2)),
    recent: new Uint32Array(RECENT_SLOTS),
    postings: createPostings(floorToPower(part / 4), floorToPower(part / 8)),
    records: createRecords(Math.floor(3.3 * part), floorToPower(part / 32)),
    touched: createTouched(floorToPower(part / 8)),
  };
}

const floorToPower = (n: number): number => 2 ** Math.floor(Math.log2(Math.max(n, 16)));

/** The last change of each document, in two halves: when the newer one is full, the older one is emptied and takes its place. */
function createLastChanges(slots: number) {
  const most = Math.floor(slots * 0.75);
  const shift = 32 - Math.log2(slots);
  const half = () => ({ keys: new Uint32Array(slots), values: new Uint32Array(slots), count: 0, last: 0 });
  let [newer, older] = [half(), half()];
  /** The place of a key, or of the free slot where it would be. 0 marks a free slot, so the key 0 is kept as 1. */
  const placeOf = ({ keys }: typeof newer, key: number): number => {
    let at = Math.imul(key, 0x9e3779b1) >>> shift;
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

/** For each word or attribute the numbers of the changes that have it, in a ring. A posting is a place in the ring; 0: none. */
function createPostings(size: number, keys: number) {
  const numbers = new Uint32Array(size);
  const distances = new Uint32Array(size);
  const heads = new Float64Array(keys);
  let count = 0;
  const slotOf = (key: number): number => classKey(key) & (keys - 1);
  const isKept = (posting: number): boolean => posting > count - size;
  return {
    add: (key: number, number: number): void => {
      const slot = slotOf(key);
      const head = heads[slot] ?? 0;
      // Two words of one change in one slot need one posting.
      if (head > 0 && isKept(head) && numbers[head & (size - 1)] === number) return;
      count += 1;
      numbers[count & (size - 1)] = number;
      distances[count & (size - 1)] = Math.min(count - head, 0xffff_ffff);
      heads[slot] = count;
    },
    newest: (key: number): number => heads[slotOf(key)] ?? 0,
    before: (posting: number): number => Math.max(0, posting - (distances[posting & (size - 1)] ?? 0)),
    isKept,
    /** The number of the oldest change all of whose postings may be kept. */
    oldest: (): number => (count < size ? 1 : 1 + (numbers[(count + 1) & (size - 1)] ?? 0)),
    /** The change of a posting; of one that is overwritten, the oldest that is kept, which is newer. */
    numberOf: (posting: number): number =>
      posting === 0 ? 0 : (numbers[(isKept(posting) ? posting : count - size + 1) & (size - 1)] ?? 0),
  };
}

/**
 * The last change of each word, or a later one of another word in its slot. Postings have three letters of a word, this table five:
 * a judgement that follows no posting takes half of the time.
 */
function createTouched(slots: number) {
  const numbers = new Uint32Array(slots);
  const shift = 32 - Math.log2(slots);
  const slotOf = (word: number): number => Math.imul(word, 0x9e3779b1) >>> shift;
  const startOf = (word: number): number => classKey(word) << 12;
  return {
    note: (word: number, number: number): void => {
      numbers[slotOf(isShort(word) ? startOf(word) : word)] = number;
    },
    /** @param word not a short one: the documents' short words may be longer ones of a search */
    lastOf: (word: number): number => Math.max(numbers[slotOf(word)] ?? 0, numbers[slotOf(startOf(word))] ?? 0),
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
