import type { Attribute } from '../../search/domain.ts';
import type { Filter } from '../../search/request.ts';
import { quote } from './escape.ts';
import { MISSING_BELOW } from './missing.ts';

const DAY_SECONDS = 86_400;
const INT64_MAX = 9_223_372_036_854_775_807n;

/**
 * Conditions for WHERE, all of which must hold; undefined when nothing can match. `column` adds a computed column and
 * gives its name: searchd has no OR, and no IN over floats, outside of the select list.
 */
export function condition(
  filter: Filter,
  attribute: Attribute,
  column: (expression: string) => string,
): readonly string[] | undefined {
  const { name } = attribute;
  switch (filter.kind) {
    case 'strings': {
      // Empty text is how the index says that there is none.
      const values = filter.values.filter((value) => value !== '').map(quote);
      return values.length === 0 ? undefined : [`${name} IN (${values.join(',')})`];
    }
    case 'numbers':
      return valuesOf(filter.values, attribute, column);
    case 'range':
      return rangeOf(filter, attribute);
  }
}

function valuesOf(
  given: readonly number[],
  { name, type }: Attribute,
  column: (expression: string) => string,
): readonly string[] | undefined {
  const values = given.filter((value) => (type === 'number' ? Number.isFinite(value) : Number.isSafeInteger(value)));
  if (values.length === 0) return undefined;
  switch (type) {
    case 'number':
      return [`${column(`(${values.map((value) => `${name}=${literal(value)}`).join(' OR ')})`)}=1`];
    case 'date':
      // A stored time is any second of its day.
      return [`${column(`IN(IDIV(${name},${DAY_SECONDS}),${values.map(literal).join(',')})`)}=1`];
    case 'integer':
      // As an expression, because an index may hold whole numbers in a float, over which WHERE has no IN.
      return [`${column(`IN(${name},${values.map(literal).join(',')})`)}=1`];
    case 'string':
      return undefined;
  }
}

function rangeOf(
  range: { readonly from?: number; readonly to?: number },
  { name, type }: Attribute,
): readonly string[] | undefined {
  const { from, to } = range;
  if (from !== undefined && to !== undefined && from > to) return undefined;
  const low = from === undefined ? undefined : lowest(from, type);
  const high = to === undefined ? undefined : highest(to, type);
  return [
    ...(low === undefined ? [] : [`${name}>=${low}`]),
    ...(high === undefined ? [] : [`${name}<=${high}`]),
    // An open or very low end must not let the missing ones in.
    `${name}>${MISSING_BELOW}`,
  ];
}

function lowest(from: number, type: Attribute['type']): string {
  return type === 'number' ? literal(from) : literal(type === 'date' ? Math.ceil(from) * DAY_SECONDS : Math.ceil(from));
}

function highest(to: number, type: Attribute['type']): string {
  if (type === 'number') return literal(to);
  return literal(type === 'date' ? (Math.floor(to) + 1) * DAY_SECONDS - 1 : Math.floor(to));
}

/** A number as searchd reads one: no exponent, integers within 64 bits. */
function literal(value: number): string {
  if (Number.isInteger(value)) {
    const integer = BigInt(value);
    return String(integer > INT64_MAX ? INT64_MAX : integer < -INT64_MAX ? -INT64_MAX : integer);
  }
  if (!Number.isFinite(value)) return String(value > 0 ? INT64_MAX : -INT64_MAX);
  const plain = String(value);
  return plain.includes('e') ? value.toFixed(20) : plain;
}
