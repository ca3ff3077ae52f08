import type { Attribute, SearchDomain } from '../../search/domain.ts';
import { ANALYSIS, type CodeRange } from '../analysis/table.ts';
import { characterOf, isNgram, MARKS } from '../analysis/words.ts';
import { checkAttributeName, checkIndexName, codesOf, type Dialect } from './rows.ts';

/** Attribute of every generated index that holds the document's own id: the engine's `idAttribute`. */
export const ID_ATTRIBUTE = 'doc_id';
/** Field of every generated index with other spellings of a document's words: `wifi` for Wi-Fi, `128 гб` for 128ГБ. */
export const SPELLINGS_FIELD = 'spellings';

export interface ConfigurationOptions {
  readonly domains: readonly { readonly domain: SearchDomain; readonly index: string }[];
  readonly searchd: {
    readonly dialect: Dialect;
    readonly host: string;
    readonly port: number;
    /** Maximum number of connections at once, idle ones included. */
    readonly maxConnections: number;
  };
  /** Path for indexer and searchd: they read `<directory>/<index>.tsv` and write `<directory>/data`. */
  readonly directory: string;
  /** Real-time tables, which begin empty, instead of indexes that the indexer builds. */
  readonly realtime?: boolean;
}

/** @throws when a name or a path is not allowed in the file. */
export function sphinxConfiguration(options: ConfigurationOptions): string {
  const { directory, domains, searchd, realtime = false } = options;
  // The path is also part of a shell command; `#` would begin a comment.
  if (!/^[\w./@+-]+$/.test(directory))
    throw new Error(`a path of letters, digits and ./@+-_ is needed, not ${directory}`);
  const names = domains.map(({ index }) => index);
  if (new Set(names).size < names.length) throw new Error(`two domains share an index: ${names.join(', ')}`);
  const fill = `cat ${directory}/*.sql | mysql --host ${searchd.host} --port ${searchd.port}`;
  return [
    `# Written by: serpcache sphinx-source ${realtime ? '--realtime ' : ''}--out ${directory}`,
    '# Change the domains in the configuration of serpcache and run it again, rather than edit this file.',
    realtime
      ? `# Fill: ${fill}    (while searchd runs; the statements replace documents of the same id)`
      : `# Build: indexer --config ${directory}/sphinx.conf --all    (with --rotate while searchd runs)`,
    `# Serve: searchd --config ${directory}/sphinx.conf`,
    '',
    ...domains.flatMap(({ domain, index }, at) => {
      // A derived table would have the columns of the first one too.
      if (realtime) return [indexBlock(index, directory, ['type = rt'], realtimeLines(domain, index))];
      const plain = ['type = plain', `source = ${index}`];
      const block = at === 0 ? indexBlock(index, directory, plain) : derivedBlock(index, names[0] ?? '', directory);
      return [source(domain, index, directory), block];
    }),
    ...(realtime ? [] : [indexer()]),
    daemon(directory, searchd, realtime),
  ].join('\n');
}

const TYPES: Readonly<Record<Attribute['type'], string>> = {
  string: 'string',
  // 64 bits, signed: a uint ends at 4,294,967,295 and a timestamp begins at 1970. A date is unix seconds of its midnight, UTC.
  integer: 'bigint',
  date: 'bigint',
  number: 'float',
};

function attributeLines({ name, type, multiple }: Attribute): readonly string[] {
  if (multiple !== true) return [`attr_${TYPES[type]} = ${name}`];
  if (type === 'number') throw new Error(`attribute ${name}: searchd has no lists of fractions`);
  if (type !== 'string') return [`attr_multi_64 = ${name}`];
  return [`attr_string = ${name}`, `attr_multi_64 = ${codesOf(name)}`];
}

function source(domain: SearchDomain, index: string, directory: string): string {
  return `source ${index}
{
  type = tsvpipe
  tsvpipe_command = cat '${directory}/${index}.tsv'

${columns(domain, index, 'tsvpipe')}}
`;
}

function realtimeLines(domain: SearchDomain, index: string): string {
  return `  # Documents in memory, at most; then they become a part on disk. Parts are searched one after another, and keep documents
  # that were replaced or deleted, until OPTIMIZE INDEX ${index} has joined them: run it at night.
  rt_mem_limit = 256M

${columns(domain, index, 'rt')}`;
}

