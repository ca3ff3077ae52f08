import { hash } from 'node:crypto';
import { APOSTROPHES } from '../../search/canonical.ts';

export type CodeRange = readonly [from: number, to: number];

/**
 * The rules by which a text becomes words: one table for the embedded engine, for the statements and the generated
 * configuration of searchd. `words.ts` applies them. Its hash is part of every key and of every embedded index, so a
 * change here makes old pages and old indexes unusable, and never wrong.
 */
export const ANALYSIS = {
  /** Raised when `words.ts` applies the same table in another way. */
  revision: 1,
  /**
   * Letters that Unicode (NFKC, then NFD) does not take apart, as the ASCII-folding filters of other engines fold them, and
   * the Persian forms of Arabic letters. Marks are removed by decomposition (é, ế), ß and compatibility forms by the
   * canonical form.
   */
  letters: Object.fromEntries(
    (
      'æ ae œ oe ø o đ d ð d þ th ł l ħ h ŧ t ŋ n ĸ q ƀ b ɓ b ƈ c ɖ d ɗ d ƒ f ɠ g ɨ i ƙ k ɲ n ɵ o ƥ p ƭ t ʈ t ʉ u ' +
      'ʋ v ƴ y ƶ z ə a ى ي ی ي ک ك'
    )
      .split(' ')
      .flatMap((text, index, all) => (index % 2 === 0 ? [[text, all[index + 1] ?? '']] : [])),
  ) as Readonly<Record<string, string>>,
  /** Marks that are removed once a letter is taken apart: accents, the vowel signs of Hebrew and Arabic, the tatweel. */
  marks: [
    [0x0300, 0x036f],
    [0x0591, 0x05bd],
    [0x05bf, 0x05bf],
    [0x05c1, 0x05c2],
    [0x0640, 0x0640],
    [0x064b, 0x065f],
    [0x0670, 0x0670],
  ] as readonly CodeRange[],
  /** Letters whose breve is not removed: й and ў are letters of their own. */
  keepsBreve: 'иу',
  /** Scripts without spaces between words: each character is a word, and a run of them is a phrase. */
  ngrams: [
    [0x0e01, 0x0e3a], // Thai
    [0x0e40, 0x0e4e],
    [0x0e81, 0x0ece], // Lao
    [0x1000, 0x103f], // Myanmar
    [0x1780, 0x17d3], // Khmer
    [0x3005, 0x3007], // 々〆〇
    [0x3041, 0x30ff], // kana
    [0x3400, 0x4dbf], // Han
    [0x4e00, 0x9fff],
    [0xac00, 0xd7a3], // hangul
    [0xff66, 0xff9f], // kana of half width
    [0x20000, 0x3fffd], // rare Han
  ] as readonly CodeRange[],
  apostrophes: APOSTROPHES,
  /** Signs that join the parts of a word, which is also found in one piece: wi-fi, at&t, AB-123/45, asp.net. */
  joiners: '-\u2010\u2011/.&_·\u200c',
  /** Between two digits each of them is the decimal mark. */
  decimalMarks: '.,',
  /** A word of more parts is a list or an address, and of more characters a text: it is not looked for in one piece. */
  maxParts: 6,
  maxJoined: 40,
  /** Articles that a language writes in one word with the next one: l'eau is found by eau. */
  elisions: 'c d j l m n s t qu jusqu lorsqu puisqu quoiqu all dall dell nell sull un gl'.split(' '),
  /** A letter with signs, or a unit with its power, that is one word: C++, C#, м², m3. */
  wholes: ['(?<![\\p{L}\\p{N}])[a-z](?:\\+\\+|#)', '(?<!\\p{L})[дкмсcdkm]?[мm][23²³]'],
  /** Units by their Latin and their Russian sign: after a number each finds the other. */
  units: [
    ...['b б', 'kb кб', 'mb мб', 'gb гб', 'tb тб', 'g г', 'kg кг', 'mg мг', 'l л', 'ml мл', 'mm мм', 'cm см', 'm м'],
    ...['km км', 'w вт', 'kw квт', 'v в', 'a а', 'ah ач', 'mah мач', 'hz гц', 'mhz мгц', 'ghz ггц', 'pcs шт'],
  ].map((pair) => pair.split(' ')),
};

export const ANALYSIS_HASH = hash('sha256', JSON.stringify(ANALYSIS), 'base64url').slice(0, 8);
