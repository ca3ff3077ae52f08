import { range, transliterate } from './ad.ts';
import cars from './vocabulary/cars.json' with { type: 'json' };
import vehicles from './vocabulary/vehicles.json' with { type: 'json' };

/** A vehicle other than a car, such as a truck or a boat. */
export interface Vehicle {
  readonly category: string;
  readonly make: string;
  readonly model: string;
  readonly body: string;
  readonly noun: string;
  readonly english: string;
  readonly years: readonly [from: number, to: number];
  readonly prices: readonly [oldest: number, newest: number];
  /** Kilometres per year; 0 for vehicles that count engine hours or nothing. */
  readonly yearlyKm: number;
  readonly weight: number;
}

/** Rows by category: make | model | body | noun / English | years | thousand roubles | thousand km a year | weight */
export const VEHICLES: readonly Vehicle[] = Object.entries(vehicles).flatMap(([category, rows]) =>
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
      yearlyKm: Number(km) * 1000,
      weight: Number(weight),
    };
  }),
);

export interface CarModel {
  readonly make: string;
  /** Make and model, as sellers write them. */
  readonly name: string;
  readonly model: string;
  /** The colloquial name in Russian: «тойота камри». */
  readonly alias: string;
  readonly bodies: readonly string[];
  readonly years: readonly [from: number, to: number];
  /** Roubles for the oldest and for the newest year, in fair condition. */
  readonly prices: readonly [oldest: number, newest: number];
  /** `1.6 MT, 87 л.с.` */
  readonly engines: readonly string[];
  readonly weight: number;
}

/** Rows by `make / alias`: model / alias | bodies | years | thousand roubles | engines | weight */
export const CARS: readonly CarModel[] = Object.entries(cars).flatMap(([makes, rows]) =>
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
      name: isLada ? model : `${make} ${model}`,
      model: isLada ? model.replace('LADA ', '') : model,
      alias,
      bodies: bodies.split(', '),
      years: range(years),
      prices: roubles(prices),
      engines: engines.split(', ').map((engine) => engine.replace(/ (\d+)$/, ', $1 л.с.')),
      weight: Number(weight),
    };
  }),
);

function roubles(thousands: string): readonly [number, number] {
  const [oldest, newest] = range(thousands);
  return [oldest * 1000, newest * 1000];
}

export function englishName(name: string): string {
  return transliterate(name.replace('серии', 'series').replace('-класс', '-Class'));
}
