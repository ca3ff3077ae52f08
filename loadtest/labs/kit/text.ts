import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  timesText,
  UNKNOWN,
} from '../../../src/report/format.ts';
import type { Unit } from './finding.ts';

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

/** One value of a table or an axis, with its unit. */
export function valueText(value: number | string | undefined, unit: Unit): string {
  if (typeof value === 'string') return value;
  switch (unit) {
    case 'per-second':
      return perSecondText(value);
    case 'bytes-per-second':
      return value === undefined ? UNKNOWN : `${bytesText(value)}/s`;
    case 'ms':
      return durationText(value);
    case 'us':
      return value === undefined ? UNKNOWN : `${amountText(value)}\u00a0µs`;
    case 'seconds':
      return durationText(value === undefined ? undefined : value * 1000);
    case 'bytes':
      return bytesText(value);
    case 'count':
      return countText(value);
    case 'share':
      return percentText(value);
    case 'times':
      return timesText(value);
    case 'cores':
    case 'text':
      return amountText(value);
  }
}

const EXACT = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 15 });
const SMALLEST_UNITS: Readonly<Record<Unit, string>> = {
  'per-second': '/s',
  'bytes-per-second': '\u00a0B/s',
  ms: '\u00a0ms',
  us: '\u00a0µs',
  seconds: '\u00a0s',
  bytes: '\u00a0B',
  count: '',
  share: '\u00a0%',
  times: '\u00a0×',
  cores: '',
  text: '',
};

/** All digits of a value, in the smallest of its units. */
export function exactText(value: number | undefined, unit: Unit): string {
  if (value === undefined || !Number.isFinite(value)) return UNKNOWN;
  return `${EXACT.format(unit === 'share' ? value * 100 : value).replace('-', '−')}${SMALLEST_UNITS[unit]}`;
}
