// @ts-check
/**
 * A filter of an address, read for showing and changing. What cannot be read is left to the server to refuse.
 * @typedef {{ readonly attribute: string, readonly kind: 'values', readonly values: readonly string[] }
 *   | { readonly attribute: string, readonly kind: 'range', readonly from: string, readonly to: string }} ShownFilter
 */

/**
 * @param {string} filter
 * @param {readonly import('../../../../search/domain.ts').Attribute[]} attributes
 * @returns {ShownFilter | undefined}
 */
export function readFilter(filter, attributes) {
  const colon = filter.indexOf(':');
  const name = filter.slice(0, colon);
  const declared = attributes.find((attribute) => attribute.name === name);
  if (colon < 0 || declared === undefined) return undefined;
  const text = filter.slice(colon + 1);
  const dots = text.indexOf('..');
  if (declared.type !== 'string' && dots >= 0) {
    return { attribute: name, kind: 'range', from: text.slice(0, dots).trim(), to: text.slice(dots + 2).trim() };
  }
  const values = [...text.matchAll(/(?:\\.|[^,])+/gsu)].map(([value]) => value.replaceAll(/\\([\\,])/g, '$1').trim());
  return { attribute: name, kind: 'values', values: values.filter((value) => value !== '') };
}

const MAX_FOLDED = 512;

/**
 * The same fold as the engine's: a filter written in any case means the value as it is indexed.
 * @param {string} value
 */
export function foldValue(value) {
  // Values of a catalogue are shorter. Of longer ones the same spelling alone is the same value.
  if (value.length > MAX_FOLDED) return value;
  return value.normalize('NFKC').toLowerCase().replaceAll('ё', 'е').replace(/\s+/g, ' ').trim();
}

/**
 * @param {readonly string[]} filters
 * @param {string} attribute
 * @param {readonly string[]} values None: the attribute is filtered no longer.
 */
export function withValues(filters, attribute, values) {
  const others = filters.filter((filter) => !filter.startsWith(`${attribute}:`));
  return values.length === 0
    ? others
    : [...others, `${attribute}:${values.map((value) => value.replaceAll(/[\\,]/g, '\\$&')).join(',')}`];
}

/**
 * @param {readonly string[]} filters
 * @param {readonly import('../../../../search/domain.ts').Attribute[]} attributes
 * @param {string} attribute
 * @returns {readonly string[]}
 */
export function valuesOf(filters, attributes, attribute) {
  for (const filter of filters) {
    if (!filter.startsWith(`${attribute}:`)) continue;
    const read = readFilter(filter, attributes);
    if (read?.attribute === attribute && read.kind === 'values') return read.values;
  }
  return [];
}
