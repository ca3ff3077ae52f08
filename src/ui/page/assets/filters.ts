import type { Attribute } from '../../../search/domain.ts';
import type { Language } from './locale.ts';
export type NumberType = 'integer' | 'number';

export type ChosenFilter =
  | { readonly attribute: string; readonly kind: 'values'; readonly values: readonly string[] }
  | { readonly attribute: string; readonly kind: 'range'; readonly from: string; readonly to: string };

const MAX_FOLDED_CHARACTERS = 512;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

// At most fifteen digits, which a double holds exactly: a number that matches is never refused for its size.
const SPACED = '\\d(?:\\s?\\d){0,14}';
const WITH_COMMAS = '\\d{1,3}(?:,\\d{3}){1,4}';
const GROUPED = new RegExp(`^-?${WITH_COMMAS}(?:\\.\\d+)?$`);

/** @returns Undefined for a filter that cannot be read: the service will refuse it. */
export function readFilter(filter: string, attributes: readonly Attribute[]): ChosenFilter | undefined {
  const colon = filter.indexOf(':');
  const name = filter.slice(0, colon);
  const declared = attributes.find((attribute) => attribute.name === name);
  if (colon < 0 || declared === undefined) return undefined;
  const text = filter.slice(colon + 1);
  const dots = text.indexOf('..');
  if (declared.type !== 'string' && dots >= 0) {
    return { attribute: name, kind: 'range', from: text.slice(0, dots).trim(), to: text.slice(dots + 2).trim() };
  }
  const values = [...text.matchAll(/(?:\\.|[^,])+/gsu)].map(([value]) =>
    value.replaceAll(/\\([\\,]|\.\.)/g, '$1').trim(),
  );
  return { attribute: name, kind: 'values', values: values.filter((value) => value !== '') };
}

/**
 * The filters with these values of an attribute instead of its own. @param values When it is empty, the attribute's
 * filters are removed.
 */
export function withValues(filters: readonly string[], attribute: string, values: readonly string[]) {
  const others = filters.filter((filter) => !filter.startsWith(`${attribute}:`));
  return values.length === 0
    ? others
    : [...others, `${attribute}:${values.map((value) => value.replaceAll(/[\\,]|\.\./g, '\\$&')).join(',')}`];
}

/** The values chosen for an attribute. */
export function valuesOf(
  filters: readonly string[],
  attributes: readonly Attribute[],
  attribute: string,
): readonly string[] {
  for (const filter of filters) {
    if (!filter.startsWith(`${attribute}:`)) continue;
    const read = readFilter(filter, attributes);
    if (read?.attribute === attribute && read.kind === 'values') return read.values;
  }
  return [];
}

/** The engine's case folding: a filter matches the indexed value in upper and in lower case. */
export function foldValue(value: string) {
  // Values of a catalogue are shorter. Longer ones are compared as they are, because normalizing them takes long.
  if (value.length > MAX_FOLDED_CHARACTERS) return value;
  return value.normalize('NFKC').toLowerCase().replaceAll('ё', 'е').replace(/\s+/g, ' ').trim();
}

/**
 * The filters of an address. A plain HTML form cannot write `price:10..50`: it sends `price.from` and `price.to`,
 * which become a filter here. Two empty bounds remove a range, but not values of the attribute.
 */
export function withBounds(given: URLSearchParams, attributes: readonly Attribute[], language: Language) {
  let filters = given.getAll('filter').filter((filter) => filter.trim() !== '');
  for (const { name, type } of attributes) {
    if (!given.has(`${name}.from`) && !given.has(`${name}.to`)) continue;
    const bounds = (side: 'from' | 'to') =>
      given
        .getAll(`${name}.${side}`)
        .map((bound) => (type === 'integer' || type === 'number' ? typedNumber(bound, type, language) : bound.trim()));
    const [froms, tos] = [bounds('from'), bounds('to')];
    if ([...froms, ...tos].every((bound) => bound === '')) {
      filters = filters.filter(
        (filter) => !filter.startsWith(`${name}:`) || readFilter(filter, attributes)?.kind !== 'range',
      );
    } else {
      // A bound given twice makes two ranges, which the service refuses.
      const ranges = Array.from({ length: Math.max(froms.length, tos.length) }, (_, index) => {
        const [from, to] = inOrder(froms[index] ?? '', tos[index] ?? '');
        return `${name}:${from}..${to}`;
      });
      filters = [...withValues(filters, name, []), ...ranges];
    }
  }
  return filters;
}

/** The regular expression for an input's `pattern`. The service accepts every number that matches. */
export function numberPattern(type: NumberType, language: Language) {
  const [afterSpaces, afterCommas] = type === 'integer' ? ['', ''] : ['(?:[.,]\\d{1,15})?', '(?:\\.\\d{1,15})?'];
  const commas = language === 'en' ? `|${WITH_COMMAS}${afterCommas}` : '';
  return `\\s*-?(?:${SPACED}${afterSpaces}${commas})\\s*`;
}

/**
 * Reads numbers as people type them, and as the page itself prints them: spaces of any width between thousands, a
 * comma or a dot before the fraction, and on an English page commas between thousands. @returns Digits and a dot.
 * Text that is not a number stays as it is, and the service refuses it.
 */
export function typedNumber(text: string, type: NumberType, language: Language): string {
  const trimmed = text.trim();
  if (!new RegExp(`^${numberPattern(type, language)}$`).test(trimmed)) return trimmed;
  // 7,200 is seven thousand to English readers and seven and a fifth to Russian ones.
  if (language === 'en' && GROUPED.test(trimmed)) return trimmed.replaceAll(',', '');
  return trimmed.replaceAll(/\s/g, '').replace(',', '.');
}

/** Swaps bounds that were typed in the wrong order. */
function inOrder(from: string, to: string) {
  const [low, high] =
    DATE.test(from) && DATE.test(to) ? [Date.parse(from), Date.parse(to)] : [Number(from), Number(to)];
  return from !== '' && to !== '' && low > high ? [to, from] : [from, to];
}
