/**
 * Texts that tests search. Two are on every Debian machine: the demo catalogue, and the package descriptions of apt and
 * dpkg. The files of `../shared/data` are used too, when that folder lies beside the project.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { createRandom, seedOf } from '../loadtest/random.ts';
import { DEMO_DOMAINS, demoDocuments } from '../src/catalogue/demo.ts';
import type { Attribute, AttributeType, Document } from '../src/search/domain.ts';
import { optional } from './optional.ts';

export interface Corpus {
  readonly name: CorpusName;
  readonly kind: 'goods' | 'packages' | 'packages-ru';
  readonly attributes: readonly Attribute[];
  /** In a fixed order, each id once. @throws with advice when the texts are missing. */
  readonly documents: () => Promise<readonly Document[]>;
  /** Real searches; empty for most corpora. */
  readonly searches: () => Promise<readonly string[]>;
  /** The catalogue file of the documents. */
  readonly file?: string;
}

export type CorpusName = 'demo goods' | 'packages of this machine' | OptionalName;
type OptionalName = `corpora: ${'goods' | 'packages' | 'Russian packages'}`;

const SHARED = join(import.meta.dirname, '..', '..', 'shared', 'data');

const goods = DEMO_DOMAINS.find(({ name }) => name === 'goods');

const ALWAYS: readonly Corpus[] = [
  {
    name: 'demo goods',
    kind: 'goods',
    attributes: goods?.attributes ?? [],
    documents: async () => [...demoDocuments('goods')],
    searches: async () => [],
  },
  {
    name: 'packages of this machine',
    kind: 'packages',
    attributes: attributes('section:string priority:string version:string installedKiB:integer homepage:string'),
    documents: machinePackages,
    searches: async () => [],
  },
];

const PACKAGE_ATTRIBUTES = 'section:string priority:string version:string installedKiB:integer downloadBytes:integer';
const OPTIONAL: readonly (Corpus & { readonly file: string })[] = [
  {
    ...shared('corpora: goods', 'goods', 'goods.ndjson.gz'),
    attributes: attributes('brand:string category:string price:number currency:string date:date'),
    searches: async () => {
      const [, ...lines] = await linesOf(join(SHARED, 'queries-goods-real.tsv.gz'));
      return lines.map((line) => line.split('\t')[0] ?? '');
    },
  },
  {
    ...shared('corpora: packages', 'packages', 'packages.ndjson.gz'),
    attributes: attributes(`${PACKAGE_ATTRIBUTES} homepage:string`),
  },
  {
    ...shared('corpora: Russian packages', 'packages-ru', 'packages-ru.ndjson.gz'),
    attributes: attributes('section:string installedKiB:integer downloadBytes:integer'),
  },
];

/** The available corpora: two, and those of ../shared/data when all their files are present. */
export function corpora(...kinds: readonly Corpus['kind'][]): readonly Corpus[] {
  // All or none, because the floor holds the number of tests that they add together.
  const beside = OPTIONAL.every(({ file }) => existsSync(file)) ? OPTIONAL : [];
  const folder = beside.length > 0 ? SHARED : undefined;
  optional('corpora', folder, 'put all its files into ../shared/data, beside the clone', () => {});
  const present = [...ALWAYS, ...beside];
  return kinds.length === 0 ? present : present.filter(({ kind }) => kinds.includes(kind));
}

/** At most `count` items of a list, evenly spaced. */
export function evenly<T>(list: readonly T[], count: number): readonly T[] {
  if (list.length <= count) return list;
  return Array.from({ length: count }, (_, index) => list[Math.floor((index * list.length) / count)] as T);
}

/**
 * Searches made of titles: a word, two neighbouring words, or sometimes a word with two letters swapped. The same
 * documents give the same searches, each once.
 */
export function searchesOf(documents: readonly Document[], count: number): readonly string[] {
  const random = createRandom(seedOf('searches', count));
  const searches = new Set<string>();
  for (const { title } of evenly(documents, 2 * count)) {
    const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const at = random.between(0, words.length - 1);
    const [word, next] = [words[at], words[at + 1]];
    if (word === undefined || searches.size === count) continue;
    if (random.chance(MISSPELLED)) searches.add(misspelled(word, random.between(1, Math.max(1, word.length - 2))));
    else searches.add(next === undefined || random.chance(0.5) ? word : `${word} ${next}`);
  }
  return [...searches];
}

