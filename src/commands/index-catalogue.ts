import { randomUUID } from 'node:crypto';
import { resolve as resolvePath } from 'node:path';
import { type ColumnUse, shownNames, TEXT_FIELDS, USUAL_NAMES } from '../catalogue/columns.ts';
import { PRESET_NAMES } from '../catalogue/presets.ts';
import type { CatalogueForm, ReadOptions, ReadProgress } from '../catalogue/read.ts';
import { CatalogueError } from '../catalogue/row.ts';
import type { DomainSettings } from '../config/settings.ts';
import { searchDomainOf } from '../engines/create-engines.ts';
import { buildIndex } from '../engines/sqlite/build.ts';
import { indexFileOf } from '../engines/sqlite/schema.ts';
import { updateIndex } from '../engines/sqlite/update.ts';
import { countText } from '../report/format.ts';
import type { Document, SearchDomain } from '../search/domain.ts';
import type { DocumentUpdate } from '../search/engine.ts';
import { type Option, type ParsedArguments, quoted, UsageError } from './arguments.ts';
import { type Command, type CommandContext, domainNamed } from './command.ts';
import { createProgress, type Progress } from './terminal.ts';

/** The help about formats, columns and values of a catalogue. */
export const CATALOGUE_HELP: readonly string[] = [
  'A catalogue is .ndjson, .jsonl or .json (one JSON object per line, or an array of them); .csv, .tsv or .txt with a header',
  'row, separated by commas, semicolons, tabs or |, as spreadsheets and databases write it; or .xml or .yml, a product feed;',
  `each also .gz or .zst. Forms of shops are known by their header or root element: ${PRESET_NAMES.join(', ')}.`,
  'Text is UTF-8, or UTF-16 with a byte order mark, or of the encoding that XML declares. Columns, or fields:',
  `  id           required, unique, 1 to 512 bytes; or named ${USUAL_NAMES.id.slice(1).join(', ')}`,
  `  title        required, searched first, cut to 1000 characters; or named ${USUAL_NAMES.title.slice(1).join(', ')}`,
  `  description  searched, may be missing; or named ${USUAL_NAMES.description.slice(1).join(', ')}`,
  '  any other    an attribute, where the domain declares one of its name. A name is compared as it is, then in lower',
  '               case with Latin letters for Cyrillic ones and _ for everything else: "Год выпуска" is god_vypuska.',
  '               Columns that are no attribute are ignored, and listed.',
  'Values: integer 1990; number 12.50, 1 299,50 or 19.95 EUR; date 2026-11-20, 20.11.2026, or the day of a time; string,',
  'cut to 256 characters. Markup and entities of HTML are read as text. An empty cell, "", null and \\N are missing values.',
  'Where the domain declares multiple: true: a list in JSON, or a cell split at its separator; up to 64 different values.',
];

/** How a catalogue is read. */
export const CATALOGUE_OPTIONS: readonly Option[] = [
  { name: 'into', takes: 'DIRECTORY', about: "directory of the index; by default the engine's or the lifeboat's" },
  { name: 'max-bad-rows', takes: 'N', about: 'maximum number of bad rows that are skipped; 0 by default' },
  ...TEXT_FIELDS.map((name) => ({ name, takes: 'COLUMN', about: `the column that is the ${name}` })),
  { name: 'preset', takes: 'NAME', about: `the form of the file: ${PRESET_NAMES.join(', ')}` },
  { name: 'encoding', takes: 'NAME', about: 'the encoding where the file does not name it, such as windows-1251' },
  { name: 'serve', about: 'start the service afterwards' },
];

const UPDATE_OPTION: Option = {
  name: 'update',
  about:
    'add the documents to the index, or replace those with their ids; a row whose column op is delete deletes its id',
};

/** Indexes a user's catalogue into a domain's embedded index. It is streamed; a fault leaves the old index in place. */
export const indexCatalogue: Command = {
  name: 'index',
  usage: '<domain> <file.ndjson|csv|xml[.gz|.zst]> [--into DIRECTORY] [--max-bad-rows N] [--update] [--serve]',
  summary: "index your own catalogue for a domain's embedded engine, or its lifeboat; the first time: serpcache init",
  options: [...CATALOGUE_OPTIONS, UPDATE_OPTION],
  takes: { min: 2, max: 2 },
  details: [
    ...CATALOGUE_HELP,
    '',
    'A new catalogue, from the file to the search page: serpcache init --catalogue shop.csv --serve',
  ],
  run: index,
};

