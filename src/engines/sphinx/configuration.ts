import type { Attribute, SearchDomain } from '../../search/domain.ts';
import { checkAttributeName, checkIndexName, type Dialect } from './schema.ts';

/** Attribute of every generated index that holds the document's own id: the engine's `idAttribute`. */
const ID_ATTRIBUTE = 'doc_id';

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
}

/** @throws when a name or a path is not allowed in the file. */
export function sphinxConfiguration(options: ConfigurationOptions): string {
  const { directory, domains, searchd } = options;
  // The path is also part of a shell command; `#` would begin a comment.
  if (!/^[\w./@+-]+$/.test(directory))
    throw new Error(`a path of letters, digits and ./@+-_ is needed, not ${directory}`);
  const names = domains.map(({ index }) => index);
  if (new Set(names).size < names.length) throw new Error(`two domains share an index: ${names.join(', ')}`);
  return [
    `# Written by: serpcache sphinx-source --out ${directory}`,
    '# Change the domains in the configuration of serpcache and run it again, rather than edit this file.',
    `# Build: indexer --config ${directory}/sphinx.conf --all    (with --rotate while searchd runs)`,
    `# Serve: searchd --config ${directory}/sphinx.conf`,
    '',
    ...domains.flatMap(({ domain, index }) => [source(domain, index, directory), indexBlock(index, directory)]),
    indexer(),
    daemon(directory, searchd),
  ].join('\n');
}

const TYPES: Readonly<Record<Attribute['type'], string>> = {
  string: 'string',
  // 64 bits, signed: a uint ends at 4,294,967,295 and a timestamp begins at 1970. A date is unix seconds of its midnight, UTC.
  integer: 'bigint',
  date: 'bigint',
  number: 'float',
};

function source(domain: SearchDomain, index: string, directory: string): string {
  checkIndexName(index);
  for (const { name } of domain.attributes) {
    checkAttributeName(name);
    if (['title', 'description', ID_ATTRIBUTE].includes(name.toLowerCase())) {
      throw new Error(`domain ${domain.name}: the index has an attribute ${name} of its own`);
    }
  }
  return `source ${index}
{
  type = tsvpipe
  tsvpipe_command = cat '${directory}/${index}.tsv'

  # Searched and kept: pages show them and SNIPPET needs their text.
  tsvpipe_field_string = title
  tsvpipe_field_string = description

  # A number that a document lacks is -2^62, a text that it lacks is empty.
${domain.attributes.map(({ name, type }) => `  tsvpipe_attr_${TYPES[type]} = ${name}\n`).join('')}
  # The document's own id. searchd's id is a 64-bit number, and not every id is one.
  tsvpipe_attr_string = ${ID_ATTRIBUTE}
}
`;
}

function indexBlock(index: string, directory: string): string {
  return `index ${index}
{
  type = plain
  source = ${index}
  path = ${directory}/data/${index}

  # Keeps the words themselves, which word parts and suggestions need; crc only keeps hashes.
  dict = keywords
  # Word parts of 3 and more: with dict=keywords they cost a little disk and no memory.
  min_infix_len = 3
  # Russian and English stems. The lemmatizers need dictionaries that Debian does not ship.
  morphology = stem_enru

  # Letters with their lower case, ё as е: what is folded in a query must be folded here.
  charset_table = ${CHARSET_TABLE.join(', \\\n    ')}
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

function daemon(directory: string, searchd: ConfigurationOptions['searchd']): string {
  return `searchd
{
  # SphinxQL has no passwords, and ATTACH, TRUNCATE and SET GLOBAL work for everybody who can connect: never a public address.
  listen = ${searchd.host}:${searchd.port}:mysql41
  log = ${directory}/searchd.log
  pid_file = ${directory}/searchd.pid
  # No real-time indexes, so no binary log.
  binlog_path =

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

/**
 * searchd's `charset_table`: letters and digits, each mapped to its lower case, and ё to е, as the canonical form of a
 * query does. Every other character separates words. `A..B/2` maps each even member of a range of pairs to its
 * neighbour.
 */
export const CHARSET_TABLE: readonly string[] = [
  '0..9, A..Z->a..z, a..z',
  // Latin with diacritics
  'U+C0..U+D6->U+E0..U+F6, U+D8..U+DE->U+F8..U+FE, U+DF..U+F6, U+F8..U+FF',
  'U+100..U+12F/2, U+130->U+69, U+131, U+132..U+137/2, U+138, U+139..U+148/2, U+149, U+14A..U+177/2, U+178->U+FF',
  'U+179..U+17E/2',
  // Greek
  'U+386->U+3AC, U+388..U+38A->U+3AD..U+3AF, U+38C->U+3CC, U+38E..U+38F->U+3CD..U+3CE, U+390',
  'U+391..U+3A1->U+3B1..U+3C1, U+3A3..U+3AB->U+3C3..U+3CB, U+3AC..U+3CE',
  // Cyrillic, ё as е
  'U+410..U+42F->U+430..U+44F, U+430..U+44F, U+401->U+435, U+451->U+435',
  'U+400->U+450, U+402..U+40F->U+452..U+45F, U+450, U+452..U+45F, U+48A..U+4BF/2, U+4D0..U+52F/2',
  // Hebrew, Arabic
  'U+5D0..U+5EA, U+620..U+63A, U+641..U+64A',
];

/** Han, kana and hangul are written without spaces: each character is a word. */
const NGRAM_CHARS = 'U+3040..U+30FF, U+3400..U+4DB5, U+4E00..U+9FFF, U+AC00..U+D7A3';

/**
 * Characters that are removed from words and do not separate them: accents left over by folding, soft hyphens, joiners.
 */
export const IGNORE_CHARS = 'U+AD, U+300..U+36F, U+200C, U+200D';

/** Characters that both belong to a word and separate its parts: `c++`, `at&t`, `wi-fi`, `asp.net`, `c#`, `foo_bar`. */
const BLEND_CHARS = '+, &, U+23, -, U+2E, _';
