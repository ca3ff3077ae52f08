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
import { type ConfigurationOptions, ID_ATTRIBUTE, SPELLINGS_FIELD, sphinxConfiguration } from './configuration.ts';
import { codeOf, codesOf, hash63, MISSING_BELOW, MISSING_NUMBER, withoutFloat32Noise } from './rows.ts';
import { quote } from './statement.ts';

export interface SphinxSourceOptions extends Pick<ConfigurationOptions, 'searchd' | 'realtime'> {
  /** Created when absent; files in it are overwritten. searchd's own files go here too. */
  readonly directory: string;
  readonly domains: readonly {
    readonly domain: SearchDomain;
    readonly index: string;
    readonly documents: Iterable<Document> | AsyncIterable<Document>;
  }[];
  /** Called after every document. */
  readonly progress?: (domain: string, documents: number) => void;
}

/**
 * Writes one `sphinx.conf` and the documents of each domain: `<index>.tsv` for the indexer, or the statements `<index>.sql`
 * for a real-time table. Streams: memory holds the ids only.
 * @throws when a domain has no documents, when a value does not fit its attribute (names the document), and when two ids
 * become the same number (names both).
 */
export async function writeSphinxSource(options: SphinxSourceOptions) {
  const directory = resolve(options.directory);
  const configuration = sphinxConfiguration({ ...options, directory });
  await mkdir(join(directory, 'data'), { recursive: true });
  const domains: Awaited<ReturnType<typeof writeLines>>[] = [];
  for (const { domain, index, documents } of options.domains) {
    const report = (count: number): void => options.progress?.(domain.name, count);
    const [file, lineOf] = options.realtime
      ? [`${index}.sql`, (document: Document) => `${replaceStatement(index, domain, [document])};\n`]
      : [`${index}.tsv`, (document: Document) => indexerLine(document, domain)];
    domains.push(await writeLines(join(directory, file), lineOf, domain, documents, report));
  }
  const configFile = join(directory, 'sphinx.conf');
  await writeFile(configFile, configuration);
  /** `configFile`: for `indexer --config <file> --all` and `searchd --config <file>`. */
  return { configFile, domains };
}

async function writeLines(
  file: string,
  lineOf: (document: Document) => string,
  domain: SearchDomain,
  documents: Iterable<Document> | AsyncIterable<Document>,
  report: (count: number) => void,
) {
  /** Per `number` attribute: the number of values that its 32-bit float changes. */
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
      for (const { name, type } of domain.attributes) {
        const value = document.attributes[name];
        const isOther = type === 'number' && typeof value === 'number' && isRounded(value);
        if (isOther) rounded[name] = (rounded[name] ?? 0) + 1;
      }
      yield lineOf(document);
      report(ids.size);
    }
  }
  await pipeline(rows, createWriteStream(file));
  // For an empty file the indexer writes nothing, and searchd does not serve the index.
  if (ids.size === 0) throw new Error(`domain ${domain.name}: no documents`);
  return { domain: domain.name, documents: ids.size, rounded };
}

/**
 * searchd tells the bytes of an index and no hash of it (`rotation.ts`). Spaces after the spellings, by a hash of the row, give
 * an index of other documents another size, even where only prices differ: an index with one other document, in 63 of 64 cases.
 */
function indexerLine(document: Document, domain: SearchDomain): string {
  const cells = rowOf(document, domain).map(({ text }) => text);
  const spaces = ' '.repeat(Number(hash63(cells.join('\t')) % 64n));
  return `${cells.with(3, `${cells[3]}${spaces}`).join('\t')}\n`;
}

/**
 * One statement that adds documents to a real-time table of `sphinxConfiguration`, or replaces those of the same id. It must
 * be shorter than searchd's `max_packet_size`.
 * @throws when a value does not fit its attribute: names the document
 */
export function replaceStatement(index: string, domain: SearchDomain, documents: readonly Document[]): string {
  const rows = documents.map((document) => rowOf(document, domain));
  const names = rows[0]?.map(({ column }) => column) ?? [];
  const values = rows.map((row) => `(${row.map(literalOf).join(',')})`);
  return `REPLACE INTO ${index} (${names.join(',')}) VALUES ${values.join(',')}`;
}

interface Cell {
  readonly column: string;
  readonly text: string;
  readonly is: 'text' | 'number' | 'list';
}

function literalOf({ text, is }: Cell): string {
  if (is === 'text') return quote(text);
  return is === 'list' ? `(${text})` : text;
}

function rowOf(document: Document, domain: SearchDomain): readonly Cell[] {
  const [title, description] = [cell(document.title), cell(document.description)];
  // A document is also found by its id and by its searched attributes.
  const others = cell(`${document.id} ${searchedText(document, domain)}`.trim());
  const spellings = [others, spellingsField(`${title} ${description} ${others}`)]
    .filter((text) => text !== '')
    .join(' ');
  return [
    { column: 'id', text: String(numericId(document.id)), is: 'number' },
    { column: 'title', text: title, is: 'text' },
    { column: 'description', text: description, is: 'text' },
    { column: SPELLINGS_FIELD, text: spellings, is: 'text' },
    ...domain.attributes.flatMap((one) => cellsOf(document.attributes[one.name], one, document.id)),
    { column: ID_ATTRIBUTE, text: cell(document.id), is: 'text' },
  ];
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
function cellsOf(value: AttributeValue | undefined, attribute: Attribute, id: string): readonly Cell[] {
  const { name: column, type, multiple } = attribute;
  const isText = type === 'string';
  if (multiple !== true) return [{ column, text: attributeText(value, attribute, id), is: isText ? 'text' : 'number' }];
  const texts = [value ?? []].flat().map((item) => attributeText(item, attribute, id));
  if (!isText) return [{ column, text: texts.join(','), is: 'list' }];
  return [
    { column, text: texts.length === 0 ? '' : JSON.stringify(texts), is: 'text' },
    { column: codesOf(column), text: texts.map(codeOf).join(','), is: 'list' },
  ];
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