async function index(args: ParsedArguments, context: CommandContext): Promise<void> {
  const [name = '', file = ''] = args.positionals;
  const advice = `for another one: serpcache init ${name} --catalogue ${quoted(file)}`;
  const domain = domainNamed(name, context.settings(), advice);
  const source = { file, domain, directory: directoryOf(args.text('into'), domain) };
  const where = `for ${name} in ${indexFileOf(source.directory, name)}\n`;
  if (args.has('update')) {
    const { added, replaced, deleted, unknown } = await updateCatalogue(source, args, context);
    const missing = unknown === 0 ? '' : `, ${unknown} to delete were not there`;
    context.stdout.write(`${added} documents added, ${replaced} replaced, ${deleted} deleted${missing} ${where}`);
  } else {
    const { documents } = await buildCatalogue(source, args, context);
    context.stdout.write(`${documents} documents indexed ${where}`);
  }
  if (args.has('serve')) await context.serve?.();
}

interface Source {
  readonly file: string;
  readonly domain: DomainSettings;
  /** The directory of the index. */
  readonly directory: string;
}

/** Reads the file into the domain's index in the directory. @throws CatalogueError beyond `--max-bad-rows` */
export function buildCatalogue(source: Source, args: ParsedArguments, context: CommandContext) {
  const { clock, signal } = context;
  return readInto(source, args, context, ({ read, options, index, onRefused }) => {
    const documents = notEmpty(read.readCatalogue(source.file, options), source.file);
    return buildIndex({ ...index, documents, builtAtMs: clock.wallMs(), onRefused, signal });
  });
}

/** Rows of one transaction: many are faster, and fewer are lost when the file has a fault. */
const UPDATE_ROWS = 5_000;

/** Takes the changes of the file into the domain's index, some thousands at a time. @throws as `buildCatalogue` */
function updateCatalogue(source: Source, args: ParsedArguments, context: CommandContext) {
  const { clock } = context;
  return readInto(source, args, context, async ({ read, options, index, onRefused }) => {
    const counts = { added: 0, replaced: 0, deleted: 0, unknown: 0 };
    let updates: DocumentUpdate[] = [];
    const write = (): void => {
      const changes = updateIndex({ ...index, updates, atMs: clock.wallMs(), build: randomUUID() });
      updates = [];
      for (const { id, before, after, fault } of changes) {
        if (fault !== undefined) onRefused({ message: `id ${JSON.stringify(id)}: ${fault}` });
        else if (after !== undefined) counts[before === undefined ? 'added' : 'replaced'] += 1;
        else counts[before === undefined ? 'unknown' : 'deleted'] += 1;
      }
    };
    for await (const update of read.readChanges(source.file, options)) {
      updates.push(update);
      if (updates.length === UPDATE_ROWS) write();
    }
    write();
    return counts;
  });
}

interface Reading {
  readonly read: typeof import('../catalogue/read.ts');
  readonly options: ReadOptions;
  readonly index: { readonly file: string; readonly domain: SearchDomain };
  /** Takes a document that was read, but that the index refuses. */
  readonly onRefused: (error: { readonly message: string }) => void;
}

