import {
  type Draft,
  descriptionOf,
  type Gender,
  type Language,
  languageOf,
  plural,
  type Random,
  roundPrice,
  titleOf,
  transliterate,
  voiceOf,
  withShared,
} from './ad.ts';
import { addressIn, CITIES, type City, cityWords } from './cities.ts';
import vocabulary from './vocabulary/realty.json' with { type: 'json' };

type Words = Readonly<Record<'titles' | 'facts' | 'about' | 'terms', readonly string[]>>;

interface Estate {
  readonly category: 'квартиры' | 'дома' | 'комнаты' | 'гаражи' | 'участки' | 'коммерческая недвижимость';
  readonly gender: Gender;
  readonly weight: number;
  readonly rentShare: number;
  /** Square metres; flats, houses and plots have their own rules. */
  readonly area: readonly number[];
  /** Price per metre relative to that of a flat in the same city. */
  readonly metreShare: number;
  /** Monthly rent as a share of the price. */
  readonly rentPerMonth: number;
  readonly sale: Readonly<Record<Language, Words>>;
  readonly rent: Readonly<Record<Language, Words>>;
}

type Deal = 'продажа' | 'аренда';

/** An ad that sells or lets a flat, a house, a room, a plot, a garage or commercial premises. */
export function realtyAd(random: Random): Draft {
  const estate = random.weighted(ESTATES);
  const language = languageOf(random);
  const city = random.weighted(CITIES);
  const deal: Deal = random.chance(estate.rentShare) ? 'аренда' : 'продажа';
  const shape = shapeOf(estate, random);
  const words = (deal === 'аренда' ? estate.rent : estate.sale)[language];
  const voice = voiceOf(random, estate.gender, slotsOf(shape, city, language, random));
  const first = random.pick(words.about);
  const others = words.about.filter((line) => line !== first);
  const templates = [
    random.pick(words.facts),
    first,
    ...(random.chance(0.5) ? [random.pick(others)] : []),
    ...(random.chance(0.65) ? [random.pick(withShared(words.terms, vocabulary.terms))] : []),
  ];
  return {
    title: titleOf(words.titles, voice),
    description: descriptionOf(templates, voice),
    attributes: {
      category: estate.category,
      deal,
      ...(shape.rooms === undefined ? {} : { rooms: shape.rooms }),
      area: shape.area,
      city: city.name,
      price: priceOf(estate, shape, city, deal, random),
    },
  };
}

interface Shape {
  readonly kind: Estate['category'];
  readonly rooms?: number;
  readonly studio: boolean;
  /** Square metres, one decimal. */
  readonly area: number;
  /** Hundreds of square metres, for houses and plots. */
  readonly plot: number;
  readonly floor: number;
  readonly floors: number;
}

/** Square metres of an ordinary flat by its rooms; index 0 is a studio. */
const FLAT_AREAS = [
  [19, 32],
  [30, 45],
  [42, 66],
  [57, 92],
  [74, 130],
  [110, 190],
] as const;

function shapeOf(estate: Estate, random: Random): Shape {
  const floors = random.pick([3, 5, 5, 5, 9, 9, 9, 10, 12, 14, 16, 17, 19, 24, 25]);
  const common = { kind: estate.category, studio: false, plot: 0, floors, floor: random.between(1, floors) };
  const metres = ([from = 0, to = 0]: readonly number[], whole = false): number => {
    // Small flats are more common. Documents give the area of a flat in tenths of a metre.
    const area = from + (to - from) * random.next() * (0.3 + 0.7 * random.next());
    return whole ? Math.round(area) : Math.round(area * 10) / 10;
  };
  switch (estate.category) {
    case 'квартиры': {
      const size = random.pick(
        [0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 5].filter((n) => n < 5 || random.chance(0.4)),
      );
      const area = metres(FLAT_AREAS[size] ?? FLAT_AREAS[1], random.chance(0.45));
      return { ...common, rooms: Math.max(1, size), studio: size === 0, area };
    }
    case 'дома': {
      const rooms = random.pick([2, 3, 3, 4, 4, 4, 5, 5, 6, 7]);
      const area = metres([rooms * 20, rooms * 42], true);
      return { ...common, rooms, area, plot: random.between(4, 20), floors: area > 90 ? random.between(1, 3) : 1 };
    }
    case 'участки': {
      const plot = random.pick([4, 5, 6, 6, 6, 7, 8, 8, 9, 10, 10, 10, 12, 12, 15, 15, 20, 25]);
      return { ...common, plot, area: plot * 100 };
    }
    default:
      return { ...common, area: metres(estate.area, true) };
  }
}

