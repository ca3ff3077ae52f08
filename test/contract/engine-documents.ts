import type { AttributeValue, Document, SearchDomain } from '../../src/search/domain.ts';
import type { DocumentUpdate } from '../../src/search/engine.ts';
import { nastyTitles } from './nasty.ts';

/** The documents that every engine adapter indexes for the contract. They are generated, so the correct answers are known. */
export const CONTRACT_DOMAIN: SearchDomain = {
  name: 'contract',
  attributes: [
    { name: 'category', type: 'string', facet: true, sort: false },
    { name: 'city', type: 'string', facet: true, sort: true },
    { name: 'brand', type: 'string', facet: false, sort: true },
    { name: 'rooms', type: 'integer', facet: true, sort: true },
    { name: 'views', type: 'integer', facet: false, sort: true },
    { name: 'price', type: 'number', facet: false, sort: true },
    { name: 'posted', type: 'date', facet: true, sort: true },
    { name: 'sizes', type: 'string', facet: true, sort: false, multiple: true },
    { name: 'years', type: 'integer', facet: true, sort: false, multiple: true },
    { name: 'days', type: 'date', facet: true, sort: false, multiple: true },
    { name: 'maker', type: 'string', facet: false, sort: false, search: true },
  ],
  context: [],
  answerProfile: 'contract',
};

/** A word of every generated document: it has more results than the 1000 that paging can reach. */
export const COMMON = 'товар';

/**
 * Words for test queries. No two of them share their first four letters with each other or with a filler word, so that an
 * engine's own stemming and prefixes cannot change the matches.
 */
export const NOUNS =
  'кроссовки велосипед гитара чайник пылесос монитор холодильник ёлка bicycle keyboard lantern'.split(' ');
export const COLOURS = ['красный', 'синий', 'зелёный', 'purple', 'white'] as const;

const CATEGORIES = ['Обувь', 'Техника', 'Спорт & отдых', 'O\'Neil "Pro"', 'Books'];
const BRANDS = ['adidas', 'Bosch', 'ASUS', 'nokia', 'Zara', 'LEGO', 'casio'];
const CITIES = (
  'Москва Казань Омск Орёл Тула Пермь Уфа Сочи Тверь Самара Рязань Псков Пенза Курск Киров Чита Томск Брянск ' +
  'Вологда Грозный Дербент Ейск Жуков Истра Находка'
).split(' ');
const SIZES = ['XL', 'm', 'one, size', '6" & 1\'', '🚲 👩‍👩‍👧', 'Ёлка', 'C:\\', 'a|b', '["x"]', 'Ä'];
/** Enough of them with equal counts that a facet cuts between these. */
const MORE_SIZES = Array.from({ length: 24 }, (_, index) => `Eu ${(index * 7) % 24}`);
const EMOJI = ['🚲', '😀', '👩‍👩‍👧', '🇷🇺', '𝒜', '𠮷'];
const GENERATED = 1200;
const DAY_MS = 86_400_000;

function generated(index: number): Document {
  const noun = pick(NOUNS, index);
  const colour = pick(COLOURS, Math.floor(index / NOUNS.length));
  const title = [capital(noun), noun.toUpperCase(), noun, noun.replace('ё', 'е')][index % 4];
  const attributes: Record<string, AttributeValue> = {
    category: pick(CATEGORIES, (index * index) % 13),
    brand: pick(BRANDS, (index * 7) % 11),
    rooms: index % 6,
    views: index % 50 === 0 ? 5_000_000_000 + index : (index % 40) - 5,
  };
  // Uneven counts, some of them equal, and missing values.
  if (index % 19 !== 0) attributes['city'] = pick(CITIES, Math.floor((index % 61) ** 1.5 / 10));
  if (index % 17 !== 0) attributes['price'] = ((index * 7919) % 1_000_000) / 100;
  if (index % 23 !== 0) attributes['posted'] = isoDate(((index * 31) % 400) * 40 - 200);
  const sizes = [pick(SIZES, index), pick(SIZES, index + 3), pick(MORE_SIZES, index)].slice(0, index % 4);
  if (sizes.length > 0) attributes['sizes'] = sizes;
  // Rising, because an engine may give numbers and dates so.
  const year = 1990 + (index % 12);
  if (index % 5 !== 0)
    attributes['years'] = index % 7 === 0 ? [-index, year, 5_000_000_000] : [year, year + 5].slice(index % 2);
  if (index % 3 !== 0) attributes['days'] = [isoDate((index % 9) - 4), isoDate(10_000 + (index % 30))];
  return {
    id: `generated-${index}`,
    title: index % 10 === 0 ? `${title} ${pick(EMOJI, index / 10)} ${index}` : `${title} ${index}`,
    description: `${capital(COMMON)} <b>${colour}</b> & "${pick(BRANDS, index)}". ${FILLER.repeat(index % 5)}`,
    attributes,
  };
}

