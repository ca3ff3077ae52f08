import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { canonicalText } from '../../src/search/canonical.ts';
import { type Attribute, type Document, isList, type SearchDomain } from '../../src/search/domain.ts';
import { createRandom, type Random, seedOf } from '../random.ts';
import { createThinned } from '../sample/sampler.ts';
import { queriesOf } from '../traffic/queries.ts';

interface WriteQueriesOptions {
  /** Its folder is made. */
  readonly file: string;
  /** Folder of the real corpora; undefined: searches are made of titles. */
  readonly corpora: string | undefined;
  /** At least one. `goods`, or else the first, is the main domain. */
  readonly domains: readonly SearchDomain[];
  readonly documents: (
    domain: SearchDomain,
    corpora: string | undefined,
  ) => Iterable<Document> | AsyncIterable<Document>;
  /** Number of searches, 5000 by default. */
  readonly count?: number;
}

const DEFAULT_COUNT = 5000;
/** The main domain's share of the lines; the other domains share the rest evenly. */
const MAIN_SHARE = 0.8;
const WITH_PARAMETERS = 0.15;
const HEAD = `# Made for load tests, no query log: which search has which rank is invented.
# domain, text, parameters; the most frequent first.
`;

/**
 * Writes a query file for the local stack: all domains, some lines with filters, facets and orders that find something.
 * The same corpora and domains give the same file.
 * @throws Error when a domain's catalogue gives too few searches.
 */
