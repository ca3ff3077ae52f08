// @ts-check
/**
 * Languages, and names, numbers, dates and durations as readers of a language write them.
 * @typedef {'ru' | 'en'} Language The languages of the page.
 * @typedef {import('../../../search/domain.ts').Attribute} Attribute
 * @typedef {import('../../../search/domain.ts').AttributeValue} AttributeValue
 */

const MAX_FORMATTERS = 256;
/** Attributes that are amounts of money in every catalogue. */
const MONEY = new Set(['price', 'salary', 'cost', 'amount', 'budget', 'fee', 'rent']);
/** Attributes whose numbers have no thousands separator, because they are not quantities. `god` is «год», `kod` «код». */
const LABELS = /(^|_)(year|god|id|code|kod|sku)(_|$)/;

/**
 * The `lang` attribute of text that is not in the page's language, so that a screen reader changes its voice.
 * @param {string} text
 * @param {Language} page
 */
export function foreignLanguage(text, page) {
  const language = languageOf(text);
  return language === page ? undefined : language;
}

/**
 * A query in Cyrillic makes the page Russian. Latin letters say nothing (`iphone 13`): the browser's preference decides.
 * @param {string} query
 * @param {Language} preferred
 * @returns {Language}
 */
export function pageLanguage(query, preferred) {
  return languageOf(query) === 'ru' ? 'ru' : preferred;
}

/**
 * @param {string | undefined} header Accept-Language
 * @returns {Language} English when the header names neither.
 */
export function preferredLanguage(header) {
  /** @type {{ language: Language, quality: number } | undefined} */
  let best;
  for (const item of (header ?? '').slice(0, 256).split(',')) {
    const [range = '', ...parameters] = item
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const language = range.split('-')[0];
    if (language !== 'ru' && language !== 'en') continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    const quality = weight === undefined ? 1 : Number(weight.slice(2));
    if (quality > 0 && (best === undefined || quality > best.quality)) best = { language, quality };
  }
  return best?.language ?? 'en';
}

/**
 * Labels of names that catalogues commonly declare. Other names are shown as they are declared.
 * @type {Readonly<Record<string, Readonly<Record<Language, string>>>>}
 */
const NAMES = {
  goods: { en: 'Goods', ru: 'Вещи' },
  auto: { en: 'Cars', ru: 'Авто' },
  realty: { en: 'Homes', ru: 'Недвижимость' },
  jobs: { en: 'Jobs', ru: 'Работа' },
  packages: { en: 'Packages', ru: 'Пакеты' },
  all: { en: 'All', ru: 'Все' },
  area: { en: 'Area', ru: 'Площадь' },
  body: { en: 'Body', ru: 'Кузов' },
  brand: { en: 'Brand', ru: 'Бренд' },
  category: { en: 'Category', ru: 'Категория' },
  city: { en: 'City', ru: 'Город' },
  color: { en: 'Colour', ru: 'Цвет' },
  colour: { en: 'Colour', ru: 'Цвет' },
  company: { en: 'Company', ru: 'Компания' },
  condition: { en: 'Condition', ru: 'Состояние' },
  currency: { en: 'Currency', ru: 'Валюта' },
  date: { en: 'Date', ru: 'Дата' },
  deal: { en: 'Deal', ru: 'Сделка' },
  district: { en: 'District', ru: 'Район' },
  employment: { en: 'Employment', ru: 'Занятость' },
  experience: { en: 'Experience', ru: 'Опыт' },
  floor: { en: 'Floor', ru: 'Этаж' },
  gearbox: { en: 'Gearbox', ru: 'Коробка' },
  kind: { en: 'Kind', ru: 'Вид' },
  language: { en: 'Language', ru: 'Язык' },
  make: { en: 'Make', ru: 'Марка' },
  mileage: { en: 'Mileage', ru: 'Пробег' },
  model: { en: 'Model', ru: 'Модель' },
  north: { en: 'North', ru: 'Север' },
  price: { en: 'Price', ru: 'Цена' },
  priority: { en: 'Priority', ru: 'Приоритет' },
  rating: { en: 'Rating', ru: 'Оценка' },
  region: { en: 'Region', ru: 'Регион' },
  rooms: { en: 'Rooms', ru: 'Комнаты' },
  salary: { en: 'Salary', ru: 'Зарплата' },
  schedule: { en: 'Schedule', ru: 'График' },
  section: { en: 'Section', ru: 'Раздел' },
  seller: { en: 'Seller', ru: 'Продавец' },
  size: { en: 'Size', ru: 'Размер' },
  south: { en: 'South', ru: 'Юг' },
  type: { en: 'Type', ru: 'Тип' },
  variant: { en: 'Variant', ru: 'Вариант' },
  year: { en: 'Year', ru: 'Год' },
};

/**
 * Attributes with another label in one domain: the price of a vacancy is its pay.
 * @type {Readonly<Record<string, typeof NAMES>>}
 */
const NAMES_IN = { jobs: { price: { en: 'Pay', ru: 'Зарплата' } } };

/**
 * @param {Pick<Attribute, 'name' | 'label'>} attribute
 * @param {string} domain
 * @param {Language} language
 */
