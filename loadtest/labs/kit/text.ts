import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  timesText,
  UNKNOWN,
} from '../../../src/report/format.mjs';
import type { Unit } from './finding.ts';

/** Measured text must not control a terminal or Markdown. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\ufffe\uffff]/gu;

/** For columns of text: no-break spaces become plain ones, and invisible characters are removed. */
export function plainText(text: string): string {
  return text.toWellFormed().replaceAll('\u00a0', ' ').replaceAll(/\s+/g, ' ').replace(UNSEEN, '\ufffd');
}

/** In a cell of a Markdown table: nothing of it is markup. */
export function markdownText(text: string): string {
  return plainText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]|]/g, String.raw`\$&`);
}

/** In a paragraph of Markdown: no markup, no formula, and no list, quotation or heading at its beginning. */
export function prose(text: string): string {
  return markdownText(text)
    .trim()
    .replaceAll(/[~$]/g, String.raw`\$&`)
    .replace(/^[#>+=-]/, String.raw`\$&`)
    .replace(/^(\d+)([.)](?:\s|$))/, String.raw`$1\$2`);
}

/** Other programs always take a little; more than a tenth of a core shows in the rows. */
const NOTICED_CORES = 0.1;

/** A sentence when other programs used enough of the machine to affect the figures; else ''. */
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
