import { fingerprint } from '../cache/codec.ts';
import type { Interest } from '../cache/entry.ts';
import { MS_PER_DAY } from '../search/canonical.ts';
import { type Filter, isList, type SearchDomain, type SearchRequest } from '../search/domain.ts';
import type { Change, ChangedAttributes } from './change.ts';
import { documentClasses, hashOf, idClass, isSameClass, searchClasses, valueHash, type WordClass } from './words.ts';

/**
 * The binary form of a change, little-endian. It is what the stream carries and the log keeps: hashes, no text.
 *
 *   0  u32  length of the record       9  u8   number of attribute values, now and before
 *   4  u32  fingerprint of the id     10  u16  number of words
 *   8  u8   flags                     12  u32 × words
 *   …  for each attribute: u32 name, u8 1 for before, u8 number of values, f64 × values (numbers, days, hashes of texts)
 */
const HEADER_BYTES = 12;
const DELETED = 1;
const TEXT_KNOWN = 2;
/** The words of the document may have changed, or all of it: its rank and the totals of its searches too. */
const TEXT_CHANGED = 4;
const WAS_KNOWN = 8;
/** More than two texts have. */
const MAX_WORDS = 60_000;
const MAX_VALUES = 64;

export function encodeChange(change: Change, domain: SearchDomain): Buffer {
  const { id, op, text, attributes } = change;
  const was = change.was && withoutEqual(change.was, change);
  const deleted = op === 'delete';
  const texts = [text, was?.text].filter((value) => value !== undefined);
  const sides = [attributesIn(attributes, domain), attributesIn(was?.attributes, domain)] as const;
  const searched = domain.attributes.filter(({ search }) => search === true);
  const searchedTexts = [attributes, was?.attributes].flatMap((side) => searched.map(({ name }) => side?.[name] ?? []));
  const isSearchedChanged = searched.some(({ name }) => was?.attributes?.[name] !== undefined);
  const words =
    texts.length === 0 ? [] : [idClass(id), ...documentClasses([...texts, ...searchedTexts.flat()].join(' '))];
  words.length = Math.min(words.length, MAX_WORDS);
  const isTextChanged = deleted || was === undefined || was.text !== undefined || isSearchedChanged;
  const flags =
    (deleted ? DELETED : 0) |
    (texts.length > 0 ? TEXT_KNOWN : 0) |
    (isTextChanged ? TEXT_CHANGED : 0) |
    (was === undefined ? 0 : WAS_KNOWN);
  const values = sides.flat();
  const bytes = values.reduce((sum, one) => sum + 6 + one.values.length * 8, HEADER_BYTES + words.length * 4);
  const out = Buffer.allocUnsafe(bytes);
  out.writeUInt32LE(bytes, 0);
  out.writeUInt32LE(fingerprint(id), 4);
  out.writeUInt8(flags, 8);
  out.writeUInt8(values.length, 9);
  out.writeUInt16LE(words.length, 10);
  let at = HEADER_BYTES;
  for (const word of words) at = out.writeUInt32LE(word, at);
  for (const [before, side] of sides.entries()) {
    for (const { name, values: held } of side) {
      at = out.writeUInt32LE(name, at);
      at = out.writeUInt8(before, at);
      at = out.writeUInt8(held.length, at);
      for (const value of held) at = out.writeDoubleLE(value, at);
    }
  }
  return out;
}