export function attributeName({ name, label }, domain, language) {
  if (label !== undefined) return label;
  const here = Object.hasOwn(NAMES_IN, domain) ? NAMES_IN[domain] : undefined;
  const known = here !== undefined && Object.hasOwn(here, name) ? here[name] : undefined;
  return known?.[language] ?? nameFor(name, language);
}

/**
 * @param {string} name
 * @param {Language} language
 */
export function nameFor(name, language) {
  const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  return known?.[language] ?? capitalized(name).replaceAll('_', ' ');
}

/** @param {Attribute} attribute */
export function isMoney({ name, type, currency }) {
  return currency !== undefined || (MONEY.has(name) && (type === 'integer' || type === 'number'));
}

/**
 * The currency in a document's own attributes.
 * @param {Readonly<Record<string, AttributeValue>>} attributes
 */
export function currencyIn({ currency }) {
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? currency : undefined;
}

/**
 * An attribute's value as text; of a list, each value.
 * @param {Attribute} attribute
 * @param {AttributeValue} value
 * @param {Language} language
 * @param {string | undefined} currency ISO 4217 code; without it an amount of money is a bare number.
 * @returns {string}
 */
export function formatValue(attribute, value, language, currency = attribute.currency) {
  if (typeof value === 'object') return value.map((one) => formatValue(attribute, one, language, currency)).join(', ');
  switch (attribute.type) {
    case 'string':
      return String(value);
    case 'date':
      return formatDate(String(value), language);
    case 'integer':
    case 'number': {
      const number = Number(value);
      if (value === '' || !Number.isFinite(number)) return String(value);
      if (isMoney(attribute)) return formatMoney(number, language, currency);
      return LABELS.test(attribute.name) ? String(value) : formatNumber(number, language);
    }
  }
}

/**
 * Formatters by language and options. Making one takes 50 times as long as using it. Documents may bring any number of
 * currencies, so the map is emptied when it is full.
 * @type {Map<string, Intl.NumberFormat>}
 */
const formatters = new Map();

/** @param {Language} language */
const dateFormat = (language) =>
  new Intl.DateTimeFormat(language, { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const DATES = { en: dateFormat('en'), ru: dateFormat('ru') };

/**
 * @param {number} value
 * @param {Language} language
 */
export function formatNumber(value, language) {
  return numberFormat('number', language, { maximumFractionDigits: 2 }).format(value);
}

/**
 * A duration below a millisecond is shown in microseconds: a memory hit takes less than one, and `0 ms` would hide it.
 * @param {number} ms
 * @param {Language} language
 */
export function formatDuration(ms, language) {
  const [value, unit] = ms < 1 ? [ms * 1000, 'microsecond'] : ms < 10_000 ? [ms, 'millisecond'] : [ms / 1000, 'second'];
  const maximumFractionDigits = ms >= 1 && ms < 10 ? 1 : 0;
  return unitFormat(unit, maximumFractionDigits, language).format(value);
}

/**
 * @param {number} seconds
 * @param {Language} language
 */
export function formatAge(seconds, language) {
  const [value, unit] =
    seconds < 120 ? [seconds, 'second'] : seconds < 7200 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour'];
  return unitFormat(unit, 0, language).format(value);
}

/** @param {string} text */
export function capitalized(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * The language of a text, by its script, which is enough for two languages.
 * @param {string} text
 * @returns {Language | undefined} Undefined for text without letters of either script.
 */
function languageOf(text) {
  if (/\p{Script=Cyrillic}/u.test(text)) return 'ru';
  return /\p{Script=Latin}/u.test(text) ? 'en' : undefined;
}

/**
 * @param {string} name Identifies the options in the key of the map.
 * @param {Language} language
 * @param {Intl.NumberFormatOptions} options
 */
function numberFormat(name, language, options) {
  const key = `${language} ${name}`;
  const known = formatters.get(key);
  if (known !== undefined) return known;
  const made = new Intl.NumberFormat(language, options);
  if (formatters.size >= MAX_FORMATTERS) formatters.clear();
  formatters.set(key, made);
  return made;
}

/**
 * @param {number} value
 * @param {Language} language
 * @param {string | undefined} currency
 */
function formatMoney(value, language, currency) {
  const digits = Number.isInteger(value) ? 0 : 2;
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  if (currency === undefined) return numberFormat(`amount ${digits}`, language, fraction).format(value);
  const money = {
    style: /** @type {const} */ ('currency'),
    currency,
    currencyDisplay: /** @type {const} */ ('narrowSymbol'),
  };
  return numberFormat(`money ${currency} ${digits}`, language, { ...money, ...fraction }).format(value);
}

/**
 * @param {string} date `YYYY-MM-DD`; other text is shown as it is.
 * @param {Language} language
 */
function formatDate(date, language) {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time)) return date;
  return DATES[language].format(time);
}

/**
 * @param {string} unit
 * @param {number} maximumFractionDigits
 * @param {Language} language
 */
function unitFormat(unit, maximumFractionDigits, language) {
  const options = { style: /** @type {const} */ ('unit'), unit, unitDisplay: /** @type {const} */ ('short') };
  return numberFormat(`${unit} ${maximumFractionDigits}`, language, { ...options, maximumFractionDigits });
}
