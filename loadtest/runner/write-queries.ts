import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createRandom, type Random, seedOf } from '../../src/catalogue/demo/ad.ts';
import type { Document, SearchDomain } from '../../src/search/domain.ts';
import { type ParameterChoice, parameterChoiceOf } from './query-parameters.ts';
import { textsOf } from './query-texts.ts';

export interface WriteQueriesOptions {
  /** Its folder is made. */
  readonly file: string;
  /** Folder of the real corpora; undefined: searches are made of titles. */
  readonly corpora: string | undefined;
  /** At least one: the first, or `goods`, is searched most. */
  readonly domains: readonly SearchDomain[];
  readonly documents: (
    domain: SearchDomain,
    corpora: string | undefined,
  ) => Iterable<Document> | AsyncIterable<Document>;
  /** Searches: 5000 unless it says otherwise. */
  readonly count?: number;
}

const DEFAULT_COUNT = 5000;
/** Of the lines; the other domains share the rest evenly. */
const MAIN_SHARE = 0.8;
const WITH_PARAMETERS = 0.15;
const HEAD = `# Made for load tests, no query log: which search has which rank is invented.
# domain, text, parameters; the most frequent first.
`;

/**
 * Writes a query file for the local stack: all domains, some lines with filters, facets and orders that find something.
 * The same corpora and domains give the same file.
 * @throws Error when a domain's catalogue gives fewer searches than that.
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
    const texts = await textsOf({ domain: domain.name, corpora, sample, count: wanted, random });
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

/** At every rank each domain has its share of the lines so far, so that it has it of the traffic as well. */
function interleaved(sources: readonly Source[], count: number): string[] {
  const lines: string[] = [];
  while (lines.length < count) {
    const behind = ({ share, given }: Source): number => share * (lines.length + 1) - given;
    const next = sources.toSorted((a, b) => behind(b) - behind(a))[0];
    const text = next?.texts[next.given];
    if (next === undefined || text === undefined) break; // Not while each has its share and one more.
    next.given += 1;
    const parameters = next.random.chance(WITH_PARAMETERS) ? next.choice(text, next.random) : '';
    lines.push(`${next.domain.name}\t${text}${parameters === '' ? '' : `\t${parameters}`}`);
  }
  return lines;
}

/** Titles and attributes of so many: a few megabytes. */
const MAX_SAMPLE = 30_000;

/** As many as fit, from all of a stream of unknown length alike: whenever the sample is full, every other one goes. */
async function evenly(documents: Iterable<Document> | AsyncIterable<Document>, most: number): Promise<Document[]> {
  let kept: Document[] = [];
  let stride = 1;
  let at = 0;
  for await (const { id, title, attributes } of documents) {
    if (at % stride === 0) kept.push({ id, title, description: '', attributes });
    at += 1;
    if (kept.length <= most) continue;
    kept = kept.filter((_, index) => index % 2 === 0);
    stride *= 2;
  }
  return kept;
}
