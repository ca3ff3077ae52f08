import {
  agree,
  capital,
  type Draft,
  type Gender,
  hurried,
  languageOf,
  lines,
  paragraph,
  type Random,
  render,
  roundPrice,
  shareSlots,
  transliterate,
} from '../ad.ts';
import { CITIES, placeIn } from '../cities.ts';
import { CARS, type CarModel } from './vehicles.ts';

/** noun | gender | english | roubles from–to | weight */
const PARTS = table(`
  бампер передний | m | front bumper | 3500–16000 | 5
  бампер задний | m | rear bumper | 3000–14000 | 4
  фара левая | f | left headlight | 2500–22000 | 4
  фара правая | f | right headlight | 2500–22000 | 4
  капот | m | bonnet | 4500–24000 | 4
  крыло переднее | n | front wing | 2000–11000 | 3
  дверь передняя левая | f | front left door | 4000–18000 | 3
  двигатель контрактный | m | engine | 35000–180000 | 3
  коробка автомат | f | automatic gearbox | 25000–120000 | 2
  коробка механика | f | manual gearbox | 12000–45000 | 2
  генератор | m | alternator | 3500–14000 | 3
  стартер | m | starter motor | 2500–10000 | 3
  радиатор охлаждения | m | radiator | 2500–12000 | 3
  амортизаторы передние | p | front shock absorbers | 4000–16000 | 3
  колодки тормозные | p | brake pads | 1200–5500 | 3
  зеркало левое | n | left mirror | 1800–13000 | 3
  рулевая рейка | f | steering rack | 6000–32000 | 2
  глушитель | m | exhaust | 2500–12000 | 2
  магнитола штатная | f | head unit | 3500–24000 | 3
  коврики салона | p | floor mats | 900–4500 | 3
  чехлы на сиденья | p | seat covers | 1800–9000 | 3
`);

const TYRES = lines(`
  Nokian Hakkapeliitta 9
  Nokian Nordman 7
  Michelin X-Ice Snow
  Continental IceContact 3
  Bridgestone Blizzak VRX
  Yokohama Ice Guard IG65
  Hankook Winter i*Pike
  Viatti Brina
  Cordiant Snow Cross
  Gislaved Nord Frost 200
  Toyo Observe GSI-6
  Pirelli Cinturato P7
  Michelin Primacy 4
  Hankook Kinergy Eco 2
  Kama Breeze
`);
const TYRE_SIZES: readonly (readonly [size: string, price: number])[] = [
  ['175/65 R14', 3300],
  ['185/65 R15', 4200],
  ['195/65 R15', 4500],
  ['205/55 R16', 5300],
  ['215/60 R16', 6200],
  ['215/65 R17', 8000],
  ['225/45 R17', 8300],
  ['235/55 R18', 11_500],
  ['265/60 R18', 13_500],
  ['245/45 R19', 15_000],
];

export function partAd(random: Random): Draft {
  return random.chance(0.4) ? tyreAd(random) : spareAd(random);
}

