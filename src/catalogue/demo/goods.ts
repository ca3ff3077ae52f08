import {
  agree,
  capital,
  type Draft,
  descriptionOf,
  type Gender,
  type Language,
  languageOf,
  type Random,
  roundPrice,
  shareSlots,
  titleOf,
  transliterate,
  type Voice,
  withShared,
} from './ad.ts';
import { CITIES, type City, placeIn } from './cities.ts';
import animals from './vocabulary/animals.json' with { type: 'json' };
import appliances from './vocabulary/appliances.json' with { type: 'json' };
import children from './vocabulary/children.json' with { type: 'json' };
import clothes from './vocabulary/clothes.json' with { type: 'json' };
import computers from './vocabulary/computers.json' with { type: 'json' };
import conditions from './vocabulary/conditions.json' with { type: 'json' };
import culture from './vocabulary/culture.json' with { type: 'json' };
import electronics from './vocabulary/electronics.json' with { type: 'json' };
import furniture from './vocabulary/furniture.json' with { type: 'json' };
import household from './vocabulary/household.json' with { type: 'json' };
import phones from './vocabulary/phones.json' with { type: 'json' };
import sale from './vocabulary/sale.json' with { type: 'json' };
import sport from './vocabulary/sport.json' with { type: 'json' };
import tools from './vocabulary/tools.json' with { type: 'json' };

/** Vocabulary of one kind of thing, as a vocabulary file has it; `@name` in a list or a slot stands for shared text. */
interface KindSource {
  readonly category: string;
  readonly noun: string;
  readonly english: string;
  readonly gender: Gender;
  /** How the thing ages, which selects the sentences about its condition; `none` for things without one (a kitten). */
  readonly wear: keyof typeof conditions | 'none';
  readonly weight: number;
  /** It cannot be posted: it is too large, or an animal. */
  readonly bulky?: boolean;
  /** A text per brand, `Brand: Model~прозвище price x3; …`; `-` no brand, `_` no model, `x3` three times as common. */
  readonly models: readonly string[];
  /** name → `рус=english*1.2; …`: the English text when it differs, a price factor when it is not 1. */
  readonly slots?: Readonly<Record<string, string>>;
  readonly titles: readonly string[];
  /** Lines that begin with `~` are about use: they are left out for new and broken things. */
  readonly about: readonly string[];
  readonly titlesEn: readonly string[];
  readonly aboutEn: readonly string[];
}

interface Model {
  readonly brand?: string;
  readonly model: string;
  /** The colloquial name: «айфон 13». */
  readonly alias?: string;
  /** The price of a new one, in roubles. */
  readonly price: number;
  readonly weight: number;
}

interface SlotValue {
  readonly ru: string;
  readonly en: string;
  readonly factor: number;
}

/** A condition, its effect on the price and the sentences of sellers about it. */
interface Condition {
  readonly name: string;
  readonly weight: number;
  /** Share of the price when new. */
  readonly factor: readonly number[];
  readonly ru: readonly string[];
  readonly en: readonly string[];
}

const SHARED_LINES: Readonly<Record<string, readonly string[]>> = sale.lines;
const SHARED_SLOTS: Readonly<Record<string, string>> = sale.slots;

const KINDS = (
  [
    ...phones,
    ...computers,
    ...electronics,
    ...appliances,
    ...furniture,
    ...household,
    ...clothes,
    ...children,
    ...sport,
    ...tools,
    ...culture,
    ...animals,
  ] as readonly KindSource[]
).map((source) => ({
  ...source,
  models: source.models.flatMap(modelsOf),
  slots: Object.entries(source.slots ?? {}).map(
    ([name, text]) => [name, slotValues(SHARED_SLOTS[text] ?? text)] as const,
  ),
  about: withShared(source.about, SHARED_LINES),
  aboutEn: withShared(source.aboutEn, SHARED_LINES),
}));

type Kind = (typeof KINDS)[number];