const COUNTS: Readonly<Record<Language, readonly string[]>> = {
  ru: ['студия', 'однокомнатная', 'двухкомнатная', 'трёхкомнатная', 'четырёхкомнатная', 'пятикомнатная'],
  en: ['studio', 'one-room', 'two-room', 'three-room', 'four-room', 'five-room'],
};
/** The colloquial word, in the nominative for titles and in the accusative: «сдам двушку». */
const SLANG = ['студия', 'однушка', 'двушка', 'трёшка', 'четырёшка', 'пятикомнатная'];
const SLANG_OBJECT = ['студию', 'однушку', 'двушку', 'трёшку', 'четырёшку', 'пятикомнатную'];
const COUNTS_OBJECT = [
  'студию',
  'однокомнатную',
  'двухкомнатную',
  'трёхкомнатную',
  'четырёхкомнатную',
  'пятикомнатную',
];

function slotsOf(shape: Shape, city: City, language: Language, random: Random): Readonly<Record<string, string>> {
  const english = language === 'en';
  const size = shape.studio ? 0 : (shape.rooms ?? 1);
  const area = String(shape.area);
  const flat = (list: readonly string[]) => list[Math.min(size, 5)] ?? '';
  // «студия» stands without «квартира».
  const word = (list: readonly string[], noun: string) => (shape.studio ? flat(list) : `${flat(list)} ${noun}`);
  const kitchen = Math.round(Math.min(22, 5.5 + shape.area * 0.06 + random.next() * 4));
  const minutes = random.between(2, 15);
  return {
    area: english ? area : area.replace('.', ','),
    rooms: String(shape.rooms ?? 1),
    roomsWord: `${shape.rooms ?? 1} ${plural(shape.rooms ?? 1, 'комната', 'комнаты', 'комнат')}`,
    short: shape.studio ? 'студия' : `${size}-к. квартира`,
    flat: english ? (shape.studio ? 'studio flat' : `${flat(COUNTS.en)} flat`) : word(COUNTS.ru, 'квартира'),
    flatObject: word(COUNTS_OBJECT, 'квартиру'),
    slang: flat(SLANG),
    slangObject: flat(SLANG_OBJECT),
    floor: String(shape.floor),
    floors: String(shape.floors),
    storeys: english
      ? shape.floors === 1
        ? 'one storey'
        : `${shape.floors} storeys`
      : `${shape.floors} ${plural(shape.floors, 'этаж', 'этажа', 'этажей')}`,
    lift: english
      ? shape.floors > 5
        ? 'there is a lift'
        : 'quiet yard'
      : shape.floors > 5
        ? 'лифт работает'
        : 'тихий двор',
    kitchen: String(kitchen),
    plot: english ? `${shape.plot * 100} m²` : `${shape.plot} ${plural(shape.plot, 'сотка', 'сотки', 'соток')}`,
    ...cityWords(city, random, english),
    address: english
      ? transliterate(addressIn(random).replace('пр-т', 'prospekt').replace('б-р', 'bulvar'))
      : addressIn(random),
    minutes: english ? String(minutes) : `${minutes} ${plural(minutes, 'минута', 'минуты', 'минут')}`,
    bath: shape.studio || random.chance(0.4) ? 'санузел совмещённый' : 'санузел раздельный',
    built: String(builtIn(shape, random)),
    km: String(random.between(4, 35)),
  };
}

/** The year of construction: houses of five storeys were built in the 1950s to 1980s, houses of twenty are recent. */
function builtIn(shape: Shape, random: Random): number {
  if (shape.kind === 'дома') return random.between(1965, 2024);
  if (shape.floors <= 5) return random.between(1957, 1988);
  return shape.floors <= 12 ? random.between(1974, 2012) : random.between(2004, 2025);
}

function priceOf(estate: Estate, shape: Shape, city: City, deal: Deal, random: Random): number {
  const metre = city.metre * 1000;
  // The price per metre is higher for small flats.
  const scale = shape.kind === 'квартиры' ? 1.15 - Math.min(0.3, shape.area / 500) : 1;
  const land = shape.plot * metre * 0.55;
  const worth =
    (shape.kind === 'участки' ? land : shape.area * metre * estate.metreShare * scale + land) *
    (0.8 + 0.4 * random.next());
  if (deal === 'продажа') return roundPrice(worth, random);
  // The monthly rent of a flat is about half a per cent of its price, and more for a small flat.
  return Math.round((worth * estate.rentPerMonth) / 500) * 500 || 500;
}

const ESTATES = vocabulary.estates as readonly Estate[];