const FILLER = 'Ждёт нового хозяина, отправка почтой; shipped from our warehouse > 10 < 20. ';

/** Ids that a JavaScript number would change, ids that are no numbers, and the longest id. All their documents contain `опознание`. */
export const HARD_IDS = [
  '9007199254740992',
  '9007199254740993',
  '9223372036854775807',
  '18446744073709551615',
  'icecat-12',
  'Größe-Ab1',
  '7',
  '007',
  '-1',
  `o'neil "7" <x> & \\`,
  'ключ/ё?&=#',
  'Case',
  'case',
  'i'.repeat(64),
];

/** Characters that an adapter may use as marks around highlights, and texts that look like marks. */
export const FORGERIES: readonly (readonly [open: string, close: string])[] = [
  ['<em>', '</em>'],
  ['&lt;em&gt;', '&lt;/em&gt;'],
  ['\u0001', '\u0002'],
  ['\u0002', '\u0003'],
  ['\u000e', '\u000f'],
  ['\u001e', '\u001f'],
  ['\u2060', '\u2063'],
  ['\ue000', '\ue001'],
  ['\ue001', '\ue002'],
  ['\uf8fe', '\uf8ff'],
  ['\ufdd0', '\ufdd1'],
  ['\ufff9', '\ufffb'],
  ['{{{', '}}}'],
  ['[em]', '[/em]'],
  ['%em%', '%/em%'],
];

export const EMOJI_TITLE = 'Самокат 🚲 👩‍👩‍👧 𝒜𠮷 🇷🇺 <i>"складной"</i> & \'Co\'';
export const SCRIPT = '<script>alert("x")</script>';

/**
 * Titles with quotes, slashes and operators of query languages, and one longer than the text that engines highlight. Each has
 * two documents: one with the title as its description, and one whose description has none of its words.
 */
export const HARD_TITLES: readonly Document[] = [
  'Экран 17" (IPS) 60Hz',
  'Адаптер 802.11 b/g, USB 2.0',
  'Приставка TV~2 и пульт',
  '-foo без минуса -bar',
  '(x незакрытая скобка',
  'Printer @price x @(title) y',
  '"near" NEAR/3 MAYBE "кавычки',
  "O'Reilly's | книги & журналы",
  'C:\\папка\\файл\\',
  'l=r =точно ^начало конец$',
  '<<раньше<< !кроме !ещё',
  'wi-fi c++ at&t asp.net c# foo_bar',
  '50% скидка* за ?штуку',
  `${'Очень длинное заглавие '.repeat(40)}кончилось`,
  ...nastyTitles(150),
].flatMap((title, index) => [
  { id: `title-${index}`, title, description: title, attributes: {} },
  { id: `mk${index}`, title, description: `Примета номер ${index}: mk${index}.`, attributes: {} },
]);

/**
 * Titles with the searches that find them, and those that do not. Each has a word that no other document has, which each of
 * its searches names or needs not. Between two searches is ` | `.
 */
