import {
  capital,
  type Draft,
  grouped,
  hurried,
  type Language,
  languageOf,
  paragraph,
  plural,
  type Random,
  render,
  roundPrice,
  transliterate,
  type Voice,
} from '../ad.ts';
import { CITIES, type City, placeIn } from '../cities.ts';
import { partAd } from './parts.ts';
import { CARS, type CarModel, VEHICLES, type Vehicle } from './vehicles.ts';
import { carWords, type VehicleWords, vehicleWords } from './words.ts';

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
  const isLada = car.make.startsWith('LADA');
  // «LADA (ВАЗ)» is one make with two names; the model's name contains the right one.
  const name = isLada ? car.model : `${car.make} ${car.model}`;
  const words = { name, alias: car.alias, year, km, body, engine: engineOf(engine, language) };
  const { title, description } = compose(carWords[language], words, 'm', city, language, random);
  return {
    title,
    description,
    attributes: {
      category: 'легковые',
      make: car.make,
      model: isLada ? car.model.replace('LADA ', '') : car.model,
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
  const words = { name, alias: noun, year, km, body: vehicle.body, noun, category: vehicle.category };
  const gender = vehicle.noun === 'лодка' ? 'f' : 'm';
  const { title, description } = compose(vehicleWords(vehicle, language), words, gender, city, language, random);
  return {
    title,
    description,
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
  source: VehicleWords,
  words: Words,
  gender: Voice['gender'],
  city: City,
  language: Language,
  random: Random,
): { title: string; description: string } {
  const english = language === 'en';
  // About one owner per six years of age.
  const owners = Math.min(5, 1 + Math.floor(((THIS_YEAR - words.year) / 6) * random.next() * 1.4));
  const slots: Readonly<Record<string, string>> = {
    ...words,
    name: english ? transliterate(words.name.replace('серии', 'series').replace('-класс', '-Class')) : words.name,
    year: String(words.year),
    km: words.km === undefined ? '' : grouped(words.km),
    place: placeIn(city, random, english),
    city: english ? city.english : city.name,
    within: english ? `in ${city.english}` : city.within,
    owners: english
      ? `${owners} ${owners === 1 ? 'owner' : 'owners'}`
      : `${owners} ${plural(owners, 'владелец', 'владельца', 'владельцев')} по ПТС`,
    hours: grouped(Math.max(1, THIS_YEAR - words.year) * random.between(4, 40) * 10),
  };
  const voice: Voice = {
    random,
    gender,
    slot: (name) => {
      const value = slots[name];
      if (value === undefined) throw new Error(`no slot $${name}`);
      return value;
    },
  };
  const about = [...(words.km === undefined || words.km < 25_000 ? source.fresh : source.used)];
  const first = random.pick(about);
  const second = random.pick(about.filter((line) => line !== first));
  const templates = [
    random.pick(source.facts),
    first,
    ...(random.chance(0.45) ? [second] : []),
    ...(random.chance(0.5) ? [random.pick(source.terms)] : []),
  ];
  return {
    title: hurried(capital(render(random.pick(source.titles), voice)), random),
    description: paragraph(templates.map((template) => render(template, voice))),
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
