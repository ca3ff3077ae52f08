import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Random } from '../../src/catalogue/demo/ad.ts';
import type { Document } from '../../src/search/domain.ts';
import { queriesOf } from '../traffic/queries.ts';

export interface TextsOptions {
  readonly domain: string;
  /** Folder of the real corpora, or none. */
  readonly corpora: string | undefined;
  /** Documents of the domain. */
  readonly sample: readonly Document[];
  readonly count: number;
  readonly random: Random;
}

/** One line in ten is a search somebody made; one of six of these finds next to nothing here, as happens to people. */
const REAL_EVERY = 10;
const FRUITLESS_EVERY = 6;

const MAX_CHARACTERS = 256;

/**
 * What is searched in a domain, the most frequent first: `count` texts, each once.
 * @throws Error when the catalogue gives fewer.
 */
export async function textsOf({ domain, corpora, sample, count, random }: TextsOptions): Promise<readonly string[]> {
  if (corpora === undefined || domain !== 'goods') {
    // Twice: the first rank of a title's searches would bring the others along.
    return shuffled(queriesOf(shuffled(sample, random), count).repeated, random);
  }
  const synthetic = await rowsOf(join(corpora, 'queries-goods-synthetic.tsv.gz'));
  const real = await rowsOf(join(corpora, 'queries-goods-real.tsv.gz'));
  const isFruitful = (row: Row): boolean => /\b(?:chorus|esci)\b/.test(row.get('sources') ?? '');
  const made = textsIn(synthetic);
  const fruitful = textsIn(real.filter(isFruitful));
  const fruitless = textsIn(real.filter((row) => !isFruitful(row)));

  const texts = new Set<string>();
  for (let turn = 1; texts.size < count; turn += 1) {
    const isReal = turn % REAL_EVERY === 0;
    const wanted = isReal ? (turn % (REAL_EVERY * FRUITLESS_EVERY) === 0 ? fruitless : fruitful) : made;
    // Real ones are few: the made ones go on alone.
    const text = wanted.shift() ?? made.shift() ?? fruitful.shift() ?? fruitless.shift();
    if (text === undefined)
      throw new Error(`the corpora give ${texts.size} searches for ${domain}, ${count} are wanted`);
    texts.add(text);
  }
  return [...texts];
}

/** In the order of popularity the file has them in. */
function textsIn(rows: readonly Row[]): string[] {
  return rows.map((row) => row.get('query') ?? '').filter((text) => text !== '' && text.length <= MAX_CHARACTERS);
}

type Row = ReadonlyMap<string, string>;

const unpack = promisify(gunzip);

/** Of a table with a header row. */
async function rowsOf(file: string): Promise<readonly Row[]> {
  const text = (await unpack(await readFile(file))).toString('utf8');
  const [head = '', ...lines] = text.split('\n').filter((line) => line !== '');
  const names = head.split('\t');
  return lines.map((line) => new Map(line.split('\t').map((value, at) => [names[at] ?? '', value])));
}

/** A catalogue is sorted by something; what is searched is not. */
function shuffled<T>(list: readonly T[], random: Random): T[] {
  const result = [...list];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = random.between(0, at);
    const [here, there] = [result[at], result[other]];
    if (here === undefined || there === undefined) continue;
    result[at] = there;
    result[other] = here;
  }
  return result;
}
