/**
 * searchd's `charset_table`: letters and digits, each mapped to its lower case, and ё to е, as the canonical form of a
 * query does. What is not named separates words. `A..B/2` maps each even member of a range of pairs to its neighbour.
 */
export const CHARSET_TABLE: readonly string[] = [
  '0..9, A..Z->a..z, a..z',
  // Latin with diacritics
  'U+C0..U+D6->U+E0..U+F6, U+D8..U+DE->U+F8..U+FE, U+DF..U+F6, U+F8..U+FF',
  'U+100..U+12F/2, U+130->U+69, U+131, U+132..U+137/2, U+138, U+139..U+148/2, U+149, U+14A..U+177/2, U+178->U+FF',
  'U+179..U+17E/2',
  // Greek
  'U+386->U+3AC, U+388..U+38A->U+3AD..U+3AF, U+38C->U+3CC, U+38E..U+38F->U+3CD..U+3CE, U+390',
  'U+391..U+3A1->U+3B1..U+3C1, U+3A3..U+3AB->U+3C3..U+3CB, U+3AC..U+3CE',
  // Cyrillic, ё as е
  'U+410..U+42F->U+430..U+44F, U+430..U+44F, U+401->U+435, U+451->U+435',
  'U+400->U+450, U+402..U+40F->U+452..U+45F, U+450, U+452..U+45F, U+48A..U+4BF/2, U+4D0..U+52F/2',
  // Hebrew, Arabic
  'U+5D0..U+5EA, U+620..U+63A, U+641..U+64A',
];

/** Han, kana and hangul are written without spaces: each character is a word. */
export const NGRAM_CHARS = 'U+3040..U+30FF, U+3400..U+4DB5, U+4E00..U+9FFF, U+AC00..U+D7A3';

/** Neither part of a word nor a gap in it: accents left over by folding, soft hyphens, joiners. */
export const IGNORE_CHARS = 'U+AD, U+300..U+36F, U+200C, U+200D';

/** Part of a word and a gap in it, both: `c++`, `at&t`, `wi-fi`, `asp.net`, `c#`, `foo_bar`. */
export const BLEND_CHARS = '+, &, U+23, -, U+2E, _';
