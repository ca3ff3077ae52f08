import type { Attribute, AttributeValue } from '../../../search/domain.ts';
/** Languages, and names, numbers, dates and durations as readers of a language write them. */

/** The languages of the page. */
export type Language = 'ru' | 'en';

const MAX_FORMATTERS = 256;
/** Attributes that are amounts of money in every catalogue. */
const MONEY = new Set(['price', 'salary', 'cost', 'amount', 'budget', 'fee', 'rent']);
/** Attributes whose numbers have no thousands separator, because they are not quantities. `god` is «год», `kod` «код». */
const LABELS = /(^|_)(year|god|id|code|kod|sku)(_|$)/;

/** The `lang` attribute of text that is not in the page's language, so that a screen reader changes its voice. */
export function foreignLanguage(text: string, page: Language) {
  const language = languageOf(text);
  return language === page ? undefined : language;
}

/**
 * A query in Cyrillic makes the page Russian. Latin letters say nothing (`iphone 13`): the browser's preference
 * decides.
 */
export function pageLanguage(query: string, preferred: Language): Language {
  return languageOf(query) === 'ru' ? 'ru' : preferred;
}

/** Labels of names that catalogues commonly declare. Other names are shown as they are declared. */
const NAMES: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
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

/** Attributes with another label in one domain: the price of a vacancy is its pay. */
const NAMES_IN: Readonly<Record<string, typeof NAMES>> = { jobs: { price: { en: 'Pay', ru: 'Зарплата' } } };

export function attributeName({ name, label }: Pick<Attribute, 'name' | 'label'>, domain: string, language: Language) {
  if (label !== undefined) return label;
  const here = Object.hasOwn(NAMES_IN, domain) ? NAMES_IN[domain] : undefined;
  const known = here !== undefined && Object.hasOwn(here, name) ? here[name] : undefined;
  return known?.[language] ?? nameFor(name, language);
}

export function nameFor(name: string, language: Language) {
  const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  return known?.[language] ?? capitalizedIn(name).replaceAll('_', ' ');
}

export function isMoney({ name, type, currency }: Attribute) {
  return currency !== undefined || (MONEY.has(name) && (type === 'integer' || type === 'number'));
}

/** The currency in a document's own attributes. */
export function currencyIn({ currency }: Readonly<Record<string, AttributeValue>>) {
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? currency : undefined;
}

/**
 * An attribute's value as text; of a list, each value. @param currency ISO 4217 code; without it an amount of money
 * is a bare number.
 */
export function formatValue(
  attribute: Attribute,
  value: AttributeValue,
  language: Language,
  currency: string | undefined = attribute.currency,
): string {
  if (typeof value === 'object') return value.map((one) => formatValue(attribute, one, language, currency)).join(', ');
  if (attribute.type === 'date') return formatDate(String(value), language);
  const number = Number(value);
  if (attribute.type === 'string' || value === '' || !Number.isFinite(number)) return String(value);
  if (isMoney(attribute)) return formatMoney(number, language, currency);
  return LABELS.test(attribute.name) ? String(value) : formatNumber(number, language);
}

/**
 * Formatters by language and options. Making one takes 50 times as long as using it. Documents may bring any number
 * of currencies, so the map is emptied when it is full.
 */
const formatters: Map<string, Intl.NumberFormat> = new Map();

const dateFormat = (language: Language) =>
  new Intl.DateTimeFormat(language, { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const DATES = { en: dateFormat('en'), ru: dateFormat('ru') };

export function formatNumber(value: number, language: Language) {
  return numberFormat('number', language, { maximumFractionDigits: 2 }).format(value);
}

/**
 * A duration below a millisecond is shown in microseconds: a memory hit takes less than one, and `0 ms` would hide
 * it.
 */
export function durationIn(ms: number, language: Language) {
  const [value, unit] = ms < 1 ? [ms * 1000, 'microsecond'] : ms < 10_000 ? [ms, 'millisecond'] : [ms / 1000, 'second'];
  const maximumFractionDigits = ms >= 1 && ms < 10 ? 1 : 0;
  return unitFormat(unit, maximumFractionDigits, language).format(value);
}

export function formatAge(seconds: number, language: Language) {
  const [value, unit] =
    seconds < 120 ? [seconds, 'second'] : seconds < 7200 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour'];
  return unitFormat(unit, 0, language).format(value);
}

export function capitalizedIn(text: string) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * The language of a text, by its script, which is enough for two languages. @returns Undefined for text without
 * letters of either script.
 */
function languageOf(text: string): Language | undefined {
  if (/\p{Script=Cyrillic}/u.test(text)) return 'ru';
  return /\p{Script=Latin}/u.test(text) ? 'en' : undefined;
}

/** @param name Identifies the options in the key of the map. */
function numberFormat(name: string, language: Language, options: Intl.NumberFormatOptions) {
  const key = `${language} ${name}`;
  const known = formatters.get(key);
  if (known !== undefined) return known;
  const made = new Intl.NumberFormat(language, options);
  if (formatters.size >= MAX_FORMATTERS) formatters.clear();
  formatters.set(key, made);
  return made;
}

function formatMoney(value: number, language: Language, currency: string | undefined) {
  const digits = Number.isInteger(value) ? 0 : 2;
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  if (currency === undefined) return numberFormat(`amount ${digits}`, language, fraction).format(value);
  const money = {
    style: 'currency' as const,
    currency,
    currencyDisplay: 'narrowSymbol' as const,
  };
  return numberFormat(`money ${currency} ${digits}`, language, { ...money, ...fraction }).format(value);
}

/** @param date `YYYY-MM-DD`; other text is shown as it is. */
function formatDate(date: string, language: Language) {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time)) return date;
  return DATES[language].format(time);
}

function unitFormat(unit: string, maximumFractionDigits: number, language: Language) {
  const options = { style: 'unit' as const, unit, unitDisplay: 'short' as const };
  return numberFormat(`${unit} ${maximumFractionDigits}`, language, { ...options, maximumFractionDigits });
}