export async function writeQueries(options: WriteQueriesOptions): Promise<void> {
  const { file, corpora, domains, documents, count = DEFAULT_COUNT } = options;
  const main = domains.find(({ name }) => name === 'goods') ?? domains[0];
  if (main === undefined) throw new Error('a query file needs at least one domain');
  const rest = (1 - MAIN_SHARE) / (domains.length - 1);
  const sources: Source[] = [];
  for (const domain of domains) {
    const share = domains.length === 1 ? 1 : domain === main ? MAIN_SHARE : rest;
    const sample = await evenly(documents(domain, corpora), MAX_SAMPLE);
    const random = createRandom(seedOf('load queries', domain.name));
    const wanted = Math.ceil(count * share) + 1;
    const texts = await textsOf(domain.name, corpora, sample, wanted, random);
    sources.push({ domain, share, texts, choice: parameterChoiceOf(domain, sample), random, given: 0 });
  }
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${HEAD}${interleaved(sources, count).join('\n')}\n`);
}

interface Source {
  readonly domain: SearchDomain;
  readonly share: number;
  readonly texts: readonly string[];
  readonly choice: ParameterChoice;
  readonly random: Random;
  given: number;
}

/** Each domain has its share of the lines up to every rank, so that it has the same share of the traffic. */
function interleaved(sources: readonly Source[], count: number): string[] {
  const lines: string[] = [];
  while (lines.length < count) {
    const behind = ({ share, given }: Source): number => share * (lines.length + 1) - given;
    const next = sources.toSorted((a, b) => behind(b) - behind(a))[0];
    const text = next?.texts[next.given];
    if (next === undefined || text === undefined) break; // Does not happen: each domain has one text more than its share.
    next.given += 1;
    const parameters = next.random.chance(WITH_PARAMETERS) ? next.choice(text, next.random) : '';
    lines.push(`${next.domain.name}\t${text}${parameters === '' ? '' : `\t${parameters}`}`);
  }
  return lines;
}

/** The titles and attributes of these take a few megabytes. */
const MAX_SAMPLE = 30_000;

/** An even sample of a stream of unknown length: whenever it is full, every second document is dropped. */
async function evenly(
  documents: Iterable<Document> | AsyncIterable<Document>,
  max: number,
): Promise<readonly Document[]> {
  const kept = createThinned<Document>(max);
  let at = 0;
  for await (const { id, title, attributes } of documents) {
    if (at % kept.stride() === 0) kept.add({ id, title, description: '', attributes });
    at += 1;
  }
  return kept.all();
}

/** One line in ten is a search that a person made. One in six of these finds almost nothing here, as in real traffic. */
const REAL_EVERY = 10;
const FRUITLESS_EVERY = 6;

const MAX_CHARACTERS = 256;

/**
 * The texts that are searched in a domain, the most frequent first: `count` texts, each once.
 * @throws Error when the catalogue gives fewer.
 */
async function textsOf(
  domain: string,
  corpora: string | undefined,
  sample: readonly Document[],
  count: number,
  random: Random,
): Promise<readonly string[]> {
  if (corpora === undefined || domain !== 'goods') {
    // Shuffled twice: the searches of one title stand together otherwise.
    return shuffled(queriesOf(shuffled(sample, random), count).repeated, random);
  }
  const synthetic = await rowsOf(join(corpora, 'queries-goods-synthetic.tsv.gz'));
  const real = await rowsOf(join(corpora, 'queries-goods-real.tsv.gz'));
  const isFruitful = (row: Row): boolean => /\b(?:chorus|esci)\b/.test(row.get('sources') ?? '');
  const invented = textsIn(synthetic);
  const fruitful = textsIn(real.filter(isFruitful));
  const fruitless = textsIn(real.filter((row) => !isFruitful(row)));

  const texts = new Set<string>();
  for (let turn = 1; texts.size < count; turn += 1) {
    const isReal = turn % REAL_EVERY === 0;
    const wanted = isReal ? (turn % (REAL_EVERY * FRUITLESS_EVERY) === 0 ? fruitless : fruitful) : invented;
    // There are few real ones: synthetic ones replace them when they are used up.
    const text = wanted.shift() ?? invented.shift() ?? fruitful.shift() ?? fruitless.shift();
    if (text === undefined)
      throw new Error(`the corpora give ${texts.size} searches for ${domain}, ${count} are wanted`);
    texts.add(text);
  }
  return [...texts];
}

/** The order of the file is that of popularity. */
function textsIn(rows: readonly Row[]): string[] {
  return rows.map((row) => row.get('query') ?? '').filter((text) => text !== '' && text.length <= MAX_CHARACTERS);
}

type Row = ReadonlyMap<string, string>;

const unpack = promisify(gunzip);

/** The rows of a table with a header row, by column name. */
async function rowsOf(file: string): Promise<readonly Row[]> {
  const text = (await unpack(await readFile(file))).toString('utf8');
  const [head = '', ...lines] = text.split('\n').filter((line) => line !== '');
  const names = head.split('\t');
  return lines.map((line) => new Map(line.split('\t').map((value, at) => [names[at] ?? '', value])));
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const result = [...list];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = random.between(0, at);
    [result[at], result[other]] = [result[other] as T, result[at] as T];
  }
  return result;
}

/** Parameters for a search, as an encoded part of a query string; empty where the domain declares nothing that fits. */
type ParameterChoice = (text: string, random: Random) => string;

/** The ways to narrow a search, by weight: the most frequent is a value of a facet. */
const KINDS = [
  { kind: 'filter', weight: 5 },
  { kind: 'facet', weight: 3 },
  { kind: 'sort', weight: 3 },
  { kind: 'filter and sort', weight: 2 },
  { kind: 'range', weight: 2 },
  { kind: 'plain', weight: 1 },
] as const;

/** Filters take values of a document whose title has words of the search, so that something is found. */
function parameterChoiceOf(domain: SearchDomain, documents: readonly Document[]): ParameterChoice {
  const byWord = wordIndex(documents);
  const strings = domain.attributes.filter(({ type, facet }) => facet && type === 'string');
  const numbers = domain.attributes.filter(({ type }) => type !== 'string');
  const facets = domain.attributes.filter(({ facet }) => facet);
  const sorts = domain.attributes.filter(({ sort }) => sort);

  return (text, random) => {
    const found = likeliest(text, byWord);
    const filter = (among: readonly Attribute[]): string => {
      const known = among.filter(({ name }) => found?.attributes[name] !== undefined);
      if (found === undefined || known.length === 0) return '';
      const attribute = random.pick(known);
      const value = found.attributes[attribute.name] ?? '';
      return `filter=${attribute.name}:${valueText(attribute, isList(value) ? random.pick(value) : value)}`;
    };
    const sort = (): string =>
      sorts.length === 0 ? '' : `sort=${random.chance(0.5) ? '-' : ''}${random.pick(sorts).name}`;
    const facet = (): string => (facets.length === 0 ? '' : `facet=${random.pick(facets).name}`);

    const { kind } = random.weighted(KINDS);
    switch (kind) {
      case 'filter':
        return filter(strings);
      case 'filter and sort':
        return [filter(strings), sort()].filter((part) => part !== '').join('&');
      case 'range':
        return filter(numbers);
      case 'facet':
        return facet();
      case 'sort':
        return sort();
      case 'plain':
        return 'highlight=false';
    }
  };
}

/** A few documents per word are enough to find one with several of the words. */
const MAX_PER_WORD = 32;

type WordIndex = ReadonlyMap<string, readonly Document[]>;

function wordIndex(documents: readonly Document[]): WordIndex {
  const byWord = new Map<string, Document[]>();
  for (const document of documents) {
    for (const word of wordsOf(document.title)) {
      const known = byWord.get(word);
      if (known === undefined) byWord.set(word, [document]);
      else if (known.length < MAX_PER_WORD) known.push(document);
    }
  }
  return byWord;
}

function likeliest(text: string, byWord: WordIndex): Document | undefined {
  const hits = new Map<Document, number>();
  for (const word of wordsOf(text)) {
    for (const document of byWord.get(word) ?? []) hits.set(document, (hits.get(document) ?? 0) + 1);
  }
  const most = Math.max(...hits.values());
  return hits.entries().find(([, count]) => count === most)?.[0];
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(canonicalText(text).match(/[\p{L}\d]+/gu) ?? []);
}

/** A value as parseFilter reads it, encoded: a number as an upper bound, a date as a lower bound. */
function valueText({ type }: Attribute, value: string | number): string {
  if (type === 'string') return encodeURIComponent(String(value).replace(/[\\,]|\.\./g, '\\$&'));
  return type === 'date' ? `${value}..` : `..${value}`;
}
