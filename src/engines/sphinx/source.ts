import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  type Attribute,
  type AttributeValue,
  type Document,
  isList,
  type SearchDomain,
  searchedText,
} from '../../search/domain.ts';
import {
  isNgram,
  PLAIN,
  runsOf,
  searchdForm,
  spellingsOf,
  textsOf,
  type WordPart,
  withoutUmlauts,
} from '../analysis/words.ts';
import { type ConfigurationOptions, sphinxConfiguration } from './configuration.ts';
import { codeOf, hash63, MISSING_BELOW, MISSING_NUMBER, withoutFloat32Noise } from './rows.ts';

export interface SphinxSourceOptions {
  /** Created when absent; files in it are overwritten. searchd's own files go here too. */
  readonly directory: string;
  readonly domains: readonly {
    readonly domain: SearchDomain;
    readonly index: string;
    readonly documents: Iterable<Document> | AsyncIterable<Document>;
  }[];
  readonly searchd: ConfigurationOptions['searchd'];
  /** Called after every document. */
  readonly progress?: (domain: string, documents: number) => void;
}

interface SphinxSource {
  /** For `indexer --config <file> --all` and `searchd --config <file>`. */
  readonly configFile: string;
  readonly domains: readonly {
    readonly domain: string;
    readonly documents: number;
    /** Per `number` attribute: the number of values that its 32-bit float changes. */
    readonly rounded: Readonly<Record<string, number>>;
  }[];
}

/**
 * Writes the indexer's input, one `<index>.tsv` per domain, and one `sphinx.conf`. Streams: memory holds the ids only.
 * @throws when a domain has no documents, when a value does not fit its attribute (names the document), and when two ids
 * become the same number (names both).
 */
export async function writeSphinxSource(options: SphinxSourceOptions): Promise<SphinxSource> {
  const directory = resolve(options.directory);
  const configuration = sphinxConfiguration({ ...options, directory });
  await mkdir(join(directory, 'data'), { recursive: true });
  const domains: SphinxSource['domains'][number][] = [];
  for (const { domain, index, documents } of options.domains) {
    const report = (count: number): void => options.progress?.(domain.name, count);
    domains.push(await writeRows(join(directory, `${index}.tsv`), domain, documents, report));
  }
  const configFile = join(directory, 'sphinx.conf');
  await writeFile(configFile, configuration);
  return { configFile, domains };
}

async function writeRows(
  file: string,
  domain: SearchDomain,
  documents: Iterable<Document> | AsyncIterable<Document>,
  report: (count: number) => void,
): Promise<SphinxSource['domains'][number]> {
  const rounded: Record<string, number> = {};
  const ids = new Map<bigint, string>();
  async function* rows(): AsyncGenerator<string> {
    for await (const document of documents) {
      const id = numericId(document.id);
      const other = ids.get(id);
      if (other === document.id) throw new Error(`domain ${domain.name}: id ${document.id} occurs twice`);
      if (other !== undefined) {
        throw new Error(`domain ${domain.name}: ids ${other} and ${document.id} share the number ${id}`);
      }
      ids.set(id, document.id);
      const values = domain.attributes.flatMap((attribute) => {
        const value = document.attributes[attribute.name];
        if (attribute.type === 'number' && typeof value === 'number' && isRounded(value)) {
          rounded[attribute.name] = (rounded[attribute.name] ?? 0) + 1;
        }
        return cellsOf(value, attribute, document.id);
      });
      const [title, description] = [cell(document.title), cell(document.description)];
      // A document is also found by its id and by its searched attributes.
      const others = cell(`${document.id} ${searchedText(document, domain)}`.trim());
      const spellings = [others, spellingsField(`${title} ${description} ${others}`)]
        .filter((text) => text !== '')
        .join(' ');
      const row = [String(id), title, description, spellings, ...values, cell(document.id)];
      yield `${row.join('\t')}\n`;
      report(ids.size);
    }
  }
  await pipeline(rows, createWriteStream(file));
  // For an empty file the indexer writes nothing, and searchd does not serve the index.
  if (ids.size === 0) throw new Error(`domain ${domain.name}: no documents`);
  return { domain: domain.name, documents: ids.size, rounded };
}

/**
 * The number of a document in the index: its id where that is a plain decimal below 2^63, else 63 bits of a hash of the
 * id. Never 0, which the indexer skips.
 */
export function numericId(id: string): bigint {
  if (/^[1-9]\d{0,18}$/.test(id) && BigInt(id) < 2n ** 63n) return BigInt(id);
  const bits = hash63(id);
  return bits === 0n ? 1n : bits;
}

/** Removes control characters: tab and newline belong to the format, NUL ends a string in searchd, 1–7 mark its zones. */
function cell(text: string): string {
  return text
    .normalize('NFC')
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

/** One cell, and for a list of texts a second one with their codes. */
function cellsOf(value: AttributeValue | undefined, attribute: Attribute, id: string): readonly string[] {
  if (attribute.multiple !== true) return [attributeText(value, attribute, id)];
  const texts = [value ?? []].flat().map((item) => attributeText(item, attribute, id));
  if (attribute.type !== 'string') return [texts.join(',')];
  return texts.length === 0 ? ['', ''] : [JSON.stringify(texts), texts.map(codeOf).join(',')];
}

function attributeText(value: AttributeValue | undefined, { name, type }: Attribute, id: string): string {
  const wrong = (): Error => new Error(`document ${id}: ${name} is ${type}, not ${JSON.stringify(value)}`);
  if (value !== undefined && isList(value)) throw wrong();
  if (type === 'string') return value === undefined ? '' : cell(String(value));
  if (value === undefined) return MISSING_NUMBER;
  switch (type) {
    case 'integer':
      if (!Number.isSafeInteger(value)) throw wrong();
      return String(value);
    case 'number': {
      if (typeof value !== 'number' || !(value > Number(MISSING_BELOW) && Math.abs(value) < 1e30)) throw wrong();
      const plain = String(value);
      return plain.includes('e') ? value.toFixed(10) : plain;
    }
    case 'date': {
      const time = /^\d{4}-\d\d-\d\d$/.test(String(value)) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
      if (Number.isNaN(time)) throw wrong();
      return String(time / 1000);
    }
  }
}

/** searchd stores a float32 and prints it with six decimals. */
function isRounded(value: number): boolean {
  return withoutFloat32Noise(Number(Math.fround(value).toFixed(6))) !== value;
}

/** Other spellings of the words of a document, which searchd does not find in it by itself: the field `spellings`. */
export function spellingsField(text: string): string {
  const field = runsOf(text).flatMap((run) => {
    const spelled = spellingsOf(run).map(({ words }) => words);
    // Shorter spellings are found in a longer one, as its neighbours.
    const longest = spelled.filter(
      (words) => !spelled.some((other) => other !== words && ` ${other} `.includes(` ${words} `)),
    );
    return [...longest, ...run.parts.flatMap(({ pieces }) => lettersOf(pieces, text))];
  });
  return [...new Set(field)].join(' ');
}

/** A word, or a run of characters, as it is folded where a `charset_table` cannot fold it, and without umlauts. */
function lettersOf(pieces: WordPart['pieces'], text: string): readonly string[] {
  const typed = text.slice(pieces[0]?.from, pieces.at(-1)?.to);
  if (PLAIN.test(typed)) return [];
  const texts = textsOf(pieces);
  if (texts.length > 1 && !texts.every(isNgram)) return [];
  return [texts.join(''), withoutUmlauts(typed)].filter((spelling) => spelling !== searchdForm(typed));
}
