import {
  type Draft,
  descriptionOf,
  type Gender,
  languageOf,
  type Random,
  range,
  roundPrice,
  shareSlots,
  titleOf,
  voiceOf,
} from './ad.ts';
import { CARS, type CarModel, englishName } from './cars.ts';
import { CITIES, cityWords } from './cities.ts';
import vocabulary from './vocabulary/parts.json' with { type: 'json' };

/** A row: noun | gender | English | roubles from–to | weight */
const PARTS = vocabulary.parts.map((row) => {
  const [noun = '', gender = '', english = '', prices = '', weight = ''] = row.split(' | ');
  return { noun, gender: gender as Gender, english, price: range(prices), weight: Number(weight) };
});

export function partAd(random: Random): Draft {
  return random.chance(0.4) ? tyreAd(random) : spareAd(random);
}

function spareAd(random: Random): Draft {
  const car = random.weighted(CARS);
  const part = random.weighted(PARTS.filter(({ noun }) => hasPart(car, noun)));
  const language = languageOf(random);
  const english = language === 'en';
  const city = random.weighted(CITIES);
  const year = random.between(car.years[0], Math.max(car.years[0], car.years[1] - 3));
  const slots: Readonly<Record<string, string>> = {
    noun: english ? part.english : part.noun,
    name: english ? englishName(car.name) : car.name,
    years: `${year}–${Math.min(car.years[1], year + random.between(2, 6))}`,
    code: `${random.between(10, 99)}${random.between(100, 999)}-${random.between(10_000, 99_999)}`,
    ...cityWords(city, random, english),
  };
  return finish(vocabulary.spare[language], part.gender, slots, random, {
    category: 'запчасти и шины',
    make: car.make,
    model: car.model,
    city: city.name,
    // Parts of expensive cars cost the upper end of their range.
    price: priceWithin(part.price, Math.min(1, car.prices[1] / 5_000_000), random),
  });
}

/** Whether a car has the part: not every car was made with an automatic gearbox or with a steering rack. */
function hasPart({ engines, years, make }: CarModel, noun: string): boolean {
  if (noun === 'коробка автомат') return engines.some((engine) => / (AT|CVT|AMT),/.test(engine));
  const isOld = years[0] < 1995 && /LADA|ГАЗ/.test(make);
  return !isOld || (noun !== 'рулевая рейка' && noun !== 'магнитола штатная');
}

function tyreAd(random: Random): Draft {
  const tyre = random.pick(vocabulary.tyres);
  const { size, price } = random.pick(vocabulary.tyreSizes);
  const language = languageOf(random);
  const english = language === 'en';
  const city = random.weighted(CITIES);
  const winter = /Ice|Hakka|Nordman|Winter|Brina|Snow|Frost|Blizzak|Observe/.test(tyre);
  const count = random.chance(0.75) ? 4 : random.chance(0.7) ? 2 : 1;
  const tread = random.between(3, 9);
  const isNew = random.chance(0.2);
  const slots: Readonly<Record<string, string>> = {
    tyre,
    size,
    season: english ? (winter ? 'winter' : 'summer') : winter ? 'зимние' : 'летние',
    rubber: winter ? 'зимняя' : 'летняя',
    count: english
      ? (['one', 'a pair', '', 'set of four'][count - 1] ?? '')
      : (['одна штука', 'пара', '', 'комплект 4 шт.'][count - 1] ?? ''),
    tread: isNew
      ? english
        ? 'brand new'
        : 'новые, не стояли на машине'
      : english
        ? `tread depth ${tread} mm`
        : `остаток протектора ${tread} мм`,
    ...cityWords(city, random, english),
  };
  const share = isNew ? 0.95 : 0.12 + tread * 0.06;
  return finish(vocabulary.tyre[language], 'p', slots, random, {
    category: 'запчасти и шины',
    city: city.name,
    price: roundPrice(price * count * share * (0.85 + 0.3 * random.next()), random),
  });
}

function finish(
  { titles, about }: Readonly<Record<'titles' | 'about', readonly string[]>>,
  gender: Gender,
  slots: Readonly<Record<string, string>>,
  random: Random,
  attributes: Draft['attributes'],
): Draft {
  const voice = voiceOf(random, gender, slots);
  const first = random.pick(about);
  const rest = about.filter((line) => line !== first && !shareSlots(line, first));
  const second = rest.length === 0 ? undefined : random.pick(rest);
  const third = rest.filter((line) => second !== undefined && line !== second && !shareSlots(line, second));
  const templates = [
    first,
    ...(second === undefined ? [] : [second]),
    ...(third.length > 0 && random.chance(0.7) ? [random.pick(third)] : []),
  ];
  return {
    title: titleOf(titles, voice),
    description: descriptionOf(templates, voice),
    attributes,
  };
}

function priceWithin([from, to]: readonly [number, number], level: number, random: Random): number {
  return roundPrice(from + (to - from) * (0.15 * random.next() + level * (0.5 + 0.35 * random.next())), random);
}
