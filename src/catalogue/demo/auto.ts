import {
  type Draft,
  descriptionOf,
  type Gender,
  grouped,
  type Language,
  languageOf,
  plural,
  type Random,
  roundPrice,
  titleOf,
  voiceOf,
} from './ad.ts';
import { CARS, type CarModel, englishName, VEHICLES, type Vehicle } from './cars.ts';
import { CITIES, type City, cityWords } from './cities.ts';
import { partAd } from './parts.ts';
import vocabulary from './vocabulary/auto.json' with { type: 'json' };

/** The year of the newest ads. */
const THIS_YEAR = 2026;

const CATEGORIES = [
  { make: carAd, weight: 60 },
  { make: vehicleAd, weight: 18 },
  { make: partAd, weight: 22 },
] as const;

/** An ad for a car, another vehicle, or a part. */
export function autoAd(random: Random): Draft {
  return random.weighted(CATEGORIES).make(random);
}

function carAd(random: Random): Draft {
  const car = random.weighted(CARS);
  const language = languageOf(random);
  const city = random.weighted(CITIES);
  const year = yearOf(car.years, random);
  const km = mileage(year, 15_000, random);
  const body = random.pick(car.bodies);
  const engine = random.pick(car.engines);
  const words = { name: car.name, alias: car.alias, year, km, body, engine: engineOf(engine, language) };
  return {
    ...compose(vocabulary.car[language], words, 'm', city, language, random),
    attributes: {
      category: 'легковые',
      make: car.make,
      model: car.model,
      body,
      city: city.name,
      year,
      mileage: km,
      price: agedPrice(car, year, km, 15_000, random),
    },
  };
}

function vehicleAd(random: Random): Draft {
  const vehicle = random.weighted(VEHICLES);
  const language = languageOf(random);
  const city = random.weighted(CITIES);
  const year = yearOf(vehicle.years, random);
  const km = vehicle.yearlyKm === 0 ? undefined : mileage(year, vehicle.yearlyKm, random);
  const name = `${vehicle.make} ${vehicle.model}`;
  const noun = language === 'ru' ? vehicle.noun : vehicle.english;
  const words = { name, alias: noun, year, km, body: vehicle.body, noun };
  const gender = vehicle.noun === 'лодка' ? 'f' : 'm';
  return {
    ...compose(vehicleTemplates(vehicle, language), words, gender, city, language, random),
    attributes: {
      category: vehicle.category,
      make: vehicle.make,
      model: vehicle.model,
      body: vehicle.body,
      city: city.name,
      year,
      ...(km === undefined ? {} : { mileage: km }),
      price: agedPrice(vehicle, year, km ?? 0, vehicle.yearlyKm, random),
    },
  };
}

interface Templates {
  readonly titles: readonly string[];
  /** Facts from the vehicle's documents. */
  readonly facts: readonly string[];
  /** For a nearly new vehicle. */
  readonly fresh: readonly string[];
  readonly used: readonly string[];
}

function vehicleTemplates({ category, yearlyKm }: Vehicle, language: Language): Templates {
  if (language === 'en') {
    const { titles, facts, about } = vocabulary.vehicle.en;
    return { titles, facts: yearlyKm > 0 ? facts.distance : facts.age, fresh: about, used: about };
  }
  const { titles, facts, about } = vocabulary.vehicle.ru;
  const lines = about[category as keyof typeof about];
  const measured = yearlyKm > 0 ? facts.distance : category === 'водный транспорт' ? facts.age : facts.hours;
  return { titles, facts: measured, fresh: lines, used: lines };
}

interface Words {
  readonly name: string;
  readonly alias: string;
  readonly year: number;
  readonly km: number | undefined;
  readonly body: string;
  readonly engine?: string;
  readonly noun?: string;
}

function compose(
  source: Templates,
  words: Words,
  gender: Gender,
  city: City,
  language: Language,
  random: Random,
): Omit<Draft, 'attributes'> {
  const english = language === 'en';
  // About one owner per six years of age.
  const owners = Math.min(5, 1 + Math.floor(((THIS_YEAR - words.year) / 6) * random.next() * 1.4));
  const slots: Readonly<Record<string, string>> = {
    ...words,
    name: english ? englishName(words.name) : words.name,
    year: String(words.year),
    km: words.km === undefined ? '' : grouped(words.km),
    ...cityWords(city, random, english),
    owners: english
      ? `${owners} ${owners === 1 ? 'owner' : 'owners'}`
      : `${owners} ${plural(owners, 'владелец', 'владельца', 'владельцев')} по ПТС`,
    hours: grouped(Math.max(1, THIS_YEAR - words.year) * random.between(4, 40) * 10),
  };
  const voice = voiceOf(random, gender, slots);
  const about = words.km === undefined || words.km < 25_000 ? source.fresh : source.used;
  const first = random.pick(about);
  const second = random.pick(about.filter((line) => line !== first));
  const templates = [
    random.pick(source.facts),
    first,
    ...(random.chance(0.45) ? [second] : []),
    ...(random.chance(0.5) ? [random.pick(vocabulary.terms[language])] : []),
  ];
  return {
    title: titleOf(source.titles, voice),
    description: descriptionOf(templates, voice),
  };
}

/** Recent years are more likely, up to the last year of the model. */
function yearOf([from, to]: readonly [number, number], random: Random): number {
  return Math.max(from, to - Math.floor((to - from + 1) * random.next() * (0.4 + 0.6 * random.next())));
}

/** The yearly distance falls with age, because old cars are driven less. */
function mileage(year: number, yearlyKm: number, random: Random): number {
  const age = THIS_YEAR - year;
  const years = age <= 12 ? age : 12 + (age - 12) * 0.25;
  const km = Math.max(0.25, years) * yearlyKm * (0.55 + 0.9 * random.next());
  return Math.max(1, Math.round(km / 1000)) * 1000;
}

function agedPrice(
  thing: Pick<CarModel | Vehicle, 'years' | 'prices'>,
  year: number,
  km: number,
  yearlyKm: number,
  random: Random,
): number {
  const [from, to] = thing.years;
  const [oldest, newest] = thing.prices;
  const share = to === from ? 1 : (year - from) / (to - from);
  const fair = oldest + (newest - oldest) * share * (0.45 + 0.55 * share);
  const expectedKm = Math.max(0.25, Math.min(12, THIS_YEAR - year)) * yearlyKm;
  const wear = yearlyKm === 0 ? 1 : 1 - 0.12 * Math.min(1, Math.max(-1, km / expectedKm - 1));
  return roundPrice(fair * wear * (0.86 + 0.26 * random.next()), random);
}

const GEARBOXES: Readonly<Record<string, string>> = { MT: 'механика', AT: 'автомат', CVT: 'вариатор', AMT: 'робот' };

/** `1.6 MT, 87 л.с.` → «1.6 механика, 87 л.с.» or `1.6 MT, 87 hp`. */
function engineOf(engine: string, language: Language): string {
  if (language === 'en') return engine.replace('л.с.', 'hp').replace('d ', ' diesel ');
  return engine.replace(/(\d)d /, '$1 дизель, ').replace(/\b(MT|AT|CVT|AMT)\b/, (code) => GEARBOXES[code] ?? code);
}