const MISSPELLED = 0.1;

function misspelled(word: string, at: number): string {
  return `${word.slice(0, at)}${word.charAt(at + 1)}${word.charAt(at)}${word.slice(at + 2)}`;
}

const LISTS = '/var/lib/apt/lists';
const STATUS = '/var/lib/dpkg/status';
/** Unpacks the lists of apt, in every format that apt uses. */
const APT_HELPER = '/usr/lib/apt/apt-helper';
/** Even the smallest Debian has more packages installed. */
const MIN_PACKAGES = 80;

/**
 * Packages that apt knows (some 60,000) and installed packages (some hundreds; the only ones in container images, which
 * remove the lists). Lists may hold only the first line of a description, so the longer of two descriptions is kept.
 */
async function machinePackages(): Promise<readonly Document[]> {
  const packages = new Map<string, Document>();
  const texts = [...(await aptLists()), ...(existsSync(STATUS) ? [await readFile(STATUS, 'utf8')] : [])];
  for (const stanza of texts.flatMap((text) => text.split('\n\n'))) {
    const document = packageOf(stanza);
    if (document === undefined) continue;
    const known = packages.get(document.id);
    if (known === undefined || document.description.length > known.description.length) {
      packages.set(document.id, document);
    }
  }
  if (packages.size < MIN_PACKAGES) {
    throw new Error(`${LISTS} and ${STATUS} describe ${packages.size} packages: run \`apt-get update\` on a Debian`);
  }
  return [...packages.values()];
}

async function aptLists(): Promise<readonly string[]> {
  if (!existsSync(APT_HELPER) || !existsSync(LISTS)) return [];
  const names = readdirSync(LISTS).filter((name) => /_main_binary-\w+_Packages(?:\.\w+)?$/.test(name));
  const texts: string[] = [];
  for (const name of names.sort()) {
    const file = join(LISTS, name);
    try {
      const { stdout } = await promisify(execFile)(APT_HELPER, ['cat-file', file], { maxBuffer: 2 ** 28 });
      texts.push(stdout);
    } catch (error) {
      // An apt-get beside the tests may have removed a list since.
      if (existsSync(file)) throw error;
    }
  }
  return texts;
}

/** A paragraph of a list: `Name: value`, and lines that continue a value begin with a space. */
function packageOf(stanza: string): Document | undefined {
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}: *(.*(?:\n[ \t].*)*)`, 'm').exec(stanza)?.[1]?.trim();
  const id = field('Package');
  const [synopsis = '', ...more] = (field('Description(?:-en)?') ?? '').split('\n');
  if (id === undefined || synopsis === '') return undefined;
  const long = more.map((line) => line.trim()).filter((line) => line !== '.');
  const size = Number(field('Installed-Size'));
  const texts = { section: field('Section'), priority: field('Priority'), version: field('Version') };
  const values = { ...texts, homepage: field('Homepage'), installedKiB: Number.isInteger(size) ? size : undefined };
  return {
    id,
    title: `${id}: ${synopsis}`,
    description: long.length === 0 ? synopsis : long.join(' '),
    attributes: present(values),
  };
}

type Read = Readonly<Record<string, string | number | undefined>>;

function present(values: Read): Document['attributes'] {
  const kept: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(values)) if (value !== undefined) kept[name] = value;
  return kept;
}

function shared(name: OptionalName, kind: Corpus['kind'], file: string) {
  const path = join(SHARED, file);
  const documents = async (): Promise<readonly Document[]> =>
    (await linesOf(path)).map((line) => {
      const { id, title, description, ...rest } = JSON.parse(line) as Record<string, string | number>;
      return { id: String(id), title: String(title), description: String(description ?? ''), attributes: rest };
    });
  return { name, kind, file: path, documents, searches: async (): Promise<readonly string[]> => [] };
}

async function linesOf(file: string): Promise<readonly string[]> {
  return (await promisify(gunzip)(await readFile(file))).toString('utf8').trimEnd().split('\n');
}

function attributes(table: string): readonly Attribute[] {
  return table.split(' ').map((text) => {
    const [name = '', type] = text.split(':');
    return { name, type: type as AttributeType, facet: true, sort: true };
  });
}
