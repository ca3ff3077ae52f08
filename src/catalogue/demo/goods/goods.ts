import {
  agree,
  capital,
  type Draft,
  hurried,
  type Language,
  languageOf,
  paragraph,
  type Random,
  render,
  roundPrice,
  shareSlots,
  transliterate,
  type Voice,
} from '../ad.ts';
import { CITIES, type City, placeIn } from '../cities.ts';
import { ANIMALS, CHILDREN } from './animals.ts';
import { APPLIANCES } from './appliances.ts';
import { CLOTHES, SHOES } from './clothes.ts';
import { CONDITIONS, type Condition } from './conditions.ts';
import { COMPUTERS, PHONES } from './electronics.ts';
import { FURNITURE } from './furniture.ts';
import { HOUSEHOLD, TOOLS } from './household.ts';
import { type Kind, type Model, POSTAL_TERMS, REASONS, type SlotValue, TERMS } from './kind.ts';
import { BOOKS, CAMERAS, CONSOLES, INSTRUMENTS, SOUND } from './leisure.ts';
import { BICYCLES, SPORT } from './sport.ts';

const KINDS: readonly Kind[] = [
  ...PHONES,
  ...COMPUTERS,
  ...SOUND,
  ...CONSOLES,
  ...CAMERAS,
  ...APPLIANCES,
  ...FURNITURE,
  ...HOUSEHOLD,
  ...SHOES,
  ...CLOTHES,
  ...CHILDREN,
  ...BICYCLES,
  ...SPORT,
  ...TOOLS,
  ...INSTRUMENTS,
  ...BOOKS,
  ...ANIMALS,
];

/** An ad for a thing of everyday use, from a kind, a model, a condition and a city. */
export function goodsAd(random: Random): Draft {
  const kind = random.weighted(KINDS);
  const language = languageOf(random);
  const city = random.weighted(CITIES);
  const model = random.weighted(kind.models);
  const condition = kind.wear === 'none' ? undefined : random.weighted(CONDITIONS[kind.wear]);
  const chosen = new Map(kind.slots.map(([name, values]) => [name, random.pick(values)] as const));
  const voice: Voice = { random, gender: kind.gender, slot: slotsOf(kind, model, chosen, city, language, random) };

  const about = language === 'ru' ? kind.about : kind.aboutEn;
  const titles = language === 'ru' ? kind.titles : kind.titlesEn;
  const title = capital(render(random.pick(titles), voice));
  return {
    title: hurried(title, random),
    description: describe(about, kind, condition, language, voice),
    attributes: {
      category: kind.category,
      ...(model.brand === undefined ? {} : { brand: model.brand }),
      ...(condition === undefined ? {} : { condition: condition.name }),
      city: city.name,
      price: priceOf(model, condition, [...chosen.values()], random),
    },
  };
}

function describe(
  about: readonly string[],
  kind: Kind,
  condition: Condition | undefined,
  language: Language,
  voice: Voice,
): string {
  const { random } = voice;
  const unused = condition?.name === 'новое' || condition?.name === 'на запчасти';
  const fitting = unused ? about.filter((line) => !line.startsWith('~')) : about;
  const first = random.pick(fitting);
  // A second line that fills the same slots would say the same thing twice.
  const others = fitting.filter((line) => line !== first && !shareSlots(line, first));
  const terms = kind.bulky === true ? TERMS[language] : [...TERMS[language], ...POSTAL_TERMS[language]];
  const templates = [
    first,
    ...(others.length > 0 && random.chance(0.5) ? [random.pick(others)] : []),
    ...(condition !== undefined ? [random.pick(condition[language])] : []),
    ...(condition !== undefined && !unused && random.chance(0.3) ? [random.pick(REASONS[language])] : []),
    ...(random.chance(0.6) ? [random.pick(terms)] : []),
  ];
  // A template may hold two sentences, so four templates are the maximum.
  return paragraph(templates.slice(0, 4).map((template) => render(template.replace(/^~ /, ''), voice)));
}

function priceOf(model: Model, condition: Condition | undefined, slots: readonly SlotValue[], random: Random): number {
  const [from, to] = condition?.factor ?? [0.75, 1.15];
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
): (name: string) => string {
  // A Russian description instead of a model («угловой») has no English form; a Russian brand is transliterated.
  const name = language === 'en' && /[а-яё]/i.test(model.model) ? '' : model.model;
  const brand = language === 'en' ? englishBrand(model.brand ?? '') : (model.brand ?? '');
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
        if (value !== undefined) return language === 'ru' ? value.ru : value.en;
        const lower = asked.charAt(0).toLowerCase() + asked.slice(1);
        if (lower !== asked && chosen.has(lower)) return capital(agree(slot(lower), kind.gender));
        throw new Error(`${kind.noun}: no slot $${asked}`);
      }
    }
  };
  return slot;
}

function englishBrand(brand: string): string {
  return brand === 'Яндекс' ? 'Yandex' : transliterate(brand);
}
