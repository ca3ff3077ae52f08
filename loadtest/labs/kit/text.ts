import {
  amountText,
  bytesText,
  countText,
  durationText,
  GAP,
  percentText,
  perSecondText,
  timesText,
  UNKNOWN,
} from '../../../src/report/format.ts';

/** Characters in measured text that could control a terminal or a page. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\ufffe\uffff]/gu;

/** One line of text: white space becomes plain spaces, and control characters are replaced. */
export function plainText(text: string): string {
  return text.toWellFormed().replaceAll('\u00a0', ' ').replaceAll(/\s+/g, ' ').replace(UNSEEN, '\ufffd');
}

/** Text for a paragraph or a cell of Markdown: no markup, no formula, and no list, quotation or heading at its beginning. */
export function prose(text: string): string {
  return plainText(text)
    .trim()
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]|~$]/g, String.raw`\$&`)
    .replace(/^[#>+=-]/, String.raw`\$&`)
    .replace(/^(\d+)([.)](?:\s|$))/, String.raw`$1\$2`);
}

/** Background load up to this is normal; more shows in the rows. */
const NOTICED_CORES = 0.1;

/** A further sentence if other processes used enough of the machine to change the figures; else ''. */
export function othersWords(cores: number | undefined): string {
  if (cores === undefined || cores <= NOTICED_CORES) return '';
  return ` Meanwhile others took ${amountText(cores)} of the machine's cores: rates are lower and times longer than on a quiet one.`;
}

/** The kind of a number: a share is between 0 and 1, times is a ratio, cores are busy cores. */
export type Unit = keyof typeof UNITS;

/** A value of each unit as text, and the smallest unit, for all digits of a value. */
const UNITS = {
  'per-second': [perSecondText, '/s'],
  'bytes-per-second': [(value: number) => `${bytesText(value)}/s`, `${GAP}B/s`],
  ms: [durationText, `${GAP}ms`],
  us: [(value: number) => `${amountText(value)}${GAP}µs`, `${GAP}µs`],
  seconds: [(value: number) => durationText(value * 1000), `${GAP}s`],
  bytes: [bytesText, `${GAP}B`],
  count: [countText, ''],
  share: [percentText, `${GAP}%`],
  times: [timesText, `${GAP}×`],
  cores: [amountText, ''],
  text: [amountText, ''],
} as const;

export function valueText(value: number | string | undefined, unit: Unit): string {
  if (typeof value === 'string') return value;
  return value === undefined ? UNKNOWN : UNITS[unit][0](value);
}

const EXACT = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 15 });

/** All digits of a value, in the smallest of its units. */
export function exactText(value: number | undefined, unit: Unit): string {
  if (value === undefined || !Number.isFinite(value)) return UNKNOWN;
  return `${EXACT.format(unit === 'share' ? value * 100 : value).replace('-', '−')}${UNITS[unit][1]}`;
}
