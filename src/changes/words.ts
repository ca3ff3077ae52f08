import { formsOf } from '../engines/analysis/forms.ts';
import {
  isNumber,
  otherUnit,
  PLAIN,
  piecesIn,
  runsOf,
  textsOf,
  type WordPiece,
  type WordRun,
  withoutUmlauts,
} from '../engines/analysis/words.ts';
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
/** Letters of a word that may be two of a search without their space, the first of them not a short one. */
const JOINED = 6;

/** The shortest stem that Porter's stemmers of English and Russian leave, of two letters at least; those of search servers are these. */
const STEM = (() => {
  const any = (endings: string): string => `(?:${endings.replaceAll(' ', '|')})`;
  const english = any(
    'e s es [bdfgmnprt]?ed [bdfgmnprt]?ing y i ies ied ly li ful ness ment ate ator ative ation ion al ally ance ence er or ic ical able ible ant ent ism ous ive ' +
      'ize izer ity iti iviti bility',
  );
  const adjective = any('а я ая яя ее ие ые ое ими ыми ей ий ый ой ем им ым ом его ого ему ому их ых ую юю ою ею');
  const participle = any('[аяеу]?(?:ем|нн|вш|ющ|щ) ивш ывш ующ');
  const verb = any(
    '[аяеу]?(?:ла|на|ете|йте|ли|й|л|ем|н|ло|но|ет|ют|ны|ть|ешь|нно) ила ыла ена ейте уйте ите или ыли ей уй ил ыл им ым ен ило ыло ено ят ' +
      'ует уют ит ыт ены ить ыть ишь ую [аяе]?ю',
  );
  const noun = any(
    'а ев ов ие ье ьи ьем е иями ями ами еи ии и ией ей ой ий й иям ям ием ем ам ом о у ах иях ях ы ь ию ью ю ия ья я',
  );
  const gerund = any('[аяеу]?(?:в|вши|вшись) ив ивши ившись ыв ывши ывшись');
  const russian = `(?:(?<=н)н)?(?:[иоеуы]?[нч]?[ое]?к)?(?:ейше?)?(?:ость?)?и?(?:${gerund}|(?:${participle}?${adjective}|${verb}|${noun})?(?:ся|сь)?)`;
  return new RegExp(`^(?:[a-z]{2,}?(?=${english}{0,3}$)|[а-я]{2,}?(?=${russian}$))`);
})();

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
  const add = (word: string): void => {
    classes.add(classOf(word));
    const stem = stemOf(word);
    if (word.length >= JOINED) classes.add(joinedClass(stem));
    if (stem.length < FIRST) classes.add(classOf(stem));
  };
  let short = '';
  for (const { text: piece, from, to } of piecesIn(text)) {
    add(piece);
    // `wi fi` is also found by `wifi`, `u.s.a` by `usa`, and `Müller` by `mueller`.
    const joined = short + piece;
    if (short !== '') add(joined);
    short = [joined, piece].find(({ length }) => length < FIRST) ?? '';
    const typed = text.slice(from, to);
    if (!PLAIN.test(typed)) add(withoutUmlauts(typed));
  }
  return [...classes];
}

/** For each word of a search, the classes that its forms and other spellings may have. */
export function searchClasses(text: string): readonly (readonly WordClass[])[] {
  const places = runsOf(text).flatMap((run) =>
    run.parts.flatMap(({ pieces, isArticle }) => pieces.map((piece) => ({ ...piece, isArticle, run }))),
  );
  return places.flatMap(({ text: piece, from, to, isArticle }, at) => {
    if (isArticle) return [];
    const spellings = spellingsOf(piece, text.slice(from, to));
    return [[...new Set([...spellings.map(classOf), ...joinedClasses(places, at)])]];
  });
}

function spellingsOf(piece: string, typed: string): readonly string[] {
  const [forms, stem] = [formsOf(piece), stemOf(piece)];
  const shared = Math.max(Math.min(FIRST, piece.length), Math.min(stem.length, commonLength(forms)));
  const spellings = forms.map((form) => form.slice(0, Math.min(shared, LONGEST)));
  if (stem.length < FIRST) spellings.push(stem);
  // `Müller` where another document has `mueller`, and the other way.
  if (!PLAIN.test(typed)) spellings.push(withoutUmlauts(typed));
  else if (/[aou]e/.test(piece)) spellings.push(piece.replace(/([aou])e/g, '$1'));
  return [...spellings, otherUnit(piece) ?? []].flat();
}

interface Place extends WordPiece {
  readonly run: WordRun;
}

/** The classes of a word that a piece of a search is together with its neighbours: `quaxzoom` for `zoom` in `quax zoom`. */
function joinedClasses(places: readonly Place[], at: number): readonly WordClass[] {
  const classes: WordClass[] = [];
  for (let first = Math.max(0, at - 2); first <= at; first += 1) {
    for (let last = Math.max(at, first + 1); last < Math.min(places.length, first + 4); last += 1) {
      const together = places.slice(first, last + 1);
      // Numbers are joined within a run: AB-123/45.
      if (together.some(({ text, run }) => run !== places[at]?.run && isNumber(text))) continue;
      const joined = textsOf(together).join('');
      const before = textsOf(places.slice(first, at)).join('').length;
      if (before >= FIRST && joined.length >= JOINED) classes.push(joinedClass(stemOf(joined)));
      // A piece of three letters begins as the word does, so it is found by them.
      else if (before > 0 || (places[at]?.text.length ?? 0) < FIRST) classes.push(classOf(joined));
    }
  }
  return classes;
}

/** The class of a document's id, which is found by a search for it alone. */
export function idClass(id: string): WordClass {
  return hashOf(`#${canonicalDocumentText(id)}`);
}

/** Whether a word of a document has a class of a search, whose fourth and fifth letters count where it has them. */
export function isSameClass(wanted: WordClass, found: WordClass): boolean {
  if (startKey(wanted) !== startKey(found)) return false;
  return isSameLetter((wanted >>> 6) & 63, (found >>> 6) & 63) && isSameLetter(wanted & 63, found & 63);
}

function isSameLetter(wanted: number, found: number): boolean {
  return wanted === 0 || found === 0 || wanted === found;
}

/** Stemmers write y as i. */
function classOf(typed: string): WordClass {
  const word = typed.slice(0, LONGEST).replaceAll('y', 'i');
  return (
    ((hashOf(word.slice(0, FIRST)) & 0xffff_f000) | (letterAt(word, FIRST) << 6) | letterAt(word, FIRST + 1)) >>> 0
  );
}

/** The class of a long word by its whole stem. */
function joinedClass(stem: string): WordClass {
  return (hashOf(`+${stem}`) | 0xfff) >>> 0;
}

const stemOf = (word: string): string => STEM.exec(word)?.[0] ?? word;

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