/** The old values that differ from the new ones. */
function withoutEqual(was: NonNullable<Change['was']>, { text, attributes = {} }: Change): NonNullable<Change['was']> {
  const differs = ([name, value]: readonly [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(attributes[name]);
  return {
    text: was.text === text ? undefined : was.text,
    attributes: was.attributes && Object.fromEntries(Object.entries(was.attributes).filter(differs)),
  };
}

interface AttributeValues {
  readonly name: number;
  readonly values: readonly number[];
}

/** Declared attributes only: no search reads another one. */
function attributesIn(given: ChangedAttributes | undefined, domain: SearchDomain): readonly AttributeValues[] {
  return domain.attributes.flatMap(({ name, type }) => {
    const value = given?.[name];
    if (value === undefined) return [];
    const held = (isList(value) ? value : [value]).slice(0, MAX_VALUES);
    return [{ name: hashOf(name), values: held.map((one) => comparable(one, type)) }];
  });
}

/**
 * Texts by their hash, days and numbers by themselves, also where a tool has written them as texts. NaN: not read, so that no filter
 * excludes it.
 */
function comparable(value: string | number, type: SearchDomain['attributes'][number]['type']): number {
  if (type === 'string') return valueHash(String(value));
  if (type === 'date') return Date.parse(`${value}T00:00:00Z`) / MS_PER_DAY;
  return value === '' ? Number.NaN : Number(value);
}

export function interestOf({ text, filters, sort, facets }: SearchRequest): Interest {
  const sorted = sort.by === 'attribute' ? [sort.attribute] : [];
  const names = new Set([...filters.map(({ attribute }) => attribute), ...facets, ...sorted]);
  return {
    words: searchClasses(text),
    id: idClass(text),
    filters: filters.map(comparableFilter),
    attributes: Array.from(names, hashOf),
  };
}

function comparableFilter(filter: Filter): Interest['filters'][number] {
  const attribute = hashOf(filter.attribute);
  switch (filter.kind) {
    case 'strings':
      return { attribute, values: filter.values.map(valueHash) };
    case 'numbers':
      return { attribute, values: filter.values };
    case 'range':
      return { attribute, from: filter.from ?? Number.NEGATIVE_INFINITY, to: filter.to ?? Number.POSITIVE_INFINITY };
  }
}

/** The members of a record that the log reads. */
export interface RecordView {
  readonly fingerprint: number;
  readonly deleted: boolean;
  /** Its words are known, and may be new. */
  readonly isText: boolean;
  /** The document was there before: it was deleted, its old values are given, or its text is not. */
  readonly isKnown: boolean;
  /** Empty: the text is not known. */
  readonly words: readonly WordClass[];
  /** The attributes that may have changed, where no word has. */
  readonly attributes: readonly number[];
}

/**
 * Reads the records of a batch. @throws RangeError where the bytes are not records
 */
export function* recordsIn(batch: Buffer): Generator<Buffer, void, undefined> {
  for (let at = 0; at < batch.length; ) {
    const length = at + HEADER_BYTES <= batch.length ? batch.readUInt32LE(at) : 0;
    const record = batch.subarray(at, at + length);
    if (length < HEADER_BYTES || record.length !== length || endOf(record) !== length) {
      throw new RangeError('a batch of the feed holds other bytes than records');
    }
    yield record;
    at += length;
  }
}

function endOf(record: Buffer): number {
  let at = attributesOf(record);
  for (let left = record[9] ?? 0; left > 0; left -= 1) {
    if (at + 6 > record.length) return Number.NaN;
    at = nextAttribute(record, at);
  }
  return at;
}

export function viewOf(record: Buffer): RecordView {
  const flags = record.readUInt8(8);
  const isText = (flags & TEXT_KNOWN) !== 0 && (flags & TEXT_CHANGED) !== 0;
  return {
    fingerprint: record.readUInt32LE(4),
    deleted: (flags & DELETED) !== 0,
    isText,
    isKnown: (flags & (DELETED | WAS_KNOWN)) !== 0 || (flags & TEXT_KNOWN) === 0,
    words: (flags & TEXT_KNOWN) === 0 ? [] : wordsIn(record),
    attributes: isText || (flags & DELETED) !== 0 ? [] : changedIn(record),
  };
}

function wordsIn(record: Buffer): readonly WordClass[] {
  const end = attributesOf(record);
  const words: WordClass[] = [];
  for (let at = HEADER_BYTES; at < end; at += 4) words.push(record.readUInt32LE(at));
  return words;
}

/** Attributes whose old value is given; without old values, all that are given. */
function changedIn(record: Buffer): readonly number[] {
  const wanted = sideOfChanges(record);
  const names: number[] = [];
  for (let at = attributesOf(record), left = record[9] ?? 0; left > 0; left -= 1, at = nextAttribute(record, at)) {
    if (record[at + 4] === wanted) names.push(record.readUInt32LE(at));
  }
  return names;
}

const sideOfChanges = (record: Buffer): 0 | 1 => (((record[8] ?? 0) & WAS_KNOWN) === 0 ? 0 : 1);
const attributesOf = (record: Buffer): number => HEADER_BYTES + record.readUInt16LE(10) * 4;
const nextAttribute = (record: Buffer, at: number): number => at + 6 + (record[at + 5] ?? 0) * 8;

/** The place of an attribute, now or before; 0: it is not given. */
function placeOf(record: Buffer, name: number, side: 0 | 1): number {
  for (let at = attributesOf(record), left = record[9] ?? 0; left > 0; left -= 1, at = nextAttribute(record, at)) {
    if (record[at + 4] === side && record.readUInt32LE(at) === name) return at;
  }
  return 0;
}

/**
 * Whether the document of a record may enter or leave the answer of a search, or change its totals: it has the words, it passes
 * the filters now or passed them before, and something changed that the answer depends on. What is not known counts as met.
 */
export function mayChange(record: Buffer, interest: Interest): boolean {
  if (hasText(record) && !hasWords(record, interest)) return false;
  // Without old values a document may only enter: one that leaves without being shown is not looked for.
  if (!passes(record, interest, 0) && !(sideOfChanges(record) === 1 && passes(record, interest, 1))) return false;
  if (hasText(record) && ((record[8] ?? 0) & TEXT_CHANGED) !== 0) return true;
  return interest.attributes.some((name) => placeOf(record, name, sideOfChanges(record)) > 0);
}

function passes(record: Buffer, { filters }: Interest, side: 0 | 1): boolean {
  return filters.every((filter) => {
    // An attribute without an old value is as it was before; one without a new value may have any.
    const at = placeOf(record, filter.attribute, side) || (side === 1 ? placeOf(record, filter.attribute, 0) : 0);
    for (let value = at + 6, end = nextAttribute(record, at); at > 0 && value < end; value += 8) {
      if (isWithin(record.readDoubleLE(value), filter)) return true;
    }
    return at === 0;
  });
}

/** NaN is a value that could not be read. */
function isWithin(value: number, { values, from = 0, to = 0 }: Interest['filters'][number]): boolean {
  if (Number.isNaN(value)) return true;
  return values === undefined ? value >= from && value <= to : values.includes(value);
}

function hasText(record: Buffer): boolean {
  return ((record[8] ?? 0) & TEXT_KNOWN) !== 0;
}

function hasWords(record: Buffer, { words, id }: Interest): boolean {
  const end = attributesOf(record);
  const holds = (wanted: WordClass): boolean => {
    for (let at = HEADER_BYTES; at < end; at += 4) if (isSameClass(wanted, record.readUInt32LE(at))) return true;
    return false;
  };
  return words.every((classes) => classes.some(holds)) || holds(id);
}
