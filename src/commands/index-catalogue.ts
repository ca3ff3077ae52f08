import { existsSync, writeFileSync } from 'node:fs';
import { basename, resolve as resolvePath } from 'node:path';
import { type ColumnUse, nameOfColumn, shownNames, USUAL_NAMES } from '../catalogue/columns.ts';
import { inferCatalogue } from '../catalogue/infer.ts';
import { createProgress, type Progress } from '../catalogue/progress.ts';
import { type ReadProgress, type RowOptions, readCatalogue } from '../catalogue/read.ts';
import { loadSettings } from '../config/load.ts';
import type { DomainSettings } from '../config/settings.ts';
import { starterConfig } from '../config/starter.ts';
import { searchDomainOf } from '../engines/create-engines.ts';
import { buildIndex } from '../engines/sqlite/build.ts';
import { IndexError, indexFileOf } from '../engines/sqlite/schema.ts';
import type { Document } from '../search/domain.ts';
import { domainNamed, quoted, UsageError, type Words } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';

/** The file formats, columns and values that a catalogue may have, for the help. */
export const CATALOGUE_HELP: readonly string[] = [
  'A catalogue is .ndjson (or .jsonl: one JSON object per line), or .csv or .tsv with a header row, separated by commas,',
  'semicolons or tabs; each in UTF-8, and each also .gz. Its columns, or fields:',
  `  id           required, unique, 1 to 128 characters; or named ${USUAL_NAMES.id.slice(1).join(', ')}`,
  `  title        required, searched first, 1 to 1000 characters; or named ${USUAL_NAMES.title.slice(1).join(', ')}`,
  `  description  searched, may be missing; or named ${USUAL_NAMES.description.slice(1).join(', ')}`,
  '  any other    an attribute, where the domain declares one of its name. A name is compared as it is, then in lower',
  '               case with Latin letters for Cyrillic ones and _ for everything else: "Год выпуска" is god_vypuska.',
  '               Columns that are no attribute are ignored, and listed.',
  'Values: integer 1990; number 12.50; date 2026-11-20; string up to 256 characters. A number may stand in quotes. An',
  'empty cell or one of blanks, "" and null are missing values.',
];

/** A user's own catalogue into a domain's embedded index: streamed, all or nothing. */
export const indexCatalogue: Command = {
  name: 'index',
  usage: '[--init] <domain> <file.ndjson|csv[.gz]> [--into DIRECTORY] [--max-bad-rows N]',
  summary: "index your own catalogue for a domain's embedded engine, or its lifeboat; --init writes its configuration",
  options: [
    {
      name: 'init',
      about: 'write a starter configuration for the file, and index nothing; the domain may be left out',
    },
    {
      name: 'out',
      takes: 'FILE',
      about: 'with --init: the file to write, serpcache.yaml by default; it must not exist',
    },
    { name: 'into', takes: 'DIRECTORY', about: "where the index goes; the engine's or the lifeboat's by default" },
    { name: 'max-bad-rows', takes: 'N', about: 'rows that are skipped before one is an error; 0 by default' },
  ],
  takes: { min: 1, max: 2 },
  details: [
    ...CATALOGUE_HELP,
    '',
    'A catalogue of your own, from the start:',
    '  serpcache index --init shop shop.csv',
    '  SERPCACHE_CONFIG=serpcache.yaml serpcache index shop shop.csv',
  ],
  run: (words, context) => (words.has('init') ? initialize(words, context) : index(words, context)),
};

async function index(words: Words, context: CommandContext): Promise<void> {
  const { clock, stdout, stderr, settings, signal } = context;
  const [name, file] = words.positionals;
  if (name === undefined || file === undefined) throw new UsageError('index takes a domain and a file');
  if (words.has('out')) throw new UsageError('--out goes with --init; the index goes --into DIRECTORY');
  const domain = domainNamed(name, settings(), `for another one: serpcache index --init ${name} ${quoted(file)}`);
  const indexFile = indexFileOf(directoryOf(words.text('into'), domain), name);
  const progress = createProgress({ label: `indexing ${name}`, output: stderr, clock });
  let line = 0;
  let use: ColumnUse | undefined;
  const reading = rowOptions(words, context, progress, (read) => {
    line = read.line;
  });
  const onColumns = (used: ColumnUse): void => {
    use = used;
  };
  const { documents } = await buildIndex({
    file: indexFile,
    domain: searchDomainOf(domain),
    documents: notEmpty(readCatalogue(file, { ...reading, attributes: domain.attributes, onColumns }), file),
    builtAtMs: clock.wallMs(),
    signal,
  })
    .catch((error: unknown) => {
      // The index counts documents; a person looks for a line.
      if (!(error instanceof IndexError) || error.code !== 'invalid-document') throw error;
      throw new Error(`${file}, line ${line}: ${error.message}`, { cause: error });
    })
    .finally(() => progress.finish());
  if (use !== undefined) reportColumns(use, name, stderr);
  stdout.write(`${documents} documents indexed for ${name} in ${indexFile}; restart serpcache to search them\n`);
}

