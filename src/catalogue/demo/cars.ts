import { range, transliterate } from './ad.ts';
import cars from './vocabulary/cars.json' with { type: 'json' };
import vehicles from './vocabulary/vehicles.json' with { type: 'json' };

export type Vehicle = (typeof VEHICLES)[number];
export type CarModel = (typeof CARS)[number];

/**
 * Vehicles other than cars, such as trucks and boats. Rows by category:
 * make | model | body | noun / English | years | thousand roubles | thousand km a year | weight
 */
export const VEHICLES = Object.entries(vehicles).flatMap(([category, rows]) =>
  rows.map((row) => {
    const [make = '', model = '', body = '', nouns = '', years = '', prices = '', km = '', weight = ''] =
      row.split(' | ');
    const [noun = '', english = ''] = nouns.split(' / ');
    return {
      category,
      make,
      model,
      body,
      noun,
      english,
      years: range(years),
      prices: roubles(prices),
      /** Kilometres per year; 0 for vehicles that count engine hours or nothing. */
      yearlyKm: Number(km) * 1000,
      weight: Number(weight),
    };
  }),
);

/** Rows by `make / alias`: model / alias | bodies | years | thousand roubles | engines | weight */
export const CARS = Object.entries(cars).flatMap(([makes, rows]) =>
  rows.map((row) => {
    const [make = '', makeAlias = ''] = makes.split(' / ');
    const [names = '', bodies = '', years = '', prices = '', engines = '', weight = ''] = row.split(' | ');
    const [model = '', nick = ''] = names.split(' / ');
    const alias =
      /^(лада|ваз|мазда|шестёрка|семёрка|девятка|десятка|четырка|нива|шнива|волга|крузак|прадо|матрёшка)/.test(nick)
        ? nick
        : `${makeAlias} ${nick}`;
    // «LADA (ВАЗ)» is one make with two names; the model's name contains the right one.
    const isLada = make.startsWith('LADA');
    return {
      make,
      /** Make and model, as sellers write them. */
      name: isLada ? model : `${make} ${model}`,
      model: isLada ? model.replace('LADA ', '') : model,
      /** The colloquial name in Russian: «тойота камри». */
      alias,
      bodies: bodies.split(', '),
      years: range(years),
      prices: roubles(prices),
      /** `1.6 MT, 87 л.с.` */
      engines: engines.split(', ').map((engine) => engine.replace(/ (\d+)$/, ', $1 л.с.')),
      weight: Number(weight),
    };
  }),
);

/** Roubles for the oldest and for the newest year, in fair condition. */
function roubles(thousands: string): readonly [oldest: number, newest: number] {
  const [oldest, newest] = range(thousands);
  return [oldest * 1000, newest * 1000];
}

export function englishName(name: string): string {
  return transliterate(name.replace('серии', 'series').replace('-класс', '-Class'));
}