function columns(domain: SearchDomain, index: string, prefix: 'tsvpipe' | 'rt'): string {
  checkIndexName(index);
  for (const { name } of domain.attributes) {
    checkAttributeName(name);
    if (['title', 'description', SPELLINGS_FIELD, ID_ATTRIBUTE].includes(name.toLowerCase())) {
      throw new Error(`domain ${domain.name}: the index has an attribute ${name} of its own`);
    }
  }
  // A field of a real-time table keeps no text in 2.2.11: an attribute of the same name does.
  const kept = (name: string): string =>
    prefix === 'rt' ? `rt_field = ${name}\n  rt_attr_string = ${name}` : `tsvpipe_field_string = ${name}`;
  return `  # Searched and kept: pages show them and SNIPPET needs their text.
  ${kept('title')}
  ${kept('description')}
  # Searched, not kept: other spellings of their words (wifi for Wi-Fi, 128 гб for 128ГБ), the id, and searched attributes.
  ${prefix}_field = ${SPELLINGS_FIELD}

  # A number that a document lacks is -2^62, a text that it lacks is empty.
${domain.attributes
  .flatMap(attributeLines)
  .map((line) => `  ${prefix}_${line}\n`)
  .join('')}
  # The document's own id. searchd's id is a 64-bit number, and not every id is one.
  ${prefix}_attr_string = ${ID_ATTRIBUTE}
`;
}

function indexBlock(index: string, directory: string, kind: readonly string[], more = ''): string {
  return `index ${index}
{
${kind.map((line) => `  ${line}\n`).join('')}  path = ${directory}/data/${index}
${more}
  # Keeps the words themselves, which word parts and suggestions need; crc only keeps hashes.
  dict = keywords
  # Word parts of 3 and more: with dict=keywords they cost a little disk and no memory.
  min_infix_len = 3
  # Russian and English stems. The lemmatizers need dictionaries that Debian does not ship.
  morphology = stem_enru

  # Letters and digits, folded as in a query: lower case, without marks, ё as е, ł as l.
  charset_table = ${lines(charsetTable())}
  # Scripts without spaces: every character is a word.
  ngram_len = 1
  ngram_chars = ${NGRAM_CHARS}
  # Left-over accents, soft hyphens and joiners neither separate words nor belong to them.
  ignore_chars = ${IGNORE_CHARS}
  # c++, at&t, wi-fi and asp.net are found whole and by their parts ...
  blend_chars = ${BLEND_CHARS}
  # ... with and without the punctuation at their ends; punctuation alone is no word.
  blend_mode = trim_none, trim_head, trim_tail, skip_pure

  # Text is text: markup is escaped when a page is made.
  html_strip = 0
}
`;
}

/** An index with the words of the first one. */
function derivedBlock(index: string, first: string, directory: string): string {
  return `index ${index} : ${first}
{
  source = ${index}
  path = ${directory}/data/${index}
}
`;
}

/** A list over several lines: searchd reads lines of limited length. */
function lines(items: readonly string[]): string {
  const count = Math.ceil(items.length / ITEMS_PER_LINE);
  const rows = Array.from({ length: count }, (_, row) => items.slice(row * ITEMS_PER_LINE, (row + 1) * ITEMS_PER_LINE));
  return rows.map((row) => row.join(', ')).join(', \\\n    ');
}

const ITEMS_PER_LINE = 8;

function indexer(): string {
  return `indexer
{
  # More is faster until the corpus fits; 63,000 documents take about 5 s with this.
  mem_limit = 256M
}
`;
}

/** The directive that bounds connections. Neither server knows the other's: Manticore ignores `max_children`. */
const MAX_CONNECTIONS: Readonly<Record<Dialect, string>> = { sphinx: 'max_children', manticore: 'max_connections' };