function spareAd(random: Random): Draft {
  const car = random.weighted(CARS);
  const part = random.weighted(PARTS.filter(({ noun }) => hasPart(car, noun)));
  const english = languageOf(random) === 'en';
  const city = random.weighted(CITIES);
  const isLada = car.make.startsWith('LADA');
  const name = isLada ? car.model : `${car.make} ${car.model}`;
  const year = random.between(car.years[0], Math.max(car.years[0], car.years[1] - 3));
  const slots: Readonly<Record<string, string>> = {
    noun: english ? part.english : part.noun,
    name: english ? transliterate(name.replace('серии', 'series').replace('-класс', '-Class')) : name,
    years: `${year}–${Math.min(car.years[1], year + random.between(2, 6))}`,
    code: `${random.between(10, 99)}${random.between(100, 999)}-${random.between(10_000, 99_999)}`,
    place: placeIn(city, random, english),
  };
  const titles = english ? SPARE_TITLES_EN : SPARE_TITLES;
  const about = english ? SPARE_EN : SPARE;
  return finish(titles, about, part.gender, slots, random, {
    category: 'запчасти и шины',
    make: car.make,
    model: isLada ? car.model.replace('LADA ', '') : car.model,
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
  const tyre = random.pick(TYRES);
  const [size, each] = random.pick(TYRE_SIZES);
  const english = languageOf(random) === 'en';
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
    place: placeIn(city, random, english),
  };
  const share = isNew ? 0.95 : 0.12 + tread * 0.06;
  return finish(english ? TYRE_TITLES_EN : TYRE_TITLES, english ? TYRE_EN : TYRE, 'p', slots, random, {
    category: 'запчасти и шины',
    city: city.name,
    price: roundPrice(each * count * share * (0.85 + 0.3 * random.next()), random),
  });
}

function finish(
  titles: readonly string[],
  about: readonly string[],
  gender: Gender,
  slots: Readonly<Record<string, string>>,
  random: Random,
  attributes: Draft['attributes'],
): Draft {
  const voice = { random, gender, slot: (name: string) => agree(slots[name] ?? missing(name), gender) };
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
    title: hurried(capital(render(random.pick(titles), voice)), random),
    description: paragraph(templates.map((template) => render(template, voice))),
    attributes,
  };
}

function missing(name: string): never {
  throw new Error(`no slot $${name}`);
}

function priceWithin([from, to]: readonly [number, number], level: number, random: Random): number {
  return roundPrice(from + (to - from) * (0.15 * random.next() + level * (0.5 + 0.35 * random.next())), random);
}

function table(text: string) {
  return lines(text).map((line) => {
    const [noun = '', gender = '', english = '', prices = '', weight = ''] = line.split(' | ');
    const [from = 0, to = 0] = prices.split('–').map(Number);
    return { noun, gender: gender as Gender, english, price: [from, to] as const, weight: Number(weight) };
  });
}

const SPARE_TITLES = lines(`
  $noun $name
  $noun на $name
  $noun $name $years
  $name: $noun
`);
const SPARE = lines(`
  Подходит на машины $years годов, [оригинал|хороший аналог]
  Номер детали $code, [сверьте перед покупкой|подберём по VIN]
  [Состояние отличное, с целой машины|Состояние хорошее, с разбора|Состояние рабочее, есть мелкие царапины]
  [Отправляем транспортной компанией|Самовывоз, $place|Установим в нашем сервисе, $place], [гарантия на проверку 14 дней|проверка при покупке]
  На складе есть [и другие детали|кузовные детали и оптика|подвеска и двигатель], спрашивайте
`);
const SPARE_TITLES_EN = lines(`
  $name $noun
  $noun for $name
`);
const SPARE_EN = lines(`
  Fits cars made in $years
  Part number $code, please check before you buy
  Good working condition, from a dismantled car
  Pick-up near $place, or I can ship it
`);
const TYRE_TITLES = lines(`
  Шины $tyre $size
  $season шины $tyre $size, $count
  $rubber резина $tyre $size
  $tyre $size, $count
`);
const TYRE = lines(`
  $season шины $tyre, размер $size, $tread
  $count, $tread, [без грыж и порезов|ремонта не было|износ ровный]
  [Хранились в гараже|Сменил машину, не подходят по размеру|Лежат на балконе], $place
  [Помогу погрузить|Можно поставить у нас, шиномонтаж рядом], торг [небольшой|при осмотре]
  Размер $size, $count. [Шумят мало|Дорогу держат отлично|Тихие и мягкие]
`);
const TYRE_TITLES_EN = lines(`
  $tyre $size tyres
  $season tyres $tyre $size, $count
`);
const TYRE_EN = lines(`
  $season tyres, $size, $tread
  No cuts or bulges, $tread
  Sold my car and do not need them, $place
`);