/** An ad for a thing of everyday use, from a kind, a model, a condition and a city. */
export function goodsAd(random: Random): Draft {
  const kind = random.weighted(KINDS);
  const language = languageOf(random);
  const city = random.weighted(CITIES);
  const model = random.weighted(kind.models);
  const condition = kind.wear === 'none' ? undefined : random.weighted<Condition>(conditions[kind.wear]);
  const chosen = new Map(kind.slots.map(([name, values]) => [name, random.pick(values)] as const));
  const voice: Voice = { random, gender: kind.gender, slot: slotsOf(kind, model, chosen, city, language, random) };
  return {
    title: titleOf(language === 'ru' ? kind.titles : kind.titlesEn, voice),
    description: describe(kind, condition, language, voice),
    attributes: {
      category: kind.category,
      ...(model.brand === undefined ? {} : { brand: model.brand }),
      ...(condition === undefined ? {} : { condition: condition.name }),
      city: city.name,
      price: priceOf(model, condition, [...chosen.values()], random),
    },
  };
}

function describe(kind: Kind, condition: Condition | undefined, language: Language, voice: Voice): string {
  const { random } = voice;
  const about = language === 'ru' ? kind.about : kind.aboutEn;
  const unused = condition?.name === 'новое' || condition?.name === 'на запчасти';
  const fitting = unused ? about.filter((line) => !line.startsWith('~')) : about;
  const first = random.pick(fitting);
  // A second line that fills the same slots would say the same thing twice.
  const others = fitting.filter((line) => line !== first && !shareSlots(line, first));
  const terms = kind.bulky === true ? sale.terms[language] : [...sale.terms[language], ...sale.postalTerms[language]];
  const templates = [
    first,
    ...(others.length > 0 && random.chance(0.5) ? [random.pick(others)] : []),
    ...(condition !== undefined ? [random.pick(withShared(condition[language], SHARED_LINES))] : []),
    ...(condition !== undefined && !unused && random.chance(0.3) ? [random.pick(sale.reasons[language])] : []),
    ...(random.chance(0.6) ? [random.pick(terms)] : []),
  ];
  // A template may hold two sentences, so four templates are the maximum.
  return descriptionOf(
    templates.slice(0, 4).map((template) => template.replace(/^~ /, '')),
    voice,
  );
}

function priceOf(model: Model, condition: Condition | undefined, slots: readonly SlotValue[], random: Random): number {
  const [from = 0, to = 0] = condition?.factor ?? [0.75, 1.15];
  const factor = slots.reduce((product, slot) => product * slot.factor, from + (to - from) * random.next());
  return roundPrice(model.price * factor, random);
}

function slotsOf(
  kind: Kind,
  model: Model,
  chosen: ReadonlyMap<string, SlotValue>,
  city: City,
  language: Language,
  random: Random,
): Voice['slot'] {
  // A Russian description instead of a model («угловой») has no English form; a Russian brand is transliterated.
  const name = language === 'en' && /[а-яё]/i.test(model.model) ? '' : model.model;
  const brand = language === 'en' ? transliterate((model.brand ?? '').replace('Яндекс', 'Yandex')) : model.brand;
  const full = [brand, name].filter(Boolean).join(' ');
  let place: string | undefined;
  const slot = (asked: string): string => {
    switch (asked) {
      case 'full':
        return full;
      case 'model':
        return name;
      case 'alias':
        return language === 'ru' && model.alias !== undefined ? model.alias : full;
      case 'place':
        place ??= placeIn(city, random, language === 'en');
        return place;
      default: {
        const value = chosen.get(asked);
        if (value !== undefined) return value[language];
        const lower = asked.charAt(0).toLowerCase() + asked.slice(1);
        if (lower !== asked && chosen.has(lower)) return capital(agree(slot(lower), kind.gender));
        throw new Error(`${kind.noun}: no slot $${asked}`);
      }
    }
  };
  return slot;
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
