import { seededRandom } from '../../runtime.ts';

/** An ad before it gets its id and its date. */
export interface Draft {
  readonly title: string;
  readonly description: string;
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** About one ad in six is in English, as on a site that foreigners use too. */
export function languageOf(random: Random): Language {
  return random.chance(0.17) ? 'en' : 'ru';
}

/** Rounds a price as sellers do: more coarsely for higher prices, sometimes to «…990». */
export function roundPrice(price: number, random: Random): number {
  const step = price < 1000 ? 50 : price < 10_000 ? 100 : price < 100_000 ? 500 : price < 1_000_000 ? 5000 : 50_000;
  const rounded = Math.max(step, Math.round(price / step) * step);
  if (price >= 2000 && price < 100_000 && random.chance(0.2)) return Math.ceil(rounded / 1000) * 1000 - 10;
  return rounded;
}

/** The date of the newest ad; fixed, so that the catalogue never changes. */
const LAST_DAY = '2026-11-20';
const DAYS = 180;
const DAY_MS = 86_400_000;

/** A day of the window as `YYYY-MM-DD`. Newer days are more likely, because old ads are sold and removed. */
export function dateOf(random: Random): string {
  const share = random.next();
  const daysAgo = Math.floor(DAYS * share * (0.35 + 0.65 * share));
  return new Date(Date.parse(`${LAST_DAY}T00:00:00Z`) - daysAgo * DAY_MS).toISOString().slice(0, 10);
}

/** A title from one of the templates; a few as if typed in a hurry: in lower case, «е» for «ё». */
export function titleOf(templates: readonly string[], voice: Voice): string {
  const title = capital(render(voice.random.pick(templates), voice));
  return voice.random.chance(0.07) ? title.toLowerCase().replaceAll('ё', 'е') : title;
}

/** The templates as a paragraph: each sentence begins with a capital and ends with a mark. */
export function descriptionOf(templates: readonly string[], voice: Voice): string {
  return templates
    .map((template) => render(template, voice))
    .filter((sentence) => sentence !== '')
    .map((sentence) => (/[.!?)]$/.test(sentence) ? capital(sentence) : `${capital(sentence)}.`))
    .join(' ');
}

/** Grammatical gender of the thing sold; `p` for words that are always plural («кроссовки»). */
export type Gender = 'm' | 'f' | 'n' | 'p';
export type Language = 'ru' | 'en';

export interface Voice {
  readonly random: Random;
  readonly gender: Gender;
  /** The text of `$name`, the same throughout an ad. @throws for an unknown name. */
  readonly slot: (name: string) => string;
}

const GENDERS: readonly Gender[] = ['m', 'f', 'n', 'p'];

export function voiceOf(random: Random, gender: Gender, slots: Readonly<Record<string, string>>): Voice {
  return {
    random,
    gender,
    slot: (name) => {
      const value = slots[name];
      if (value === undefined) throw new Error(`no slot $${name}`);
      return value;
    },
  };
}

/**
 * Renders a template. `[a|b|]` picks one and may nest; `$name` is a slot; `$name:m` is the slot in the masculine
 * («цвет чёрный», but «чёрная куртка»); `{ый/ая/ое/ые}` is an ending that agrees with the thing.
 */
function render(template: string, voice: Voice): string {
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

const LATIN = new Map(
  'а-a б-b в-v г-g д-d е-e ё-yo ж-zh з-z и-i й-y к-k л-l м-m н-n о-o п-p р-r с-s т-t у-u ф-f х-kh ц-ts ч-ch ш-sh щ-shch ъ- ы-y ь- э-e ю-yu я-ya'
    .split(' ')
    .map((pair) => pair.split('-') as [string, string]),
);

/** Latin spelling of names without an English form, as in passports. */
export function transliterate(text: string): string {
  return text.replace(/[ыи]й(?![а-яё])/gi, 'ы').replace(/[а-яё]/gi, (letter) => {
    const latin = LATIN.get(letter.toLowerCase()) ?? letter;
    return letter === letter.toLowerCase() ? latin : capital(latin);
  });
}

/** Vocabulary lines, with each `@name` replaced by the shared lines of that name. */
export function withShared(
  lines: readonly string[],
  shared: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  return lines.flatMap((line) => shared[line] ?? [line]);
}

/** `1998–2012` of a vocabulary file. */
export function range(text: string): readonly [from: number, to: number] {
  const [from = 0, to = 0] = text.split('–').map(Number);
  return [from, to];
}

/** Whether two templates fill the same slot, and so would say the same thing twice. */
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

/**
 * Seeded randomness in 32-bit integer arithmetic only: the same seed gives the same numbers on every machine, which
 * Math.pow, Math.log and locale-aware functions do not promise.
 */
export interface Random {
  /** 0 ≤ x < 1. */
  readonly next: () => number;
  /** An integer, both ends included. */
  readonly between: (from: number, to: number) => number;
  readonly chance: (probability: number) => boolean;
  /** @throws RangeError on an empty list. */
  readonly pick: <T>(list: readonly T[]) => T;
  /** As `pick`, by each member's own positive weight. */
  readonly weighted: <T extends { readonly weight: number }>(list: readonly T[]) => T;
}

export function createRandom(seed: number): Random {
  const next = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => {
    const index = Math.floor(next() * list.length);
    if (index >= list.length) throw new RangeError('cannot pick from an empty list');
    return list[index] as T;
  };
  return {
    next,
    pick,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    weighted: (list) => {
      let total = 0;
      for (const member of list) total += member.weight;
      let rest = next() * total;
      for (const member of list) {
        rest -= member.weight;
        if (rest < 0) return member;
      }
      return pick(list);
    },
  };
}

/**
 * A seed from words (FNV-1a with a final mix): each ad has its own random stream, so a change of one ad changes no
 * other.
 */
export function seedOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    for (const char of `${part}/`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
