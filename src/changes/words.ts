import { formsOf } from '../engines/analysis/forms.ts';
import { foldText, otherUnit, PLAIN, piecesIn, withoutUmlauts } from '../engines/analysis/words.ts';
import { canonicalDocumentText } from '../search/canonical.ts';

/**
 * Words of documents and of searches as numbers of 32 bits: 20 bits for the first three letters, and 6 bits each for the
 * fourth and the fifth, 0 where there is none. This folding is coarser than the forms of words in any engine here, so a word of a
 * search that finds a document shares its class. Lemmas with other first letters (идти, шёл) do not.
 */
export type WordClass = number;

/** Letters that the class of a word tells apart; the words of a search are as long as their forms agree. */
const FIRST = 3;
const LONGEST = 5;

/** A class of fewer than five letters, which is also that of longer words. */
export const isShort = (word: WordClass): boolean => (word & 63) === 0;

/**
 * The keys under which a word of a document is found: all its letters or, when it is short, its start, which longer words of a search
 * look for too; and its first three letters, which short words of a search look for.
 */
export const ownKey = (word: WordClass): number => (isShort(word) ? startKey(word) : word | 0);
export const startKey = (word: WordClass): number => word & 0xffff_f000;
export const prefixKey = (word: WordClass): number => startKey(word) | 1;

/** The classes of a document's text, each once. */
export function documentClasses(text: string): readonly WordClass[] {
  const classes = new Set<WordClass>();
  let short = '';
  for (const { text: piece, from, to } of piecesIn(text)) {
    classes.add(classOf(piece));
    // `wi fi` is also found by `wifi`, and `Müller` by `mueller`.
    if (short !== '') classes.add(classOf(short + piece));
    short = piece.length < FIRST ? piece : '';
    const typed = text.slice(from, to);
    if (!PLAIN.test(typed)) classes.add(classOf(withoutUmlauts(typed)));
  }
  return [...classes];
}

/** For each word of a search, the classes that its forms and other spellings may have. */
export function searchClasses(text: string): readonly (readonly WordClass[])[] {
  const places = piecesIn(text);
  const pieces = places.map((piece) => piece.text);
  return places.map(({ text: piece, from, to }, at) => {
    const forms = formsOf(piece);
    const shared = Math.max(Math.min(FIRST, piece.length), commonLength(forms));
    const spellings = new Set(forms.map((form) => form.slice(0, Math.min(shared, LONGEST))));
    const typed = text.slice(from, to);
    if (!PLAIN.test(typed)) spellings.add(withoutUmlauts(typed));
    const unit = otherUnit(piece);
    if (unit !== undefined) spellings.add(unit);
    // Two short neighbours may be one word of a document.
    for (const pair of [pieces.slice(at - 1, at + 1), pieces.slice(at, at + 2)]) {
      if (pair.length === 2 && pair.some((word) => word.length < FIRST)) spellings.add(pair.join('').slice(0, FIRST));
    }
    return [...new Set(Array.from(spellings, classOf))];
  });
}

/** The class of a document's id, which is found by a search for it alone. */
export function idClass(id: string): WordClass {
  return hashOf(`#${foldText(id)}`);
}

/** Whether a word of a document has a class of a search, whose fourth and fifth letters count where it has them. */
export function isSameClass(wanted: WordClass, found: WordClass): boolean {
  if (startKey(wanted) !== startKey(found)) return false;
  return isSameLetter((wanted >>> 6) & 63, (found >>> 6) & 63) && isSameLetter(wanted & 63, found & 63);
}

function isSameLetter(wanted: number, found: number): boolean {
  return wanted === 0 || found === 0 || wanted === found;
}

function classOf(word: string): WordClass {
  return (
    ((hashOf(word.slice(0, FIRST)) & 0xffff_f000) | (letterAt(word, FIRST) << 6) | letterAt(word, FIRST + 1)) >>> 0
  );
}

function letterAt(word: string, at: number): number {
  return at < word.length ? 1 + (word.charCodeAt(at) % 63) : 0;
}

function commonLength(words: readonly string[]): number {
  const [first = '', ...others] = words;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return length;
}

/** The hash of a name or of the canonical form of a value. */
export function valueHash(value: string): number {
  return hashOf(canonicalDocumentText(value));
}

/** FNV-1a over UTF-16 units, with its bits mixed at the end: 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
