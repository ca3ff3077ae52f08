import { canonicalDocumentText } from '../../search/canonical-text.ts';

/**
 * The words of a text, folded: the one tokeniser for documents, queries and highlights, so that they can never
 * disagree. FTS5 is given these words joined by spaces and only splits them again.
 */
export function wordsOf(text: string): readonly string[] {
  return foldText(text).match(WORD) ?? [];
}

/**
 * A letter or digit with whatever follows it of the same kind; marks belong to their letter. One letter with ++ or #
 * is a word as well: who asks for C++ does not want every C.
 */
export const WORD = /(?<![\p{L}\p{N}])[a-z](?:\+\+|#)(?![\p{L}\p{N}])|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/giu;
/** Beyond ASCII letters and digits, what a word may hold: FTS5's tokeniser must not split there. */
export const WORD_SIGNS = '+#';

/** Lower case, compatibility forms composed, ё as е, é as e, stress marks gone; й stays itself. */
export function foldText(text: string): string {
  // ™ would become the letters "tm" and glue itself to its word.
  if (PLAIN.test(text)) return text.toLowerCase().replaceAll('ё', 'е');
  return canonicalDocumentText(text.replace(TRADE_MARKS, ' ')).normalize('NFD').replace(ACCENTS, '').normalize('NFC');
}

/** Text that folds letter by letter: printable ASCII, Russian, and punctuation that is no part of a word. Most of it. */
const PLAIN = /^[\t\n\r -~А-яЁё«»°±·®©\u2010-\u2015\u2018-\u201e\u2022№]*$/u;
const TRADE_MARKS = /[™℠]/gu;

/** All combining diacritics but the breve, without which й would be и. */
const ACCENTS = /[\u0300-\u0305\u0307-\u036f]/gu;
