import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { basename, resolve as resolvePath } from 'node:path';
import { type ColumnUse, nameOfColumn, shownNames, TEXT_FIELDS, USUAL_NAMES } from '../catalogue/columns.ts';
import { DEMO_SIZES, demoDocuments } from '../catalogue/demo.ts';
import { PRESET_NAMES } from '../catalogue/presets.ts';
import type { CatalogueForm, ReadProgress } from '../catalogue/read.ts';
import { CatalogueError } from '../catalogue/row.ts';
import { loadSettings } from '../config/load.ts';
import type { DomainSettings, Settings } from '../config/settings.ts';
import { searchDomainOf } from '../engines/create-engines.ts';
import { buildIndex } from '../engines/sqlite/build.ts';
import { indexFileOf } from '../engines/sqlite/schema.ts';
import { countText } from '../report/format.ts';
import type { Clock } from '../runtime.ts';
import type { Document } from '../search/domain.ts';
import { type ParsedArguments, quoted, UsageError } from './arguments.ts';
import { type Command, type CommandContext, domainNamed } from './command.ts';
import { DIRECTORY, starterConfig } from './starter-config.ts';
import { createProgress, type Progress, type ProgressOutput } from './terminal.ts';

/** The help about formats, columns and values of a catalogue. */
export const CATALOGUE_HELP: readonly string[] = [
  'A catalogue is .ndjson, .jsonl or .json (one JSON object per line, or an array of them); .csv, .tsv or .txt with a header',
  'row, separated by commas, semicolons, tabs or |, as spreadsheets and databases write it; or .xml or .yml, a product feed;',
  `each also .gz or .zst. Forms of shops are known by their header or root element: ${PRESET_NAMES.join(', ')} (README.md).`,
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

/** Indexes a user's catalogue into a domain's embedded index. It is streamed; a fault leaves the old index in place. */
export const indexCatalogue: Command = {
  name: 'index',
  usage: '[--init] <domain> <file.ndjson|csv|xml[.gz|.zst]> [--into DIRECTORY] [--max-bad-rows N] [--serve]',
  summary:
    "index your own catalogue for a domain's embedded engine, or its lifeboat; --init writes its configuration first",
  options: [
    { name: 'init', about: 'write a starter configuration for the file, and index it; the domain may be left out' },
    {
      name: 'out',
      takes: 'FILE',
      about: 'with --init: the file to write, serpcache.yaml by default; it must not exist',
    },
    { name: 'into', takes: 'DIRECTORY', about: "directory of the index; by default the engine's or the lifeboat's" },
    { name: 'max-bad-rows', takes: 'N', about: 'maximum number of bad rows that are skipped; 0 by default' },
    ...TEXT_FIELDS.map((name) => ({ name, takes: 'COLUMN', about: `the column that is the ${name}` })),
    { name: 'preset', takes: 'NAME', about: `the form of the file: ${PRESET_NAMES.join(', ')}` },
    { name: 'encoding', takes: 'NAME', about: 'the encoding where the file does not name it, such as windows-1251' },
    { name: 'serve', about: 'start the service when the catalogue is indexed' },
  ],
  takes: { min: 1, max: 2 },
  details: [
    ...CATALOGUE_HELP,
    '',
    'A catalogue of your own, from the file to the search page:',
    '  serpcache index --init shop shop.csv --serve',
    'and after each change of the file:',
    '  SERPCACHE_CONFIG=serpcache.yaml serpcache index shop shop.csv',
  ],
  run: (args, context) => (args.has('init') ? initialize(args, context) : index(args, context)),
};

async function index(args: ParsedArguments, context: CommandContext): Promise<void> {
  const [name, file] = args.positionals;
  if (name === undefined || file === undefined) throw new UsageError('index takes a domain and a file');
  if (args.has('out')) throw new UsageError('--out goes with --init; the index goes --into DIRECTORY');
  const advice = `for another one: serpcache index --init ${name} ${quoted(file)}`;
  const domain = domainNamed(name, context.settings(), advice);
  const directory = directoryOf(args.text('into'), domain);
  const { documents, indexFile } = await build({ file, domain, directory }, args, context);
  const restart = args.has('serve') ? '' : '; restart serpcache to search them';
  context.stdout.write(`${documents} documents indexed for ${name} in ${indexFile}${restart}\n`);
  if (args.has('serve')) await context.serve?.();
}

async function build(
  { file, domain, directory }: { file: string; domain: DomainSettings; directory: string },
  args: ParsedArguments,
  context: CommandContext,
) {
  const { clock, stderr, signal } = context;
  const { name, attributes } = domain;
  // The readers of catalogues take longer to load than all else, and the service needs none of them.
  const { readCatalogue } = await import('../catalogue/read.ts');
  const indexFile = indexFileOf(directory, name);
  const progress = createProgress({ label: `indexing ${name}`, output: stderr, clock });
  const notes = createNotes(stderr);
  const skip = skipBadRows(args, progress.note);
  let [line, use]: [number, ColumnUse | undefined] = [0, undefined];
  const documents = readCatalogue(file, {
    attributes,
    signal,
    form: formOf(args, domain.catalogue),
    onBadRow: skip,
    onNote: notes.take,
    onRow: (read) => {
      line = read.line;
      showRows(progress, read);
    },
    onColumns: (used) => {
      use = used;
    },
  });
  const built = await buildIndex({
    file: indexFile,
    domain: searchDomainOf(domain),
    documents: notEmpty(documents, file),
    builtAtMs: clock.wallMs(),
    // The index knows the number of the document; the operator needs the line.
    onRefused: ({ message }) => skip(new CatalogueError(file, message, { line })),
    signal,
  }).finally(() => progress.finish());
  if (use !== undefined) reportColumns(use, name, stderr);
  notes.report();
  return { documents: built.documents, indexFile };
}

function showRows(progress: Progress, { rows, bytesRead, totalBytes }: ReadProgress): void {
  progress.update(rows, bytesRead / totalBytes);
}

/** Skips up to `--max-bad-rows` bad rows, and reports each. */
function skipBadRows(args: ParsedArguments, report: (text: string) => void): (error: CatalogueError) => void {
  const most = args.number('max-bad-rows', { least: 0, most: 999_999_999, whole: true }) ?? 0;
  let badRows = 0;
  return (error) => {
    badRows += 1;
    if (badRows > most) throw error;
    report(`skipped: ${error.message}`);
  };
}

/** How the file is read: as the configuration says, and the command line takes precedence. */
function formOf(args: ParsedArguments, configured: CatalogueForm = {}): CatalogueForm {
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
  const read = renamed.map(([column, field]) => `${shownNames([column])} as ${field}`);
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

/**
 * Builds the index of each demo domain that has none. An existing file is never changed: it may hold the user's own
 * catalogue. Processes that start at the same time each build an index and the last one stays; all are equal. When `signal`
 * aborts, the unfinished index is removed and the function returns.
 */
export async function makeDemoIndexes(
  settings: Settings,
  { clock, output, signal }: { clock: Clock; output: ProgressOutput; signal?: AbortSignal },
): Promise<void> {
  for (const domain of settings.domains) {
    const { engine, name } = domain;
    if (engine.kind !== 'sqlite' || !engine.demo) continue;
    const file = indexFileOf(engine.directory, name);
    if (existsSync(file) || signal?.aborted) continue;
    const total = Object.entries(DEMO_SIZES).find(([each]) => each === name)?.[1] ?? 0;
    const progress = createProgress({ label: `demo catalogue: ${name}`, unit: 'ads', total, output, clock });
    const building = buildIndex({
      file,
      domain: searchDomainOf(domain),
      documents: demoDocuments(name),
      builtAtMs: clock.wallMs(),
      onProgress: progress.update,
      signal,
    });
    await building.catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
    progress.finish();
  }
}

const DOMAIN_NAME = /^[a-z][a-z0-9-]{0,30}$/;

/** `--init`: writes the configuration of a domain, from the columns of its catalogue. */
async function initialize(args: ParsedArguments, context: CommandContext): Promise<void> {
  const { clock, stdout, stderr, signal } = context;
  const file = args.positionals.at(-1) ?? '';
  const domain = args.positionals.length === 2 ? (args.positionals[0] ?? '') : domainOf(file);
  if (!DOMAIN_NAME.test(domain)) {
    throw new UsageError(
      `the domain takes a lower-case letter, then letters, digits and -, 31 at most, not "${domain}"`,
    );
  }
  const out = args.text('out') ?? 'serpcache.yaml';
  const directory = args.text('into') ?? DIRECTORY;
  const form = formOf(args);
  // Checked before a large catalogue is read, and again when the file is written.
  for (const made of [out, indexFileOf(directory, domain)]) if (existsSync(made)) throw new Error(existsAlready(made));
  const progress = createProgress({ label: `reading ${domain}`, unit: 'rows', output: stderr, clock });
  const { inferCatalogue } = await import('../catalogue/infer.ts');
  // Bad rows are reported when the file is indexed, if it is.
  let skipped = '';
  const onBadRow = skipBadRows(args, (text) => {
    skipped = `${text}\n`;
  });
  const onRow = (read: ReadProgress): void => showRows(progress, read);
  const catalogue = await inferCatalogue(file, { form, signal, onBadRow, onRow })
    .finally(() => progress.finish())
    .catch((error: unknown) => {
      stderr.write(skipped);
      throw error;
    });
  const { text, attributes, ignored } = starterConfig({ domain, file, catalogue, form, directory });
  // Checks that the service accepts the configuration before it is written.
  const settings = loadSettings({ env: { SERPCACHE_CONFIG: out }, cwd: process.cwd(), readFile: () => text });
  for (const [column, why] of ignored) stderr.write(`column ${shownNames([column])} is left out: ${why}\n`);
  const target = { file, domain: domainNamed(domain, settings), directory: resolvePath(directory) };
  writeNew(out, text);
  const { documents, indexFile } = await build(target, args, context).catch((error: unknown) => {
    rmSync(out);
    throw error;
  });
  stdout.write(
    `${documents} documents indexed for ${domain} in ${indexFile}, with ${attributes} attributes; ${out} is written\n`,
  );
  stdout.write(`${args.has('serve') ? 'The next time' : 'Then'}:\n  SERPCACHE_CONFIG=${quoted(out)} npm start\n`);
  if (args.has('serve')) await context.serve?.(out);
}

/** A domain name made from the name of the file. */
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
  return `${file} exists already, and nothing was changed; name others (--out FILE, --into DIRECTORY), or index again without --init`;
}
