import { type Gender, type Language, lines } from '../ad.ts';

/**
 * How a thing ages, which selects the sentences about its condition; `none` for things without a condition (a kitten).
 */
export type Wear = 'device' | 'cloth' | 'furniture' | 'plain' | 'none';

/** Vocabulary of one kind of thing, as written in the goods files. */
interface KindSource {
  readonly category: string;
  readonly weight: number;
  readonly gender: Gender;
  readonly wear: Wear;
  readonly noun: string;
  readonly english: string;
  /** A line per brand, `Brand: Model~прозвище price x3; …`; `-` no brand, `_` no model, `x3` three times as common. */
  readonly models: string;
  /** name → `рус=english*1.2; …`: the English text when it differs, a price factor when it is not 1. */
  readonly slots?: Readonly<Record<string, string>>;
  /** It cannot be posted: it is too large, or an animal. */
  readonly bulky?: true;
  readonly titles: string;
  /** Lines that begin with `~` are about use: they are left out for new and broken things. */
  readonly about: string;
  readonly titlesEn: string;
  readonly aboutEn: string;
}

export interface Model {
  readonly brand?: string;
  readonly model: string;
  /** The colloquial name: «айфон 13». */
  readonly alias?: string;
  /** The price of a new one, in roubles. */
  readonly price: number;
  readonly weight: number;
}

export interface SlotValue {
  readonly ru: string;
  readonly en: string;
  readonly factor: number;
}

export interface Kind extends Omit<KindSource, 'models' | 'slots' | 'titles' | 'about' | 'titlesEn' | 'aboutEn'> {
  readonly models: readonly Model[];
  readonly slots: readonly (readonly [name: string, values: readonly SlotValue[]])[];
  readonly titles: readonly string[];
  readonly about: readonly string[];
  readonly titlesEn: readonly string[];
  readonly aboutEn: readonly string[];
}

/** Parses the vocabulary of one kind of thing. */
export function kind(source: KindSource): Kind {
  return {
    ...source,
    models: lines(source.models).flatMap(modelsOf),
    slots: Object.entries(source.slots ?? {}).map(([name, text]) => [name, slotValues(text)] as const),
    titles: lines(source.titles),
    about: lines(source.about),
    titlesEn: lines(source.titlesEn),
    aboutEn: lines(source.aboutEn),
  };
}

function modelsOf(line: string): Model[] {
  const colon = line.indexOf(': ');
  const brand = line.slice(0, colon);
  return line
    .slice(colon + 2)
    .split(';')
    .map((text) => {
      const match = /^(?<model>[^~]*?)(?:~(?<alias>.*?))? (?<price>\d+)(?: x(?<weight>\d+))?$/.exec(text.trim());
      const { model = '', alias, price, weight } = match?.groups ?? {};
      if (price === undefined) throw new Error(`not a model: ${line}`);
      return {
        ...(brand === '-' ? {} : { brand }),
        model: model === '_' ? '' : model,
        ...(alias === undefined ? {} : { alias }),
        price: Number(price),
        weight: Number(weight ?? 1),
      };
    });
}

function slotValues(text: string): readonly SlotValue[] {
  return text.split(';').map((part) => {
    const [words = '', factor] = part.trim().split('*');
    const [ru = '', en = ru] = words.split('=');
    return { ru, en: en.replace(/(\d),(\d)/g, '$1.$2'), factor: Number(factor ?? 1) };
  });
}

export const COLORS =
  'чёрн{ый/ая/ое/ые}=black; бел{ый/ая/ое/ые}=white; сер{ый/ая/ое/ые}=grey; син{ий/яя/ее/ие}=blue; бежев{ый/ая/ое/ые}=beige; зелён{ый/ая/ое/ые}=green; красн{ый/ая/ое/ые}=red; коричнев{ый/ая/ое/ые}=brown';

/** Reasons to sell. */
export const REASONS: Readonly<Record<Language, readonly string[]>> = {
  ru: lines(`
    Продаю в связи с переездом
    Продаю, потому что [переезжаем|купили нов{ый/ую/ое/ые}|не пользуемся]
    Больше не нуж{ен/на/но/ны}, [жалко выбрасывать|занима{ет/ет/ет/ют} место]
    Леж{ит/ит/ит/ат} без дела
    Освобождаем место дома
    Срочно нужны деньги, поэтому цена такая
  `),
  en: lines(`
    Selling because we are moving
    Selling because we have bought a new one
    Not needed any more
    We are making room at home
  `),
};

/** Terms of sale. */
export const TERMS: Readonly<Record<Language, readonly string[]>> = {
  ru: lines(`
    Торг при осмотре
    Торг [уместен|небольшой|тому, кто приедет сегодня]
    Без торга
    Самовывоз, $place
    Забирать: $place
    [Вечером после шести|В любое время|По выходным], $place
    Пишите в сообщения, [отвечаю быстро|звонки не всегда слышу]
    Звоните [до 21:00|с 10 до 20|в любое время]
    [Могу привезти по городу|Доставка по городу за ваш счёт]
  `),
  en: lines(`
    Pick-up near $place
    Price is [negotiable|slightly negotiable|fixed]
    Message me [any time|in the evening], I speak English and Russian
    $place, [evenings|weekends|any time]
  `),
};

/** Further terms of sale for things that can be posted. */
export const POSTAL_TERMS: Readonly<Record<Language, readonly string[]>> = {
  ru: lines(`
    [Отправлю в другой город|Возможна отправка транспортной компанией|Отправлю почтой после оплаты]
    [Обмен не интересует|На обмен не предлагать]
  `),
  en: lines(`
    [Can be shipped to other cities|I can ship it at your cost]
    No exchanges, please
  `),
};
