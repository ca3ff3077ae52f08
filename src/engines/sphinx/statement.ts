import type { Attribute, Filter, SearchDomain, SearchRequest } from '../../search/domain.ts';
import { FACET_VALUES } from '../../search/engine.ts';
import { type MatchText, snippetQuery } from './match.ts';
import {
  checkAttributeName,
  checkIndexName,
  codeOf,
  codesOf,
  DAY_SECONDS,
  type Dialect,
  MISSING_BELOW,
} from './schema.ts';

export interface StatementOptions {
  readonly domain: SearchDomain;
  /**
   * One index or several: `a`, `a, b`; plain, real-time or distributed. Pages show the text attributes `title` and
   * `description` and the declared attributes.
   */
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
 * Strings that searchd puts around found words. They are drawn at random when the process starts, so no document can
 * contain them.
 */
export interface Marks {
  readonly open: string;
  readonly close: string;
}

/**
 * Columns of each row before the declared attributes, in this order. With highlighting the marked title follows the
 * attributes. The title itself never comes from SNIPPET, which cuts it and may fail silently.
 */
export const LEADING_COLUMNS = { id: 0, score: 1, title: 2, description: 3, attributes: 4 } as const;

/** A larger `max_matches` costs searchd memory: `max_matches=200000000` took 6 s to allocate. */
const MAX_MATCHES = 1000;
const TITLE_LIMIT = 512;

/**
 * Request → statements for one round trip: the results, then each facet in the request's order, each followed by SHOW
 * META, which is the only sign that a part is missing. Undefined: nothing can match.
 *
 * Each facet is a GROUP BY query. FACET would be shorter, but Sphinx 2.2.11 sends it to agents without the computed
 * columns: an error at best, half of the counts without a warning at worst. It is no faster (63k documents, two facets, a
 * word in 54k of them: a minimum of 38.4 ms with FACET, 38.9 ms with GROUP BY). In statements for agents, 2.2.11 also
 * breaks backticks in expressions, so names are checked and not quoted.
 *
 * `maxQueryTimeMs` is soft: searchd looks at it between steps only. Only destroying the socket ends a wait for certain.
 * `traceparent` is a comment in the query log of searchd and of its agents. It is an option because searchd drops `/* … *\/`
 * before it logs a query.
 */
type Statements = (
  request: SearchRequest,
  text: MatchText,
  call: { readonly maxQueryTimeMs: number; readonly traceparent?: string | undefined },
) => string | undefined;

/** @throws when a configured name is not allowed in a statement: only checked names and quoted values are sent. */
export function createStatements(options: StatementOptions): Statements {
  const { domain, index, idAttribute, ranker } = options;
  for (const { name } of domain.attributes) checkAttributeName(name);
  if (idAttribute !== undefined) checkAttributeName(idAttribute);
  for (const one of index.split(',')) checkIndexName(one.trim());
  if (!/^\w+(\('[^';]*'\))?$/.test(ranker)) throw new Error(`not a ranker: ${ranker}`);
  const maxMatches = Math.min(MAX_MATCHES, Math.max(1, options.maxMatches));

  // Without cutoff=0 Manticore stops counting early.
  const bounds = `max_matches=${maxMatches}${options.dialect === 'manticore' ? ', cutoff=0' : ''}`;
  // A word of the title says more about a document than one in the middle of its text.
  const ranking = `ranker=${ranker}, field_weights=(title=5)`;

  return (request, text, { maxQueryTimeMs, traceparent }) => {
    const attribute = (name: string): Attribute => declaredAttribute(domain, name);
    /** Computed columns for WHERE and ORDER BY: searchd takes no expression there. */
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
    const trace = traceparent === undefined ? '' : `, comment=${quote(`traceparent=${traceparent}`)}`;
    const option = `OPTION ${bounds}, max_query_time=${Math.max(1, Math.floor(maxQueryTimeMs))}${trace}`;

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
    // An offset of max_matches is an error; with a limit of 0 searchd still gives the total.
    const limit = offset < maxMatches ? `${offset}, ${Math.min(request.limit, maxMatches - offset)}` : '0';

    return [
      `SELECT ${select} ${from} ORDER BY ${order} LIMIT ${limit} ${option}, ${ranking}`,
      ...request.facets.map((facet) => `${facetOf(attribute(facet), filters, from)} ${option}, ranker=none`),
    ]
      .map((statement) => `${statement}; SHOW META`)
      .join('; ');
  };
}

/** @throws when the domain does not declare it: a request names declared attributes only. */
export function declaredAttribute(domain: SearchDomain, name: string): Attribute {
  const found = domain.attributes.find((attribute) => attribute.name === name);
  if (found === undefined) throw new Error(`attribute ${name} is not declared in domain ${domain.name}`);
  return found;
}

/** Always ends in the numeric id, so that identical requests give identical pages. */
function orderOf(
  request: SearchRequest,
  attribute: (name: string) => Attribute,
  column: (e: string) => string,
): string {
  if (request.sort.by === 'relevance') return '_weight DESC, id ASC';
  const { name: sorted, type } = attribute(request.sort.attribute);
  // Sphinx 2.2.11 sends agents an expression without its last character if that is a quote, hence the parentheses.
  const missing = column(type === 'string' ? `(${sorted}='')` : `${sorted}<${MISSING_BELOW}`);
  return `${missing} ASC, ${sorted} ${request.sort.descending ? 'DESC' : 'ASC'}, _weight DESC, id ASC`;
}

/** One value more than a page shows, because the value that stands for missing is dropped from the reply. */
function facetOf(attribute: Attribute, filters: readonly string[], from: string): string {
  const { name: facet, type } = attribute;
  if (attribute.multiple === true) return listFacetOf(attribute, filters, from);
  const [value, group] = type === 'date' ? [`IDIV(${facet},${DAY_SECONDS}) AS _day`, '_day'] : [facet, facet];
  const select = [value, 'COUNT(*) AS _count', ...filters].join(', ');
  return `SELECT ${select} ${from} GROUP BY ${group} ORDER BY _count DESC, ${group} ASC LIMIT ${FACET_VALUES + 1}`;
}

/**
 * The texts of a list are counted by their codes, which are in no order, so more of them are read than are shown: the page
 * is right while the values with the count of the last one shown are among these.
 */
const COUNTED_TEXTS = 200;

/** A list of texts comes along, because the value of the group is a code. */
function listFacetOf({ name, type }: Attribute, filters: readonly string[], from: string): string {
  const isText = type === 'string';
  const select = ['GROUPBY() AS _value', 'COUNT(*) AS _count', ...(isText ? [name] : []), ...filters].join(', ');
  const [group, limit] = isText ? [codesOf(name), COUNTED_TEXTS] : [name, FACET_VALUES];
  return `SELECT ${select} ${from} GROUP BY ${group} ORDER BY _count DESC, _value ASC LIMIT ${limit}`;
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
 * returns its name: searchd has OR, and IN over floats, in the select list only.
 */
function condition(
  filter: Filter,
  attribute: Attribute,
  column: (expression: string) => string,
): readonly string[] | undefined {
  const { name } = attribute;
  switch (filter.kind) {
    case 'strings': {
      // In the index an empty text is a missing value.
      const values = filter.values.filter((value) => value !== '');
      if (values.length === 0) return undefined;
      if (attribute.multiple === true) return [`${codesOf(name)} IN (${values.map(codeOf).join(',')})`];
      return [`${name} IN (${values.map(quote).join(',')})`];
    }
    case 'numbers':
      return valuesOf(filter.values, attribute, column);
    case 'range':
      return rangeOf(filter, attribute);
  }
}

function valuesOf(
  given: readonly number[],
  { name, type, multiple }: Attribute,
  column: (expression: string) => string,
): readonly string[] | undefined {
  const values = given.filter((value) => (type === 'number' ? Number.isFinite(value) : Number.isSafeInteger(value)));
  if (values.length === 0) return undefined;
  if (multiple === true) {
    const stored = values.map((value) => literal(type === 'date' ? value * DAY_SECONDS : value));
    return [`${name} IN (${stored.join(',')})`];
  }
  switch (type) {
    case 'number':
      return [`${column(`(${values.map((value) => `${name}=${literal(value)}`).join(' OR ')})`)}=1`];
    case 'date':
      // A stored time is any second of its day.
      return [`${column(`IN(IDIV(${name},${DAY_SECONDS}),${values.map(literal).join(',')})`)}=1`];
    case 'integer':
      // An expression, because an index may hold whole numbers as floats, and WHERE has no IN over floats.
      return [`${column(`IN(${name},${values.map(literal).join(',')})`)}=1`];
    case 'string':
      return undefined;
  }
}

function rangeOf(
  range: { readonly from?: number; readonly to?: number },
  { name, type, multiple }: Attribute,
): readonly string[] | undefined {
  const { from, to } = range;
  if (from !== undefined && to !== undefined && from > to) return undefined;
  const low = from === undefined ? undefined : lowest(from, type);
  const high = to === undefined ? undefined : highest(to, type);
  if (multiple === true) {
    // Each of two comparisons would look for a value of its own. searchd also takes BETWEEN 2 AND 1 for a range.
    const [least, most] = [low ?? literal(-Infinity), high ?? literal(Infinity)];
    return BigInt(least) > BigInt(most) ? undefined : [`${name} BETWEEN ${least} AND ${most}`];
  }
  return [
    ...(low === undefined ? [] : [`${name}>=${low}`]),
    ...(high === undefined ? [] : [`${name}<=${high}`]),
    // An open or very low end must not include missing values.
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

/** A number in searchd's syntax: no exponent, integers within 64 bits. */
function literal(value: number): string {
  if (Number.isInteger(value)) {
    const integer = BigInt(value);
    return String(integer > INT64_MAX ? INT64_MAX : integer < -INT64_MAX ? -INT64_MAX : integer);
  }
  if (!Number.isFinite(value)) return String(value > 0 ? INT64_MAX : -INT64_MAX);
  const plain = String(value);
  return plain.includes('e') ? value.toFixed(20) : plain;
}

/** A SphinxQL string literal. */
export function quote(text: string): string {
  return `'${text.replace(UNPRINTABLE, ' ').replace(/[\\']/g, '\\$&')}'`;
}

export function collapseSpaces(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** C0, DEL, C1, line separators and lone surrogates: searchd reads an escaped NUL as the digit 0. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;

const NONCE_LENGTH = 4;
const PRIVATE_USE_FROM = 0xe000;
const PRIVATE_USE_SIZE = 6400;

/** Private-use characters only: no tokenizer takes them for a word, and no HTML escaping touches them. */
export function createMarks(random: () => number): Marks {
  const nonce = Array.from({ length: NONCE_LENGTH }, () =>
    String.fromCharCode(PRIVATE_USE_FROM + Math.floor(random() * PRIVATE_USE_SIZE)),
  ).join('');
  return { open: `\ue000${nonce}\ue000`, close: `\ue001${nonce}\ue001` };
}
