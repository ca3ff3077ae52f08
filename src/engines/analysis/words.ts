import { canonicalDocumentText, INVISIBLE } from '../../search/canonical.ts';
import { ANALYSIS, type CodeRange } from './table.ts';

/** A part of a text that a reader takes for one word: `wi-fi`, `RTX4060`, `1,5`, `women's`, `手机壳`. */
export interface WordRun extends Place, Parts {
  /** The parts between slashes, where it has some: `Wi-Fi/LTE` is also found by `wifi`. */
  readonly divided: readonly Parts[];
}

interface Parts {
  /** Separated by signs. */
  readonly parts: readonly WordPart[];
  /** The pieces of all parts without signs, where they are also found as one word: `wifi`; `ab`, `12345`. */
  readonly joined: readonly string[];
}

export interface WordPart {
  /** One piece, or pieces that stand together: `rtx`, `4060`; the two numbers of a decimal; each character of `手机`. */
  readonly pieces: readonly WordPiece[];
  /** An article that is written in one word with the next part: l'eau. */
  readonly isArticle: boolean;
}

/** Letters alone, digits alone, or a word such as `c++`. */
export interface WordPiece extends Place {
  /** Folded. */
  readonly text: string;
}

/** A place in a text, in UTF-16 units. */
interface Place {
  readonly from: number;
  readonly to: number;
}

const classOf = (ranges: readonly CodeRange[]): string =>
  ranges.map((range) => range.map((code) => `\\u{${code.toString(16)}}`).join('-')).join('');
const NGRAMS = classOf(ANALYSIS.ngrams);
/** Letters but those that are words each, and the signs among them that are apostrophes (ʼ). */
const LETTER = `[\\p{L}--[${NGRAMS}${ANALYSIS.apostrophes}]]`;

/** Signs that stand for letters: ℃, ㎏, Ⓐ. */
const SYMBOLS = '\\u2100-\\u2115\\u2117-\\u214f\\u24b6-\\u24e9\\u3200-\\u33ff';
/** A word with signs, a run of digits, a run of letters with their marks, or a run of characters that are a word each. */
const PIECE = new RegExp(
  [
    `(?:${ANALYSIS.wholes.join('|')})(?![\\p{L}\\p{N}])`,
    `\\p{N}[\\p{N}${INVISIBLE}]*`,
    `${LETTER}[${LETTER}\\p{M}\\u200d${INVISIBLE}]*`,
    `[${NGRAMS}][${NGRAMS}\\p{M}]*`,
    `[${SYMBOLS}]`,
  ].join('|'),
  'giv',
);
/** The same in folded plain text. */
const PLAIN_PIECE = new RegExp(`(?:${ANALYSIS.wholes.join('|')})(?![\\p{L}\\p{N}])|[0-9]+|[a-zа-я]+`, 'gv');
const WHOLE = new RegExp(`^(?:${ANALYSIS.wholes.join('|')})$`, 'iu');
const SYMBOL = new RegExp(`^[${SYMBOLS}]`, 'u');
const NGRAM = new RegExp(`^[${NGRAMS}]`, 'u');
const NUMBER = /^\p{N}/u;
/** ASCII signs inside words: FTS5's tokeniser must not split there. */
export const WORD_SIGNS = '+#';

/** The pieces of a text, in their order. Documents, queries and highlights use this one tokeniser, so they always agree. */
export function piecesIn(text: string): readonly WordPiece[] {
  const pieces: WordPiece[] = [];
  // Plain text keeps its length when it is folded, so it is folded once and not piece by piece.
  if (PLAIN.test(text)) {
    for (const { 0: piece, index } of foldPlain(text).matchAll(PLAIN_PIECE)) {
      pieces.push({ text: piece, from: index, to: index + piece.length });
    }
  } else for (const { 0: typed, index } of text.matchAll(PIECE)) pieces.push(...piecesOf(typed, index));
  return pieces;
}

export function runsOf(text: string): readonly WordRun[] {
  const runs: WordRun[] = [];
  let run: OpenRun | undefined;
  for (const piece of piecesIn(text)) {
    const joint = jointOf(text, run, piece);
    if (run === undefined || joint === 'gap') {
      if (run !== undefined) runs.push(closed(run));
      run = { from: piece.from, parts: [[piece]], signs: [], hasDecimal: false, to: piece.to };
      continue;
    }
    if (joint === 'sign') {
      run.parts.push([piece]);
      run.signs.push(text.slice(run.to, piece.from));
    } else run.parts.at(-1)?.push(piece);
    run.hasDecimal ||= joint === 'decimal';
    run.to = piece.to;
  }
  if (run !== undefined) runs.push(closed(run));
  return runs;
}

interface OpenRun {
  readonly from: number;
  readonly parts: WordPiece[][];
  /** Between the parts. */
  readonly signs: string[];
  hasDecimal: boolean;
  to: number;
}