function rowOptions(
  words: Words,
  { signal }: CommandContext,
  progress: Progress,
  onRow: (read: ReadProgress) => void = () => undefined,
): RowOptions {
  return {
    maxBadRows: words.number('max-bad-rows', { least: 0, most: 999_999_999, whole: true }) ?? 0,
    onRow: (read) => {
      onRow(read);
      progress.update(read.rows, read.bytesRead / read.totalBytes);
    },
    onBadRow: (error) => progress.note(`skipped: ${error.message}`),
    signal,
  };
}

/** How the columns of a file were used, where that may surprise. */
export function reportColumns({ ignored, renamed }: ColumnUse, domain: string, output: CommandContext['stderr']): void {
  const read = renamed.map(([column, field]) => `${shownNames([column])} as ${field}`);
  if (read.length > 0) output.write(`columns read under another name: ${read.join(', ')}\n`);
  if (ignored.length > 0) {
    output.write(`columns ignored, as domain ${domain} declares no such attributes: ${shownNames(ignored)}\n`);
  }
}

/** The command line wins, so that a lifeboat can be built and tried before it is configured. */
function directoryOf(into: string | undefined, { name, engine, lifeboat }: DomainSettings): string {
  if (into !== undefined) return resolvePath(into);
  if (engine.kind === 'sqlite') return engine.directory;
  if (lifeboat !== undefined) return lifeboat.directory;
  const advice = 'see: serpcache sphinx-source, or give a directory for a lifeboat: --into <directory>';
  throw new UsageError(`domain ${name} is searched by ${engine.kind} and has no lifeboat; ${advice}`);
}

/** An index of nothing would take the place of a good one. */
async function* notEmpty(documents: AsyncIterable<Document>, file: string): AsyncIterable<Document> {
  let isEmpty = true;
  for await (const document of documents) {
    isEmpty = false;
    yield document;
  }
  if (isEmpty) throw new Error(`${file} holds no documents; nothing was changed`);
}

const DOMAIN_NAME = /^[a-z][a-z0-9-]{0,30}$/;

/** `--init`: the configuration of a domain, from the columns of its catalogue. */
async function initialize(words: Words, context: CommandContext): Promise<void> {
  const { clock, stdout, stderr } = context;
  const file = words.positionals.at(-1) ?? '';
  const domain = words.positionals.length === 2 ? (words.positionals[0] ?? '') : domainOf(file);
  if (!DOMAIN_NAME.test(domain)) {
    throw new UsageError(
      `the domain takes a lower-case letter, then letters, digits and -, 31 at most, not "${domain}"`,
    );
  }
  if (words.has('into')) throw new UsageError('--into goes without --init, which builds no index');
  const out = words.text('out') ?? 'serpcache.yaml';
  // Looked for again when it is written; a large catalogue should not be read for nothing.
  if (existsSync(out)) throw new Error(existsAlready(out));
  const progress = createProgress({ label: `reading ${domain}`, unit: 'rows', output: stderr, clock });
  const catalogue = await inferCatalogue(file, rowOptions(words, context, progress)).finally(() => progress.finish());
  const { text, attributes, ignored } = starterConfig({ domain, file, catalogue });
  // A configuration that the service refuses must not be written.
  loadSettings({ env: { SERPCACHE_CONFIG: out }, cwd: process.cwd(), readFile: () => text });
  writeNew(out, text);
  for (const [column, why] of ignored) stderr.write(`column ${shownNames([column])} is left out: ${why}\n`);
  const variable = `SERPCACHE_CONFIG=${quoted(out)}`;
  stdout.write(`${out} is written: domain ${domain}, ${attributes} attributes of ${catalogue.rows} rows. Then:\n`);
  stdout.write(`  ${variable} npm run serpcache -- index ${domain} ${quoted(file)}\n  ${variable} npm start\n`);
}

/** The name of the file, as far as a domain may be called so. */
function domainOf(file: string): string {
  const [stem = ''] = basename(file).split('.');
  return nameOfColumn(stem).replaceAll('_', '-') || 'catalogue';
}

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new Error(existsAlready(file), { cause: error });
  }
}

function existsAlready(file: string): string {
  return `${file} exists already, and nothing was changed; name another file: --out FILE`;
}