/** Shows progress while `write` reads the file, and reports columns and notes at its end. */
async function readInto<Result>(
  { file, domain, directory }: Source,
  args: ParsedArguments,
  { clock, stderr, signal }: CommandContext,
  write: (reading: Reading) => Promise<Result>,
): Promise<Result> {
  const { name, attributes } = domain;
  // The readers of catalogues take longer to load than all else, and the service needs none of them.
  const read = await import('../catalogue/read.ts');
  const progress = createProgress({ label: `indexing ${name}`, output: stderr, clock });
  const notes = createNotes(stderr);
  const skip = skipBadRows(args, progress.note);
  let [line, use]: [number, ColumnUse | undefined] = [0, undefined];
  const options: ReadOptions = {
    attributes,
    signal,
    form: formOf(args, domain.catalogue),
    onBadRow: skip,
    onNote: notes.take,
    onRow: (row) => {
      line = row.line;
      showRows(progress, row);
    },
    onColumns: (used) => {
      use = used;
    },
  };
  const index = { file: indexFileOf(directory, name), domain: searchDomainOf(domain) };
  // The index knows the number of the document; the operator needs the line.
  const onRefused = ({ message }: { message: string }) => skip(new CatalogueError(file, message, { line }));
  const result = await write({ read, options, index, onRefused }).finally(() => progress.finish());
  if (use !== undefined) reportColumns(use, name, stderr);
  notes.report();
  return result;
}

/** Shows how far a catalogue is read. */
export function showRows(progress: Progress, { rows, bytesRead, totalBytes }: ReadProgress): void {
  progress.update(rows, bytesRead / totalBytes);
}

/** Skips up to `--max-bad-rows` bad rows, and reports each. */
export function skipBadRows(args: ParsedArguments, report: (text: string) => void): (error: CatalogueError) => void {
  const most = args.number('max-bad-rows', { least: 0, most: 999_999_999, whole: true }) ?? 0;
  let badRows = 0;
  return (error) => {
    badRows += 1;
    if (badRows > most) throw error;
    report(`skipped: ${error.message}`);
  };
}

/** How the file is read: as the configuration says, and the command line takes precedence. */
export function formOf(args: ParsedArguments, configured: CatalogueForm = {}): CatalogueForm {
  const named = args.text('preset');
  const preset = PRESET_NAMES.find((each) => each === named) ?? configured.preset;
  if (named !== undefined && named !== preset) {
    throw new UsageError(`--preset takes ${PRESET_NAMES.join(', ')}, not "${named}"`);
  }
  const given = TEXT_FIELDS.flatMap((field) => args.texts(field).map((column) => [field, column] as const));
  const columns = { ...configured.columns, ...Object.fromEntries(given) };
  return { ...configured, preset, encoding: args.text('encoding') ?? configured.encoding, columns };
}

const MAX_NOTES = 200;

/** Counts the notes of a catalogue. */
export function createNotes(output: CommandContext['stderr']) {
  const counts = new Map<string, number>();
  return {
    take: (note: string): void => {
      if (counts.has(note) || counts.size < MAX_NOTES) counts.set(note, (counts.get(note) ?? 0) + 1);
    },
    report: (): void => {
      for (const [note, count] of counts) output.write(`note: ${note} (${countText(count)} times)\n`);
    },
  };
}

/** Reports columns that were renamed or ignored. */
export function reportColumns({ ignored, renamed }: ColumnUse, domain: string, output: CommandContext['stderr']): void {
  const others = renamed.filter(([column, field]) => column.toLowerCase() !== field);
  const read = others.map(([column, field]) => `${shownNames([column])} as ${field}`);
  if (read.length > 0) output.write(`columns read under another name: ${read.join(', ')}\n`);
  if (ignored.length > 0) {
    output.write(`columns ignored, as domain ${domain} declares no such attributes: ${shownNames(ignored)}\n`);
  }
}

/** The command line takes precedence, so that a lifeboat can be built and tried before it is configured. */
function directoryOf(into: string | undefined, { name, engine, lifeboat }: DomainSettings): string {
  if (into !== undefined) return resolvePath(into);
  if (engine.kind === 'sqlite') return engine.directory;
  if (lifeboat !== undefined) return lifeboat.directory;
  const advice = 'see: serpcache sphinx-source, or give a directory for a lifeboat: --into <directory>';
  throw new UsageError(`domain ${name} is searched by ${engine.kind} and has no lifeboat; ${advice}`);
}

/** An empty catalogue is an error, because its index would replace a good one. */
async function* notEmpty(documents: AsyncIterable<Document>, file: string): AsyncIterable<Document> {
  let isEmpty = true;
  for await (const document of documents) {
    isEmpty = false;
    yield document;
  }
  if (isEmpty) throw new Error(`${file} holds no documents; nothing was changed`);
}
