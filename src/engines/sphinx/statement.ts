import type { Attribute, Filter, SearchDomain, SearchRequest } from '../../search/domain.ts';
import { FACET_VALUES } from '../../search/engine.ts';
import { type MatchText, quote, snippetQuery } from './escape.ts';
import { MISSING_BELOW } from './reply.ts';
import type { Marks } from './snippet.ts';

export interface StatementOptions {
  readonly domain: SearchDomain;
  /** An index or several, `a` or `a, b`. */
  readonly index: string;
  readonly ranker: string;
  /** Text attribute that holds the document's own id; without it the engine's numeric id is the id. */
  readonly idAttribute?: string;
  readonly maxMatches: number;
  readonly snippetLength: number;
  readonly marks: Marks;
  readonly dialect: Dialect;
}

/**
 * Columns in front of the declared attributes in each row, in this order. Behind them, when asked to highlight, stands the
 * marked title: the title itself is never taken from SNIPPET, which cuts it and may fail without a word.
 */
export const LEADING_COLUMNS = { id: 0, score: 1, title: 2, description: 3, attributes: 4 } as const;

/** searchd looks further than this only at the price of memory: `max_matches=200000000` took 6 s to allocate. */
const MOST_MATCHES = 1000;
const TITLE_LIMIT = 512;
const DAY_SECONDS = 86_400;

/**
 * Request → statements for one round trip: the results, then each facet in the request's order, and after each of them
 * SHOW META, which alone says when a part is missing. Undefined: nothing can match.
 *
 * Facets are GROUP BY queries of their own. FACET would be shorter, but over agents 2.2.11 sends it without the computed
 * columns: a fault at best, and half of the counts without any warning at worst. It is no faster (63k documents, two
 * facets, a word in 54k of them: 38.4 ms at least with FACET, 38.9 ms with GROUP BY). Over agents it also tears backticks
 * in expressions, so names are checked and stand bare.
 *
 * `maxQueryTimeMs` is soft, searchd looks at it between steps only: destroying the socket is what ends a wait for certain.
 */
export type Statements = (request: SearchRequest, text: MatchText, maxQueryTimeMs: number) => string | undefined;

/** @throws when a configured name could not stand in a statement: nothing but checked names and quoted values is sent. */
export function createStatements(options: StatementOptions): Statements {
  const { domain, index, idAttribute, ranker } = options;
  for (const { name } of domain.attributes) checkAttributeName(name);
  if (idAttribute !== undefined) checkAttributeName(idAttribute);
  for (const one of index.split(',')) checkIndexName(one.trim());
  if (!/^\w+(\('[^';]*'\))?$/.test(ranker)) throw new Error(`not a ranker: ${ranker}`);
  const maxMatches = Math.min(MOST_MATCHES, Math.max(1, options.maxMatches));

  // Manticore stops counting early unless told not to.
  const bounds = `max_matches=${maxMatches}${options.dialect === 'manticore' ? ', cutoff=0' : ''}`;
  // A word of the title says more about a document than one in the middle of its text.
  const ranking = `ranker=${ranker}, field_weights=(title=5)`;

  return (request, text, maxQueryTimeMs) => {
    const attribute = (name: string): Attribute => {
      const found = domain.attributes.find((declared) => declared.name === name);
      if (found === undefined) throw new Error(`attribute ${name} is not declared in domain ${domain.name}`);
      return found;
    };

    /** Computed columns that WHERE and ORDER BY name: searchd takes no expression there. */
    const computed: string[] = [];
    const column = (expression: string): string => {
      const name = `_x${computed.length}`;
      computed.push(`${expression} AS ${name}`);
      return name;
    };

    const where = [`MATCH(${quote(text.match)})`];
    for (const filter of request.filters) {
      const conditions = condition(filter, attribute(filter.attribute), column);
      if (conditions === undefined) return undefined;
      where.push(...conditions);
    }
    const filters = [...computed];
    const order = orderOf(request, attribute, column);
    const from = `FROM ${index} WHERE ${where.join(' AND ')}`;
    const option = `OPTION ${bounds}, max_query_time=${Math.max(1, Math.floor(maxQueryTimeMs))}`;

    const select = [
      idAttribute ?? 'id',
      'WEIGHT() AS _weight',
      'title',
      request.highlight ? marked('description', options.snippetLength, text, options) : 'description',
      ...domain.attributes.map((declared) => declared.name),
      ...(request.highlight ? [marked('title', TITLE_LIMIT, text, options)] : []),
      ...computed,
    ].join(', ');
    const offset = (request.page - 1) * request.limit;
    // An offset of max_matches is an error; a limit of 0 still counts.
    const limit = offset < maxMatches ? `${offset}, ${Math.min(request.limit, maxMatches - offset)}` : '0';

    return [
      `SELECT ${select} ${from} ORDER BY ${order} LIMIT ${limit} ${option}, ${ranking}`,
      ...request.facets.map((facet) => `${facetOf(attribute(facet), filters, from)} ${option}, ranker=none`),
    ]
      .map((statement) => `${statement}; SHOW META`)
      .join('; ');
  };
}

/** Always ends in the numeric id, so that identical questions give identical pages. */
function orderOf(
  request: SearchRequest,
  attribute: (name: string) => Attribute,
  column: (e: string) => string,
): string {
  if (request.sort.by === 'relevance') return '_weight DESC, id ASC';
  const { name: sorted, type } = attribute(request.sort.attribute);
  // Over agents 2.2.11 loses the last quote of an expression that ends in one, hence the parentheses.
  const missing = column(type === 'string' ? `(${sorted}='')` : `${sorted}<${MISSING_BELOW}`);
  return `${missing} ASC, ${sorted} ${request.sort.descending ? 'DESC' : 'ASC'}, _weight DESC, id ASC`;
}

/** One value more than a page shows: the one that stands for missing is dropped from the reply. */
function facetOf({ name: facet, type }: Attribute, filters: readonly string[], from: string): string {
  const [value, group] = type === 'date' ? [`IDIV(${facet},${DAY_SECONDS}) AS _day`, '_day'] : [facet, facet];
  const select = [value, 'COUNT(*) AS _count', ...filters].join(', ');
  return `SELECT ${select} ${from} GROUP BY ${group} ORDER BY _count DESC, ${group} ASC LIMIT ${FACET_VALUES + 1}`;
}

function marked(field: string, limit: number, text: MatchText, { marks, dialect }: StatementOptions): string {
  return (
    `SNIPPET(${field}, ${quote(snippetQuery(text, dialect))}, 'before_match=${marks.open}', 'after_match=${marks.close}', ` +
    `'limit=${limit}', 'chunk_separator= … ', 'html_strip_mode=none') AS _${field}`
  );
}

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
