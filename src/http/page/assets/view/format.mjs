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
 * @param {number} value
 * @param {Language} language
 */
export function formatNumber(value, language) {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 2 }).format(value);
}

/**
 * @param {number} value
 * @param {Language} language
 * @param {string | undefined} currency
 */
function formatMoney(value, language, currency) {
  const digits = Number.isInteger(value) ? 0 : 2;
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  if (currency === undefined) return new Intl.NumberFormat(language, fraction).format(value);
  const money = {
    style: /** @type {const} */ ('currency'),
    currency,
    currencyDisplay: /** @type {const} */ ('narrowSymbol'),
  };
  return new Intl.NumberFormat(language, { ...money, ...fraction }).format(value);
}

/**
 * @param {string} date `YYYY-MM-DD`; anything else is shown as it is.
 * @param {Language} language
 */
function formatDate(date, language) {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time)) return date;
  const parts = /** @type {const} */ ({ day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  return new Intl.DateTimeFormat(language, parts).format(time);
}

/**
 * Microseconds below a millisecond: that is where a memory hit lives, and `0 ms` would hide it.
 * @param {number} ms
 * @param {Language} language
 */
export function formatDuration(ms, language) {
  const [value, unit] = ms < 1 ? [ms * 1000, 'microsecond'] : ms < 10_000 ? [ms, 'millisecond'] : [ms / 1000, 'second'];
  const maximumFractionDigits = ms >= 1 && ms < 10 ? 1 : 0;
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits }).format(
    value,
  );
}

/**
 * @param {number} seconds
 * @param {Language} language
 */
export function formatAge(seconds, language) {
  const [value, unit] =
    seconds < 120 ? [seconds, 'second'] : seconds < 7200 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour'];
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: 0,
  }).format(value);
}