function daemon(directory: string, searchd: ConfigurationOptions['searchd'], realtime: boolean): string {
  const binlog = realtime
    ? `# Changes, which a start after a crash makes again: it loses what is in memory.\n  binlog_path = ${directory}/data`
    : '# No real-time indexes, so no binary log.\n  binlog_path =';
  return `searchd
{
  # SphinxQL has no passwords, and ATTACH, TRUNCATE and SET GLOBAL work for everybody who can connect: never a public address.
  listen = ${searchd.host}:${searchd.port}:mysql41
  log = ${directory}/searchd.log
  pid_file = ${directory}/searchd.pid
  ${binlog}

  # Every connection counts, idle ones too: the pools of all serpcache processes together must stay below. This is no
  # admission control: past 4-8 searches at once searchd only gets slower, so serpcache's maxConcurrent is what limits.
  ${MAX_CONNECTIONS[searchd.dialect]} = ${searchd.maxConnections}
  # Connections not yet taken: with the default of 5 a burst of 32 waits for seconds, with this 11-61 ms. After a restart of
  # either side all come at once.
  listen_backlog = 128

  # indexer --rotate swaps an index without an error for anybody; the old files go.
  seamless_rotate = 1
  unlink_old = 1

  # Text compares without case, and ё as е, for other clients as well; serpcache asks for it in each connection.
  collation_server = utf8_general_ci

  # Idle connections may stay longer than serpcache keeps them (60 s).
  client_timeout = 300
  max_packet_size = 8M
  # A word part may stand for thousands of words: bounds what one query can cost.
  expansion_limit = 32
  # The facets of a search share its matches.
  subtree_docs_cache = 8M
  subtree_hits_cache = 16M
}
`;
}

/** The blocks whose letters and digits are words: the scripts that have spaces between words. */
const LETTER_BLOCKS: readonly CodeRange[] = [
  [0x0030, 0x02af], // Latin
  [0x0370, 0x052f], // Greek, Cyrillic
  [0x0531, 0x0587], // Armenian
  [0x05d0, 0x06ff], // Hebrew, Arabic
  [0x0900, 0x0dff], // the scripts of India
  [0x10a0, 0x139f], // Georgian, Ethiopic
  [0x1e00, 0x1eff], // Latin of Vietnam and others
];

/**
 * searchd's `charset_table`: letters and digits, each mapped to the character that the analysis folds it to. Every other
 * character separates words. Neighbours that are mapped alike are one range.
 */
export function charsetTable(): readonly string[] {
  const ranges: { from: number; to: number; shift: number }[] = [];
  for (const [first, end] of LETTER_BLOCKS) {
    for (let code = first; code <= end; code += 1) {
      const character = String.fromCodePoint(code);
      if (!isLetter(character)) continue;
      const shift = (characterOf(character).codePointAt(0) ?? code) - code;
      const last = ranges.at(-1);
      if (last !== undefined && last.to === code - 1 && last.shift === shift) last.to = code;
      else ranges.push({ from: code, to: code, shift });
    }
  }
  return ranges.map(({ from, to, shift }) => {
    const span = (at: number): string => (from === to ? hex(from + at) : `${hex(from + at)}..${hex(to + at)}`);
    return shift === 0 ? span(0) : `${span(0)}->${span(shift)}`;
  });
}

/** A letter, a digit, or a vowel sign that stays with its letter. */
function isLetter(character: string): boolean {
  const isWord = /^[\p{L}\p{M}\p{N}]$/u.test(character) && character.replace(MARKS, '') !== '';
  // A fraction or an ordinal folds to several characters or to another sign.
  return isWord && !isNgram(character) && !ANALYSIS.apostrophes.includes(character);
}

const hex = (code: number): string => `U+${code.toString(16).toUpperCase()}`;
const hexRange = ([from, to]: CodeRange): string => (from === to ? hex(from) : `${hex(from)}..${hex(to)}`);

/** Sphinx knows no characters beyond. */
const MAX_CODE = 0x20000;
const NGRAM_CHARS = ANALYSIS.ngrams
  .filter(([from]) => from < MAX_CODE)
  .map(hexRange)
  .join(', ');

/** Characters that are removed from words and do not separate them: marks, soft hyphens, joiners. */
export const IGNORE_CHARS = ['U+AD', ...ANALYSIS.marks.map(hexRange), 'U+200D'].join(', ');

/** Characters that both belong to a word and separate its parts: `c++`, `at&t`, `wi-fi`, `asp.net`, `c#`, `foo_bar`. */
const BLEND_CHARS = '+, &, U+23, -, U+2E, _';
