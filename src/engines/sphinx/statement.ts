import type { Attribute, Filter, SearchDomain, SearchRequest } from '../../search/domain.ts';
import { FACET_VALUES } from '../../search/engine.ts';
import {
  isNgram,
  isNumber,
  otherUnit,
  pairOf,
  runsOf,
  searchdForm,
  textsOf,
  type WordPart,
  type WordRun,
  writingsOf,
} from '../analysis/words.ts';
import {
  checkAttributeName,
  checkIndexName,
  codeOf,
  codesOf,
  DAY_SECONDS,
  type Dialect,
  declaredAttribute,
  type Marks,
  MISSING_BELOW,
} from './rows.ts';

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
type SphinxStatements = (
  request: SearchRequest,
  text: MatchText,
  call: { readonly maxQueryTimeMs: number; readonly traceparent?: string | undefined },
) => string | undefined;

/** @throws when a configured name is not allowed in a statement: only checked names and quoted values are sent. */
export function createSphinxStatements(options: StatementOptions): SphinxStatements {
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

export function quote(text: string): string {
  return `'${text.replace(UNPRINTABLE, ' ').replace(/[\\']/g, '\\$&')}'`;
}

/** C0, DEL, C1, line separators and lone surrogates: searchd reads an escaped NUL as the digit 0. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;

/** Text prepared for `MATCH('…')`: every sign that a user typed is escaped or left out, so that none is syntax. */
export interface MatchText {
  /** Goes between the quotes of MATCH after `quote`. */
  readonly match: string;
  /** Its words without syntax, in all spellings, for highlights. */
  readonly words: string;
}

/**
 * All words, each in the spellings that the analysis gives it: as typed, its parts, in one piece, a unit by its other sign.
 * An index of `sphinx-source` has the other spellings of its documents in the field `spellings`, so either side may be
 * the one that is spelt in another way. Undefined when the text has no word: an empty MATCH would scan every document.
 *
 * Lower case, because MAYBE, NEAR/3, SENTENCE, PARAGRAPH and ZONE: are operators in upper case only.
 */
export function matchText(text: string): MatchText | undefined {
  const query = queryOf(text);
  return query.clauses.length === 0 ? undefined : { match: query.clauses.join(' '), words: wordsOf(query) };
}

/**
 * A looser reading for a text that found nothing: two neighbouring words may also be one. Undefined where there are none,
 * and for long texts, whose pairs would be many.
 */
export function relaxedMatchText(text: string): MatchText | undefined {
  const query = queryOf(text);
  const { runs, clauses } = query;
  if (clauses.length > MAX_RELAXED_WORDS) return undefined;
  const pairs = runs.flatMap((run, at) => {
    const pair = pairOf(run, runs[at + 1]);
    return pair === undefined ? [] : [{ at, joined: pair.join('') }];
  });
  if (pairs.length === 0) return undefined;
  const readings = pairs.map(({ at, joined }) => clauses.toSpliced(at, 2, joined).join(' '));
  return {
    match: readings.map((reading) => `(${reading})`).join(' | '),
    words: [wordsOf(query), ...pairs.map(({ joined }) => joined)].join(' '),
  };
}

const MAX_RELAXED_WORDS = 4;

/**
 * The words for `SNIPPET(…, '…')`, before `quote`. Sphinx marks each of them wherever it occurs. Manticore takes a
 * query, returns empty text for a wrong one, and marks nothing in a field without a match: a quorum of one matches any
 * word.
 */
export function snippetQuery({ words }: MatchText, dialect: Dialect): string {
  return dialect === 'sphinx' ? words : `"${escaped(words)}"/1`;
}

interface Query {
  /** The text that the places of the runs refer to. */
  readonly source: string;
  readonly runs: readonly WordRun[];
  /** One for each run. */
  readonly clauses: readonly string[];
}

/** Control characters separate words; a character of searchd's syntax is in no run, except for the joiners. */
function queryOf(text: string): Query {
  const source = text.replace(/\p{Cc}/gu, ' ').toLowerCase();
  const runs = runsOf(source);
  const clauses = runs.map((run, at) => {
    const before = runs[at - 1]?.parts.at(-1)?.pieces.at(-1)?.text ?? '';
    return clauseOf(run, source, isNumber(before));
  });
  return { source, runs, clauses };
}

function clauseOf(run: WordRun, source: string, isAfterNumber: boolean): string {
  const clauses = run.parts
    .filter(({ isArticle }) => !isArticle)
    .map((part) => partClause(part, source, isAfterNumber));
  const parts = [...new Set(clauses)];
  const all = parts.length === 1 ? parts.join('') : `(${parts.join(' ')})`;
  const typed = source.slice(run.from, run.to);
  const isBlended = run.parts.length > 1 && BLENDED.test(typed);
  const inOnePiece = run.joined.length === 0 ? [] : writingsOf(run.joined).map(phrase);
  return anyOf([...(isBlended ? [escaped(typed)] : []), all, ...inOnePiece]);
}

function partClause({ pieces }: WordPart, source: string, isAfterNumber: boolean): string {
  const [first, last] = [pieces[0], pieces.at(-1)];
  if (first === undefined || last === undefined) return '';
  const written = source.slice(first.from, last.to);
  const typed = escaped(written);
  if (pieces.length === 1) {
    const unit = isAfterNumber ? otherUnit(first.text) : undefined;
    const folded = searchdForm(written) === first.text ? [] : [first.text];
    return anyOf([typed, ...folded, ...(unit === undefined ? [] : [unit])]);
  }
  const texts = textsOf(pieces);
  // A run of characters is a phrase of them, which searchd itself takes apart.
  if (texts.some(isNgram)) return anyOf([`"${typed}"`, ...(texts.every(isNgram) ? [] : writingsOf(texts).map(phrase))]);
  // A decimal with a point is one word of an index with `blend_chars`.
  return anyOf([...(BLENDED.test(written) ? [typed] : []), ...writingsOf(texts).map(phrase)]);
}

function anyOf(spellings: readonly string[]): string {
  const different = [...new Set(spellings)];
  return different.length === 1 ? different.join('') : `(${different.join(' | ')})`;
}

const phrase = (words: string): string => (words.includes(' ') ? `"${words}"` : words);

function wordsOf({ source, runs }: Query): string {
  const words = runs.flatMap(({ from, to, parts, joined }) => [
    source.slice(from, to),
    ...(joined.length === 0 ? [] : [joined.join('')]),
    ...parts.flatMap(({ pieces }) => textsOf(pieces)),
  ]);
  return [...new Set(words)].join(' ');
}

/** A word of an index with `blend_chars`: at a sign that is not among them searchd would separate two words. */
const BLENDED = /^[\p{L}\p{M}\p{N}\-.&_]*$/u;

/** The signs of searchd's syntax that a run may hold. */
function escaped(text: string): string {
  return text.replace(/[\\()|\-!@~"&/^$<]/g, '\\$&');
}
