import type { Attribute } from '../search/domain.ts';

/** The ways to write numbers or days that `Attribute.format` chooses between. */
export type Format = NonNullable<Attribute['format']>;
export const NUMBER_FORMATS = ['1,299.50', '1.299,50'] as const satisfies readonly Format[];
export const DAY_FORMATS = ['DD/MM/YYYY', 'MM/DD/YYYY'] as const satisfies readonly Format[];

/** A number as JSON and most exports write it. */
const NUMBER_TEXT = /^\s*[+-]?\d+(\.\d+)?([eE][+-]?\d+)?\s*$/;

/** Groups of three are separated by one sign throughout. A group sign is never also the decimal sign. */
const GROUPED: Readonly<Record<(typeof NUMBER_FORMATS)[number], RegExp>> = {
  '1,299.50': /^(?:\d+|[1-9]\d{0,2}([, '’])\d{3}(?:\1\d{3})*)(?:\.\d+)?$/,
  '1.299,50': /^(?:\d+|[1-9]\d{0,2}([. '’])\d{3}(?:\1\d{3})*)(?:,\d+)?$/,
};

const GROUPS = { '1,299.50': /[, '’]/g, '1.299,50': /[. '’]/g };

/** Signs of money that belong to one currency. */
const SIGNS: ReadonlyMap<string, string> = new Map(
  '€ EUR|£ GBP|₽ RUB|руб. RUB|руб RUB|р. RUB|RUR RUB|₴ UAH|₸ KZT|₹ INR|₺ TRY|₪ ILS|₩ KRW|₫ VND|zł PLN|Kč CZK'
    .split('|')
    .map((pair) => pair.split(' ') as [sign: string, code: string]),
);
/** Signs that several currencies share. */
const SHARED: readonly string[] = ['$', '¥'];
const CODES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
const AMOUNT = /^([+−-]?)\s?(\p{Sc}|\p{L}+\.?)?\s?([+−-]?)(\d[\d., '’]*?(?:[eE][+-]?\d+)?)\s?(\p{Sc}|\p{L}+\.?)?$/u;

/**
 * A number, perhaps with a currency and with grouped digits. Without a format, `1.299` is 1.299 as in JSON, and a text of
 * which two formats make two numbers, such as `1,299`, is none.
 * @returns `currency`: ISO 4217, a sign that several currencies share, or empty
 */
export function amountOf(given: string, format?: Format) {
  // A point is a decimal sign, but for the one format; a number with an exponent has no grouped digits.
  const isPlain = format !== '1.299,50' || !given.includes('.') || /e/i.test(given);
  if (isPlain && NUMBER_TEXT.test(given)) return { value: Number(given), currency: '' };
  const text = given.trim().replaceAll(/[\u00a0\u2009\u202f]/g, ' ');
  const [, outer = '', before, inner = '', digits = '', after] = AMOUNT.exec(text) ?? [];
  const sign = before ?? after ?? '';
  const isKnown = sign === '' || SHARED.includes(sign) || CODES.has(sign);
  const currency = SIGNS.get(sign) ?? (isKnown ? sign : undefined);
  const isTwice = (before !== undefined && after !== undefined) || (outer !== '' && inner !== '');
  if (currency === undefined || isTwice) return undefined;
  const isJson = format === undefined && NUMBER_TEXT.test(digits);
  const formats = NUMBER_FORMATS.filter((each) => GROUPED[each].test(digits) && (format ?? each) === each);
  const [value, ...others] = new Set(
    isJson ? [digits] : formats.map((each) => digits.replaceAll(GROUPS[each], '').replace(',', '.')),
  );
  if (value === undefined || others.length > 0) return undefined;
  return { value: /[−-]/.test(outer + inner) ? -Number(value) : Number(value), currency };
}

/** Whether an amount with this sign or code may be in a currency: `$` in USD, and not in EUR, which has its own sign. */
export function isInCurrency(sign: string, currency: string): boolean {
  return sign === currency || (SHARED.includes(sign) && ![...SHARED, ...SIGNS.values()].includes(currency));
}

/** Whether JavaScript holds its digits. A number with an exponent is meant to be approximate. */
export function isExactNumber(value: number, given: string): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value) || /\de/i.test(given));
}

/** A code such as 007 or +79991234567 is text: a number would lose the zeros and the sign. */
export function isCode(text: string): boolean {
  return /^\+|^-?0\d/.test(text.trim());
}

interface Day {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly hasTime: boolean;
}

const TIME =
  '(?:(?:T| |, )(\\d{1,2}):?(\\d{2})(?::?\\d{2}(?:[.,]\\d+)?)?(?: ?[AaPp][Mm])?(?: ?(Z|UTC|[+-]\\d{2}(?::?\\d{2})?))?)?';
const YEAR_FIRST = new RegExp(`^(\\d{4})([-/.]?)(\\d{2})\\2(\\d{2})${TIME}$`);
const YEAR_LAST = new RegExp(`^(\\d{1,2})([./-])(\\d{1,2})\\2(\\d{4})${TIME}$`);

/**
 * A day of the calendar; of a time with an offset from UTC, its day in UTC. `1.5.2026` begins with the day. Without a
 * format, a text such as `05/01/2026`, which is a day in May or in January, is none.
 */
export function dayOf(given: string, format?: Format): Day | undefined {
  const [, year, , month, day, ...time] = YEAR_FIRST.exec(given.trim()) ?? [];
  if (year !== undefined) return dayAt([year, month, day], time);
  const [, first, sign, second, last, ...clock] = YEAR_LAST.exec(given.trim()) ?? [];
  const isDayFirst = sign === '.' || format === 'DD/MM/YYYY';
  const one = isDayFirst || format === undefined ? dayAt([last, second, first], clock) : undefined;
  const other = isDayFirst ? undefined : dayAt([last, first, second], clock);
  return one !== undefined && other !== undefined && one.day !== other.day ? undefined : (one ?? other);
}

function dayAt(
  [year = '', month = '', day = '']: readonly (string | undefined)[],
  [hour, minute = '0', offset]: readonly (string | undefined)[],
): Day | undefined {
  const written = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const midnight = Date.parse(`${written}T00:00:00Z`);
  // Date.parse reads 2026-02-30 as a day of March, so the parsed day is compared with the text.
  if (Number.isNaN(midnight) || isoDay(midnight) !== written) return undefined;
  if (hour === undefined) return { day: written, hasTime: false };
  if (Number(hour) > 23 || Number(minute) > 59) return undefined;
  const [, sign, hours = 0, minutes = 0] = /^([+-])(\d{2}):?(\d{2})?$/.exec(offset ?? '') ?? [];
  const ahead = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
  const local = Number(hour) * 60 + Number(minute);
  return { day: isoDay(midnight + (local - ahead) * 60_000), hasTime: true };
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
