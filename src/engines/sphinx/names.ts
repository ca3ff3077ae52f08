/** The two servers that speak SphinxQL, where they differ. */
export type Dialect = 'sphinx' | 'manticore';

/** What the indexer refuses as an attribute, and three words over which searchd accepts no expression. */
const RESERVED: ReadonlySet<string> = new Set(
  'and as by div facet false from id in is limit mod not null or order select true count distinct weight'.split(' '),
);

/**
 * Names are the only configured text that stands in statements and in sphinx.conf without quotes. A leading _ is left to
 * computed columns.
 * @throws
 */
export function checkAttributeName(name: string): void {
  if (!/^[A-Za-z]\w*$/.test(name)) {
    throw new Error(`Sphinx takes letters, digits and _ in attribute names, and a letter first, not "${name}"`);
  }
  if (RESERVED.has(name.toLowerCase())) {
    throw new Error(`Sphinx keeps the name "${name}" for itself: rename the attribute`);
  }
}

/** @throws */
export function checkIndexName(name: string): void {
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new Error(`Sphinx takes letters, digits and _ in index names, not "${name}"`);
}