function jointOf(text: string, run: OpenRun | undefined, piece: WordPiece): 'none' | 'decimal' | 'sign' | 'gap' {
  const length = run === undefined ? 2 : piece.from - run.to;
  // Several pieces may be of one sign, such as ½.
  if (length < 0) return 'none';
  if (length > 1 || SYMBOL.test(text.charAt(piece.from))) return 'gap';
  if (length === 0) return 'none';
  const sign = text.charAt(piece.from - 1);
  const before = run?.parts.at(-1)?.at(-1)?.text ?? '';
  const isBetweenNumbers = NUMBER.test(before) && NUMBER.test(piece.text);
  if (ANALYSIS.decimalMarks.includes(sign) && isBetweenNumbers) return 'decimal';
  if (ANALYSIS.joiners.includes(sign)) return 'sign';
  return ANALYSIS.apostrophes.includes(sign) && !NUMBER.test(before) && !NUMBER.test(piece.text) ? 'sign' : 'gap';
}

function closed({ from, to, parts, signs, hasDecimal }: OpenRun): WordRun {
  const [pieces] = parts;
  if (parts.length === 1 && pieces !== undefined) {
    return { from, to, parts: [{ pieces, isArticle: false }], joined: [], divided: [] };
  }
  const all = parts.map((each, at) => ({ pieces: each, isArticle: isArticle(each, signs[at], parts[at + 1]) }));
  return {
    from,
    to,
    parts: all,
    // A highlight needs neither.
    get joined() {
      return hasDecimal ? [] : joinedOf(parts, signs);
    },
    get divided() {
      const ends = [...signs.flatMap((sign, at) => (sign === '/' ? [at + 1] : [])), parts.length];
      if (ends.length === 1 || hasDecimal) return [];
      return ends.map((end, at) => {
        const begin = ends[at - 1] ?? 0;
        return { parts: all.slice(begin, end), joined: joinedOf(parts.slice(begin, end), signs.slice(begin, end - 1)) };
      });
    },
  };
}

/** Numbers alone are joined by a hyphen (a telephone or part number), never by a point or a slash. */
function joinedOf(parts: readonly (readonly WordPiece[])[], signs: readonly string[]): readonly string[] {
  const pieces = parts.flat();
  const text = textsOf(pieces).join('');
  if (parts.length === 1 || parts.length > ANALYSIS.maxParts || text.length > ANALYSIS.maxJoined) return [];
  if (pieces.some((piece) => isNgram(piece.text))) return [];
  if (pieces.every((piece) => isNumber(piece.text)) && signs.some((sign) => sign === '/' || sign === '.')) return [];
  return text.match(PIECE) ?? [];
}

function isArticle(
  [piece, ...others]: readonly WordPiece[],
  sign: string | undefined,
  next: readonly WordPiece[] | undefined,
): boolean {
  if (piece === undefined || others.length > 0 || sign === undefined || !ANALYSIS.apostrophes.includes(sign))
    return false;
  return ANALYSIS.elisions.includes(piece.text) && (next?.[0]?.text.length ?? 0) > 1;
}

function piecesOf(typed: string, from: number): WordPiece[] {
  const folded = foldText(typed);
  const to = from + typed.length;
  if (PLAIN.test(typed) || WHOLE.test(typed)) return [{ text: folded, from, to }];
  const texts = folded.match(PIECE) ?? [];
  return texts.flatMap((text) => {
    if (!isNgram(text)) return [{ text, from, to }];
    const isAligned = texts.length === 1 && folded.length === typed.length;
    let at = from;
    return [...text].map((character) => {
      const place = isAligned ? { from: at, to: at + character.length } : { from, to };
      at += character.length;
      return { text: character, ...place };
    });
  });
}

/** The text of a run that is one piece. */
export function onlyPieceOf(run: WordRun | undefined): string | undefined {
  const [part, ...others] = run?.parts ?? [];
  return others.length === 0 && part?.pieces.length === 1 ? part.pieces[0]?.text : undefined;
}

/** Two neighbouring words of letters. */
export function pairOf(first: WordRun, second: WordRun | undefined): readonly [string, string] | undefined {
  const [one, two] = [onlyPieceOf(first), onlyPieceOf(second)];
  return one === undefined || two === undefined || isNumber(one) || isNumber(two) ? undefined : [one, two];
}

export function textsOf(pieces: readonly WordPiece[]): readonly string[] {
  return pieces.map(({ text }) => text);
}

/** Whether two neighbours may be written as one word: letters and digits. The numbers of a decimal may not. */
function mayGlue(left: string, right: string): boolean {
  return !isNgram(left) && !isNgram(right) && !(isNumber(left) && isNumber(right));
}

/** The words of a part as an index holds them: `rtx4060` and `1`, `5l`. */
export function indexedWords({ pieces }: WordPart): readonly string[] {
  const words: string[] = [];
  for (const [at, { text, from }] of pieces.entries()) {
    const left = pieces[at - 1];
    if (left !== undefined && left.to === from && mayGlue(left.text, text)) words.push(`${words.pop()}${text}`);
    else words.push(text);
  }
  return words;
}

