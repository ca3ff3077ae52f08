import { hash } from 'node:crypto';
import { canonicalDocumentText } from '../../search/canonical.ts';

/** The two servers that speak SphinxQL. */
export type Dialect = 'sphinx' | 'manticore';

/** Attribute names that the indexer refuses, and three over which searchd accepts no expression. */
const RESERVED: ReadonlySet<string> = new Set(
  'and as by div facet false from id in is limit mod not null or order select true count distinct weight'.split(' '),
);

/**
 * Names are the only configured text without quotes in statements and in sphinx.conf. A leading _ is reserved for computed
 * columns.
 * @throws when the name is not allowed
 */
export function checkAttributeName(name: string): void {
  if (!/^[A-Za-z]\w*$/.test(name)) {
    throw new Error(`Sphinx takes letters, digits and _ in attribute names, and a letter first, not "${name}"`);
  }
  if (RESERVED.has(name.toLowerCase())) {
    throw new Error(`Sphinx keeps the name "${name}" for itself: rename the attribute`);
  }
}

/** @throws when the name is not allowed */
export function checkIndexName(name: string): void {
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new Error(`Sphinx takes letters, digits and _ in index names, not "${name}"`);
}

/** A date is stored as the unix seconds of its midnight, UTC; any second of a day means that day. */
export const DAY_SECONDS = 86_400;

/**
 * Numeric attributes in searchd have no NULL, and 0 is a value like any other. In indexes that we generate −2^62 stands for
 * a missing value: a bigint and a float32 both hold it exactly. Indexes made by others never have it. A missing text is
 * empty.
 */
export const MISSING = '-4611686018427387904';

/**
 * Every value below is missing. Comparing with MISSING itself would fail: searchd turns an integer bound of a float
 * attribute into a float32 and then cannot tell the two apart.
 */
export const MISSING_BELOW = '-4000000000000000000';

/** The day that searchd computes for a missing date is below this, and this is far below any real day. */
const MISSING_DAY_BELOW = Math.trunc(Number(MISSING_BELOW) / DAY_SECONDS);

export function isMissing(text: string): boolean {
  return Number(text) < Number(MISSING_BELOW);
}

export function isMissingDay(text: string): boolean {
  return Number(text) < MISSING_DAY_BELOW;
}

/** 63 bits of a hash: a positive number in a bigint and in a multi-value attribute. */
export function hash63(text: string): bigint {
  return hash('sha256', text, 'buffer').readBigUInt64BE() >> 1n;
}

/**
 * A list of integers or dates is a multi-value attribute. searchd has none of texts: the text attribute holds the list as
 * JSON, for pages, and this attribute beside it holds the code of each text, for filters and facets. A JSON attribute does
 * less: its comparison is by bytes, and its GROUP BY has no order among equal counts.
 */
export function codesOf(name: string): string {
  return `_codes_${name}`;
}

/** The same for texts that a filter cannot tell apart. */
export function codeOf(text: string): bigint {
  return hash63(canonicalDocumentText(text));
}

/**
 * The number that searchd prints as `81.529999`, a float32 attribute: the shortest decimal that is the same float32.
 * Values of up to 6 significant digits always come back exactly, most of 7 do.
 */
export function withoutFloat32Noise(printed: number): number {
  const stored = Math.fround(printed);
  if (!Number.isFinite(stored)) return printed;
  for (let digits = 1; digits <= 9; digits += 1) {
    const candidate = Number(stored.toPrecision(digits));
    if (Math.fround(candidate) === stored) return candidate;
  }
  return stored;
}
