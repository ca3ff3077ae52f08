// @ts-check
/**
 * @typedef {import('./language.mjs').Language} Language
 * @typedef {import('../../../../search/domain.ts').Attribute} Attribute
 */

/** Names that mean money wherever they are declared. */
const MONEY = new Set(['price', 'salary', 'cost', 'amount', 'budget', 'fee', 'rent']);

/** Numbers that are names, not quantities: a year has no thousands separator. `god` is «год», `kod` «код». */
const LABELS = /(^|_)(year|god|id|code|kod|sku)(_|$)/;

/** @param {Attribute} attribute */
export function isMoney({ name, type, currency }) {
  return currency !== undefined || (MONEY.has(name) && (type === 'integer' || type === 'number'));
}

/**
 * The currency that a document states itself.
 * @param {Readonly<Record<string, string | number>>} attributes
 */
export function currencyIn({ currency }) {
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? currency : undefined;
}

/**
 * An attribute's value for people.
 * @param {Attribute} attribute
 * @param {string | number} value
 * @param {Language} language
 * @param {string | undefined} currency ISO 4217 code; without it an amount of money is a bare number.
 */
export function formatValue(attribute, value, language, currency = attribute.currency) {
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
 * Formatters by what they are made of. To make one takes 50 times as long as to use it. Currencies are the documents'
 * own words, so their number is bounded: when it is reached, all are made anew.
 * @type {Map<string, Intl.NumberFormat>}
 */
const formatters = new Map();
const MAX_FORMATTERS = 256;

/**
 * @param {string} name One per set of options.
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
 * @param {string} date `YYYY-MM-DD`; anything else is shown as it is.
 * @param {Language} language
 */
function formatDate(date, language) {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time)) return date;
  return DATES[language].format(time);
}

/**
 * Microseconds below a millisecond: that is where a memory hit lives, and `0 ms` would hide it.
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

/**
 * @param {string} unit
 * @param {number} maximumFractionDigits
 * @param {Language} language
 */
function unitFormat(unit, maximumFractionDigits, language) {
  const options = { style: /** @type {const} */ ('unit'), unit, unitDisplay: /** @type {const} */ ('short') };
  return numberFormat(`${unit} ${maximumFractionDigits}`, language, { ...options, maximumFractionDigits });
}
