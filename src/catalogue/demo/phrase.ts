import type { Random } from './random.ts';

/** Grammatical gender of the thing sold; `p` for words that are always plural («кроссовки»). */
export type Gender = 'm' | 'f' | 'n' | 'p';
export type Language = 'ru' | 'en';

export interface Voice {
  readonly random: Random;
  readonly gender: Gender;
  /** The text behind `$name`, the same each time within one ad. @throws for a name nobody declared. */
  readonly slot: (name: string) => string;
}

const GENDERS: readonly Gender[] = ['m', 'f', 'n', 'p'];

/**
 * One phrase from its template: `[a|b|]` one of, may nest; `$name` a slot; `$name:m` the slot in the masculine
 * («цвет чёрный» beside «чёрная куртка»); `{ый/ая/ое/ые}` an ending that agrees with the thing.
 */
export function render(template: string, voice: Voice): string {
  let text = template;
  while (text.includes('[')) {
    const next = text.replace(/\[([^[\]]*)\]/g, (_, options: string) => voice.random.pick(options.split('|')));
    if (next === text) throw new Error(`unbalanced brackets: ${template}`);
    text = next;
  }
  text = text.replace(/\$([a-zA-Z]+)(:m)?/g, (_, name: string, masculine?: string) => {
    const value = voice.slot(name);
    return masculine === undefined ? value : agree(value, 'm');
  });
  return tidy(agree(text, voice.gender));
}

export function agree(text: string, gender: Gender): string {
  const index = GENDERS.indexOf(gender);
  return text.replace(/\{([^}]*)\}/g, (_, endings: string) => endings.split('/')[index] ?? '');
}

/** Sentences as a paragraph: each begins with a capital and ends with a mark. */
export function paragraph(sentences: readonly string[]): string {
  return sentences
    .filter((sentence) => sentence !== '')
    .map((sentence) => (/[.!?)]$/.test(sentence) ? capital(sentence) : `${capital(sentence)}.`))
    .join(' ');
}

/** `iPhone`, `iPad` and `iMac` keep their small letter. */
export function capital(text: string): string {
  return /^i[A-Z]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** 1 год, 2 года, 5 лет. */
export function plural(count: number, one: string, few: string, many: string): string {
  const tens = count % 100;
  const ones = count % 10;
  if (tens >= 11 && tens <= 14) return many;
  return ones === 1 ? one : ones >= 2 && ones <= 4 ? few : many;
}

/** 98000 → `98 000`; not toLocaleString, whose output depends on the ICU data at hand. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ' ');
}

const LATIN: Readonly<Record<string, string>> = Object.fromEntries(
  'а a б b в v г g д d е e ё yo ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh щ shch ъ _ ы y ь _ э e ю yu я ya'
    .split(' ')
    .map((word) => (word === '_' ? '' : word))
    .reduce<[string, string][]>((pairs, word, index, words) => {
      if (index % 2 === 0) pairs.push([word, words[index + 1] ?? '']);
      return pairs;
    }, []),
);

/** Names without an English form of their own, as a passport would spell them. */
export function transliterate(text: string): string {
  return text.replace(/[ыи]й(?![а-яё])/gi, 'ы').replace(/[а-яё]/gi, (letter) => {
    const latin = LATIN[letter.toLowerCase()] ?? letter;
    return letter === letter.toLowerCase() ? latin : capital(latin);
  });
}

/** The lines of a vocabulary block, without the empty ones. */
export function lines(block: string): readonly string[] {
  return block
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Whether two templates would fill the same slot, and so say the same thing twice. */
export function shareSlots(one: string, other: string): boolean {
  const named = new Set(one.match(/\$\w+/g));
  return (other.match(/\$\w+/g) ?? []).some((name) => named.has(name));
}

function tidy(text: string): string {
  return text
    .replace(/ {2,}/g, ' ')
    .replace(/ ([,.:;!?])/g, '$1')
    .replace(/,(?=[,.])/g, '')
    .replace(/\.{2,}/g, '.')
    .replace(/^[ ,]+|[ ,]+$/g, '');
}