export const SPELLINGS: readonly (readonly [title: string, by: string, not?: string])[] = [
  // Letters next to digits, and units.
  ['Планшет Zorvex 128ГБ', 'zorvex 128гб | zorvex 128 гб | zorvex 128gb | zorvex 128 gb | zorvex 128'],
  ['Планшет Mirlod 64 GB', 'mirlod 64гб | mirlod 64gb | mirlod 64 гб', 'mirlod 6гб'],
  ['Карта Quellor RTX4060', 'quellor rtx4060 | quellor rtx 4060 | quellor rtx-4060 | quellor 4060'],
  ['Карта Dravix RTX 4060', 'dravix rtx4060 | dravix rtx 4060 | dravix rtx-4060'],
  ['Chip K4A8G085WB Zorlan', 'zorlan k4a8g085wb | K4A8G085WB'],
  ['Pack 10\u00ad00 Mervik', 'mervik 1000 | mervik 10\u00ad00'],
  ['Phone Xandor 12/256GB', 'xandor 256 gb | xandor 256 гб | xandor 12/256 | xandor 12/256gb'],
  ['Шина 205/55R16 Lumbra', 'lumbra 205/55 r16 | lumbra 205 55 r16 | lumbra 205/55r16'],
  // Joined, split and hyphenated words.
  ['Tasmek Wi-Fi роутер', 'tasmek wifi | tasmek wi-fi | tasmek wi fi | tasmek wi‑fi'],
  ['Zephal Wi-Fi/Bluetooth/USB-C', 'zephal wifi | zephal usbc | zephal wi-fi bluetooth'],
  ['Ulbrin WiFi роутер', 'ulbrin wifi | ulbrin wi-fi | ulbrin wi fi'],
  ['Tellur at&t node.js', 'tellur at&t | tellur att | tellur nodejs | tellur node js'],
  // Decimal marks.
  ['Термос Kavorn 1,5 л', 'kavorn 1.5 л | kavorn 1,5 л | kavorn 1.5l | kavorn 1,5л', 'kavorn 15 л'],
  ['Flask Sebulo 1.5l', 'sebulo 1,5 л | sebulo 1.5 l | sebulo 1.5l', 'sebulo 15l'],
  // Part numbers.
  [
    'Фильтр AB-123/45 Norgel',
    'norgel ab-123/45 | norgel ab12345 | norgel ab 123 45 | norgel ab123/45 | norgel ab-12345',
    'norgel ab-124/45',
  ],
  ['Book 978-0-306-40615-7 Imbral', 'imbral 9780306406157 | imbral 978-0306406157 | imbral 978 0 306 40615 7'],
  ['Filter CD98765 Worbel', 'worbel cd98765 | worbel cd-98765 | worbel cd-987/65 | worbel cd 98765'],
  // Apostrophes, plain and typographic.
  ["Women's boots Fenzari", "fenzari women's | fenzari women’s boots | fenzari womens | fenzari women"],
  ['Women boots Haldric', "haldric women's boots | haldric women’s boots | haldric women"],
  ['Levis jeans Orvane', "orvane levi's | orvane levi’s | orvane levis"],
  ['Levi’s jeans Pexilo', "pexilo levi's | pexilo levi`s | pexilo levis"],
  ["Parfum L'Oréal Quintas", "quintas l'oréal | quintas loreal | quintas oreal | quintas l’oreal"],
  ['Сушена м’ята Brolik', "brolik м'ята | brolik мята | brolik мʼята"],
  // Letters with strokes and marks, ligatures.
  [
    'Łódź Ørsted Đà Nẵng Vextor',
    'vextor lodz | vextor łódź | vextor orsted | vextor da nang | vextor đà nẵng | vextor đa nang',
  ],
  ['Ægir œuvre Þór Zymbal', 'zymbal aegir | zymbal ægir | zymbal oeuvre | zymbal thor | zymbal þór'],
  ['Temps paral·lels Odvik', 'odvik paral·lels | odvik parallels | odvik paraŀlels'],
  ['Straße aether Yondix', 'yondix strasse | yondix straße | yondix æther'],
  ['Müller Grün-Hemd Ostrex', 'ostrex mueller | ostrex gruen-hemd | ostrex gruen | ostrex muller | ostrex müller'],
  // Signs of vowels, and letters that keyboards write in two ways.
  ['كِتَاب أحمد Parlux', 'parlux كتاب | parlux احمد | parlux أحمد'],
  ['שָׁלוֹם کتابی Girvan', 'שלום | girvan كتابي'],
  // Scripts without spaces: any part of a run.
  ['华为手机壳 Chuvex', '手机 | 华为 | 手机壳 | 华为手机壳 | chuvex 壳 | 华为 手机', '机手 | 手壳'],
  ['ガンダムのケース Darunol', 'ガンダム | ケース | darunol ダム', 'ムダ'],
  ['เคสมือถือ น้ำ Elnorix', 'มือถือ | เคส | elnorix น้ำ', 'ถือเคส'],
  ['삼성전자 Fulmexa', '삼성 | 전자 | 삼성전자', '전삼'],
];

const SPECIAL: readonly Document[] = [
  ...SPELLINGS.map(([title], index) => ({ id: `spelling-${index}`, title, description: title, attributes: {} })),
  ...HARD_TITLES,
  ...HARD_IDS.map((id, index) => ({
    id,
    title: `Опознание номер ${index}`,
    description: 'Проверяет ключи',
    attributes: {},
  })),
  {
    id: 'emoji',
    title: EMOJI_TITLE,
    description: '😀 Лёгкий 😀 и складной 😀',
    attributes: { brand: 'Ёж', maker: 'Zubrovex-Werke' },
  },
  {
    id: 'script',
    title: 'Фонарик',
    description: `${SCRIPT} фонарик <img src=x onerror="alert(1)"> Q&amp;A <em>обман</em> 'конец'`,
    attributes: {},
  },
  {
    id: 'forged',
    title: 'Истинный',
    description: `${FORGERIES.map(([open, close]) => `${open}подделка${close}`).join(' ')} истинный`,
    attributes: {},
  },
];

export const CONTRACT_DOCUMENTS: readonly Document[] = [
  ...Array.from({ length: GENERATED }, (_, index) => generated(index)),
  ...SPECIAL,
];

function pick<T>(from: readonly T[], index: number): T {
  const value = from[index % from.length];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function isoDate(days: number): string {
  return new Date(days * DAY_MS).toISOString().slice(0, 10);
}

/** Documents to add or replace, then ids to delete. */
export const updatesOf = (
  upserts: readonly Document[],
  deletions: readonly string[] = [],
): readonly DocumentUpdate[] => [
  ...upserts.map((document) => ({ id: document.id, document })),
  ...deletions.map((id) => ({ id })),
];
