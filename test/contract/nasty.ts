/**
 * Texts that break query parsers, combined from parts: every operator, quote, bracket and keyword of an engine's query
 * language, alone, doubled, unbalanced, and joined to words. The same 1,700 texts each time.
 */
export function nastyTexts(count = 1700): readonly string[] {
  const random = xorshift(0x5e7_cac4e);
  const pick = <T>(from: readonly T[]): T => {
    const value = from[Math.floor(random() * from.length)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  };
  const texts = new Set<string>();
  const add = (text: string): void => {
    const canonical = canonicalText(text);
    if (canonical !== '') texts.add(canonical);
  };
  for (const part of [...OPERATORS, ...KEYWORDS, ...ODD]) {
    for (const text of [part, part.repeat(2), `${part}слово`, `слово${part}`, `слово ${part} word`, `"${part}`]) {
      add(text);
    }
  }
  for (let pair = 0; pair < 250; pair += 1) {
    const operator = pick(OPERATORS);
    add(`${operator}${pick(KEYWORDS)}${operator} слово`);
  }
  for (let tries = 0; texts.size < count; tries += 1) {
    if (tries > 100 * count) throw new Error(`cannot make ${count} different texts`);
    const length = 1 + Math.floor(random() * 8);
    let text = '';
    for (let part = 0; part < length; part += 1) {
      text += pick(pick([OPERATORS, OPERATORS, KEYWORDS, WORDS, ODD])) + pick(['', '', ' ']);
    }
    add(text);
  }
  return [...texts].slice(0, count);
}

/** Titles, each with two unique words and parts of query languages around them. The same titles each time. */
export function nastyTitles(count: number): readonly string[] {
  const random = xorshift(0x7171e5);
  const parts = [...OPERATORS, ...KEYWORDS];
  const gap = (): string => {
    const part = parts[Math.floor(random() * parts.length)] ?? '';
    return [part, ` ${part}`, `${part} `, ` ${part} `][Math.floor(random() * 4)] ?? '';
  };
  return Array.from({ length: count }, (_, index) => canonicalText(`${gap()}qz${index}${gap()}vj${index}${gap()}`));
}

/** Text as an engine gets it, except for its case: no control characters, no lone surrogates, single spaces, ≤ 256 characters. */
function canonicalText(text: string): string {
  const clean = text
    .normalize('NFKC')
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return [...clean].slice(0, 256).join('').trim();
}

const OPERATORS = [
  ...'!"$%&\'()*+,-./:;<=>?@[\\]^_`{|}~#«»„“”‚‘’—–…№§°',
  ...String.raw`"" '' \" \' \\ () )( ((((( ))))) [[]] {} -- /* */ << <<< >> ~10 "~3 "/2 /0.5 ^= =^ $^`.split(' '),
  ...String.raw`@* @title @(title,description) @!title @title[50] @@relaxed ^10 ^-1 *? ?* %_ \% && || !!`.split(' '),
  ...[' -', ' |', '| |', '-(', '!(', ';--', "' or 1=1 --", '{title}:', 'title:', '-title:', 'rowid:'],
  ...['{title description}:', '+ +'],
];

const KEYWORDS = [
  ...['AND', 'OR', 'NOT', 'NEAR', 'NEAR/3', 'NEAR(a b, 5)', 'NOTNEAR/2', 'MAYBE', 'SENTENCE', 'PARAGRAPH', 'ZONE:h1'],
  ...['ZONE:(h1,h2)', 'ZONESPAN:th', 'SELECT', 'MATCH', 'OPTION', 'FACET', 'NULL'],
];

const WORDS =
  "слово word ёлка йод гитара c++ c# at&t wi-fi rock'n'roll 12 3,5 1e308 0x1f -5 naïve straße İstanbul".split(' ');

const ODD = [
  'длинноеслово'.repeat(15),
  'a'.repeat(250),
  'aб'.repeat(60),
  'e\u0301\u0301\u0301\u0301',
  `z${'\u0335\u0322\u0353'.repeat(20)}`,
  'и\u0306',
  '\u0301',
  'שלום',
  'مرحبا\u064b',
  '\u202eabc\u202c',
  '\u200f',
  'a\u200bb',
  'a\u200db',
  '\ufeff',
  '\u00ad',
  '\u2028',
  '\u00a0',
  '\u3000',
  'ﬁ',
  '㎏',
  'Ⅷ',
  '½',
  '日本語',
  'ไทย',
  'हिन्दी',
  '😀',
  '👩‍👩‍👧',
  '🇷🇺',
  '𝒜',
  '𠮷',
  '\ufffd',
  '\uffff',
  '\ue000',
  '\udbff\udfff',
];

/** xorshift32, in [0, 1). */
function xorshift(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