/** Words that a search may name, and the phrase of an index that they stand for: `wifi` for `wi fi`. */
export interface Spelling {
  readonly words: string;
  readonly phrase: string;
  /** Whether they are only one of several words in it: `4060` in `rtx4060`. */
  readonly isPiece: boolean;
}

/** Other spellings of a run: in one piece, and the neighbouring pieces of what is written as one word. */
export function spellingsOf(run: WordRun): readonly Spelling[] {
  const spellings = [run, ...run.divided].flatMap(({ parts, joined }) => {
    const phrase = parts.flatMap(indexedWords).join(' ');
    const whole = joined.length > 1 ? [joined.join(' '), ...joined.filter((piece) => piece.length > 1)] : joined;
    return whole.map((words) => ({ words, phrase, isPiece: false }));
  });
  return [...spellings, ...run.parts.flatMap(spellingsOfPart)].filter(
    (spelling) => !` ${spelling.phrase} `.includes(` ${spelling.words} `),
  );
}

function spellingsOfPart(part: WordPart): readonly Spelling[] {
  const words = indexedWords(part);
  const texts = textsOf(part.pieces);
  if (words.length === texts.length || texts.length > ANALYSIS.maxParts) return [];
  const spans = texts.flatMap((_, from) => texts.slice(from).map((_, more) => texts.slice(from, from + more + 1)));
  return spans
    .map((span) => ({ words: span.join(' '), phrase: words.join(' '), isPiece: span.length === 1 }))
    .filter((spelling) => spelling.words.length > 1);
}

/**
 * The ways to write pieces that stand together, as phrases: `rtx 4060`, `rtx4060`. A unit after a number is also written
 * by its other sign. Of many pieces there is only the one word that they are in most texts.
 */
export function writingsOf(pieces: readonly string[]): readonly string[] {
  return pieces.reduce<readonly string[]>(
    (begun, piece, at) => {
      const left = pieces[at - 1];
      const unit = left !== undefined && isNumber(left) ? otherUnit(piece) : undefined;
      const signs = unit === undefined ? [piece] : [piece, unit];
      const joints = left === undefined ? [''] : mayGlue(left, piece) ? ['', ' '] : [' '];
      const grown = joints.flatMap((joint) => begun.flatMap((text) => signs.map((sign) => `${text}${joint}${sign}`)));
      return grown.slice(0, pieces.length > ANALYSIS.maxParts ? 1 : MAX_WRITINGS);
    },
    [''],
  );
}

const MAX_WRITINGS = 16;

/** The other sign of a unit: `gb` for `гб`. */
export function otherUnit(word: string): string | undefined {
  const pair = ANALYSIS.units.find((signs) => signs.includes(word));
  return pair?.find((sign) => sign !== word);
}

export function isNumber(word: string): boolean {
  return NUMBER.test(word);
}

/** Whether the characters of a part are words each, so that a word is a phrase of them. */
export function isNgram(word: string): boolean {
  return NGRAM.test(word);
}

/** A folded word with its umlauts in two letters, as on keyboards without them: `mueller` for `Müller`. */
export function withoutUmlauts(text: string): string {
  return foldText(text.normalize('NFC').replace(/[äöü]/gi, (letter) => `${letter.normalize('NFD').slice(0, 1)}e`));
}

/** A word as searchd reads it with a `charset_table`, which maps one character to one: æ stays itself. */
export function searchdForm(text: string): string {
  return Array.from(text.normalize('NFC').replace(MARKS, ''), characterOf).join('');
}

/** The character that one character folds to, or its lower case where it folds to several or to none. */
export function characterOf(character: string): string {
  const folded = foldText(character);
  return [...folded].length === 1 ? folded : character.toLowerCase();
}

/** Lower case, compatibility forms composed, ё as е, letters without their marks, æ as ae; й stays unchanged. */
export function foldText(text: string): string {
  if (PLAIN.test(text)) return foldPlain(text);
  // ™ would become the letters "tm" at the end of the word before it.
  const canonical = canonicalDocumentText(text.replace(TRADE_MARKS, ' '));
  const bare = canonical.normalize('NFD').replace(MARKS, '').normalize('NFC');
  return bare.replace(LETTERS, (letter) => ANALYSIS.letters[letter] ?? letter);
}

/** Text that folds letter by letter, which is most text: printable ASCII, Russian, and punctuation outside words. */
export const PLAIN = /^[\t\n\r -~А-яЁё«»°±·®©²³\u2010-\u2015\u2018-\u201e\u2022№]*$/u;
const PLAIN_FOLDS: Readonly<Record<string, string>> = { ё: 'е', '²': '2', '³': '3' };
const foldPlain = (text: string): string => text.toLowerCase().replace(/[ё²³]/g, (sign) => PLAIN_FOLDS[sign] ?? sign);

const TRADE_MARKS = /[™℠]/gu;
export const MARKS = new RegExp(`(?!(?<=[${ANALYSIS.keepsBreve}])\\u0306)[${classOf(ANALYSIS.marks)}\\u200d]`, 'gu');
const LETTERS = new RegExp(`[${Object.keys(ANALYSIS.letters).join('')}]`, 'gu');
