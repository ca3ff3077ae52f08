import { type Random, transliterate } from './ad.ts';
import vocabulary from './vocabulary/cities.json' with { type: 'json' };

export interface City {
  readonly name: string;
  /** «в Москве». */
  readonly within: string;
  readonly english: string;
  readonly weight: number;
  /** Thousand roubles per square metre of an ordinary flat. */
  readonly metre: number;
  /** Monthly pay relative to the country's median. */
  readonly pay: number;
  readonly places: readonly string[];
}

/** A row: name | within | English | weight | thousand roubles per m² | pay | districts and stations a seller would name */
export const CITIES: readonly City[] = vocabulary.cities.map((line) => {
  const [name = '', within = '', english = '', weight = '', metre = '', pay = '', places = ''] = line.split(' | ');
  return {
    name,
    within,
    english,
    weight: Number(weight),
    metre: Number(metre),
    pay: Number(pay),
    places: places.split(', '),
  };
});

export function placeIn(city: City, random: Random, english: boolean): string {
  const place = random.pick(city.places);
  if (!english) return place;
  const words = place.replace(/^м\. (.*)$/, '$1 metro').replace('район', 'district');
  return transliterate(words.replace('Левый берег', 'Levoberezhny'));
}

/** The words about a city that the templates of ads use. */
export function cityWords(city: City, random: Random, english: boolean) {
  return {
    city: english ? city.english : city.name,
    within: english ? `in ${city.english}` : city.within,
    place: placeIn(city, random, english),
  };
}

/** «ул. Мира, 14к2». */
export function addressIn(random: Random): string {
  const block = random.chance(0.15) ? `к${random.between(1, 4)}` : '';
  return `${random.pick(vocabulary.streets)}, ${random.between(1, 140)}${block}`;
}
