import { existsSync, writeFileSync } from 'node:fs';
import { basename, resolve as resolvePath } from 'node:path';
import { type ColumnUse, nameOfColumn, shownNames, USUAL_NAMES } from '../catalogue/columns.ts';
import { DEMO_SIZES, demoDocuments } from '../catalogue/demo.ts';
import { type InferredCatalogue, type InferredColumn, inferCatalogue, MAX_DISTINCT } from '../catalogue/infer.ts';
import { type ReadProgress, type RowOptions, readCatalogue } from '../catalogue/read.ts';
import { RESERVED_ATTRIBUTES } from '../config/cross-checks.ts';
import { loadSettings } from '../config/load.ts';
import type { DomainSettings, Settings } from '../config/settings.ts';
import { searchDomainOf } from '../engines/create-engines.ts';
import { buildIndex } from '../engines/sqlite/build.ts';
import { IndexError, indexFileOf } from '../engines/sqlite/schema.ts';
import type { Clock } from '../runtime.ts';
import type { Document } from '../search/domain.ts';
import { type ParsedArguments, quoted, UsageError } from './arguments.ts';
import { type Command, type CommandContext, domainNamed } from './command.ts';
import { createProgress, type Progress, type ProgressOutput } from './terminal.ts';

/** The help about formats, columns and values of a catalogue. */
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
  'empty cell or one of blanks, "" and null are missing values. Where the domain declares multiple: true: a list in JSON, or a',
  'cell split at its separator; up to 64 different values.',
];

/** Indexes a user's catalogue into a domain's embedded index. It is streamed; a fault leaves the old index in place. */
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
    { name: 'into', takes: 'DIRECTORY', about: "directory of the index; by default the engine's or the lifeboat's" },
    { name: 'max-bad-rows', takes: 'N', about: 'maximum number of bad rows that are skipped; 0 by default' },
  ],
  takes: { min: 1, max: 2 },
  details: [
    ...CATALOGUE_HELP,
    '',
    'A catalogue of your own, from the start:',
    '  serpcache index --init shop shop.csv',
    '  SERPCACHE_CONFIG=serpcache.yaml serpcache index shop shop.csv',
  ],
  run: (args, context) => (args.has('init') ? initialize(args, context) : index(args, context)),
};

async function index(args: ParsedArguments, context: CommandContext): Promise<void> {
  const { clock, stdout, stderr, settings, signal } = context;
  const [name, file] = args.positionals;
  if (name === undefined || file === undefined) throw new UsageError('index takes a domain and a file');
  if (args.has('out')) throw new UsageError('--out goes with --init; the index goes --into DIRECTORY');
  const domain = domainNamed(name, settings(), `for another one: serpcache index --init ${name} ${quoted(file)}`);
  const indexFile = indexFileOf(directoryOf(args.text('into'), domain), name);
  const progress = createProgress({ label: `indexing ${name}`, output: stderr, clock });
  let line = 0;
  let use: ColumnUse | undefined;
  const reading = rowOptions(args, context, progress, (read) => {
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
      // The index knows the number of the document; the operator needs the line.
      if (!(error instanceof IndexError) || error.code !== 'invalid-document') throw error;
      throw new Error(`${file}, line ${line}: ${error.message}`, { cause: error });
    })
    .finally(() => progress.finish());
  if (use !== undefined) reportColumns(use, name, stderr);
  stdout.write(`${documents} documents indexed for ${name} in ${indexFile}; restart serpcache to search them\n`);
}

function rowOptions(
  args: ParsedArguments,
  { signal }: CommandContext,
  progress: Progress,
  onRow: (read: ReadProgress) => void = () => undefined,
): RowOptions {
  return {
    maxBadRows: args.number('max-bad-rows', { least: 0, most: 999_999_999, whole: true }) ?? 0,
    onRow: (read) => {
      onRow(read);
      progress.update(read.rows, read.bytesRead / read.totalBytes);
    },
    onBadRow: (error) => progress.note(`skipped: ${error.message}`),
    signal,
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

interface DemoIndexOptions {
  readonly clock: Clock;
  readonly output: ProgressOutput;
  /** When it aborts, the function removes the unfinished index and returns. */
  readonly signal?: AbortSignal;
}

/**
 * Builds the index of each demo domain that has none. An existing file is never changed: it may hold the user's own
 * catalogue. Processes that start at the same time each build an index and the last one stays; all are equal.
 */
export async function makeDemoIndexes(settings: Settings, { clock, output, signal }: DemoIndexOptions): Promise<void> {
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
      ...(signal === undefined ? {} : { signal }),
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
  const { clock, stdout, stderr } = context;
  const file = args.positionals.at(-1) ?? '';
  const domain = args.positionals.length === 2 ? (args.positionals[0] ?? '') : domainOf(file);
  if (!DOMAIN_NAME.test(domain)) {
    throw new UsageError(
      `the domain takes a lower-case letter, then letters, digits and -, 31 at most, not "${domain}"`,
    );
  }
  if (args.has('into')) throw new UsageError('--into goes without --init, which builds no index');
  const out = args.text('out') ?? 'serpcache.yaml';
  // Checked before a large catalogue is read, and again when the file is written.
  if (existsSync(out)) throw new Error(existsAlready(out));
  const progress = createProgress({ label: `reading ${domain}`, unit: 'rows', output: stderr, clock });
  const catalogue = await inferCatalogue(file, rowOptions(args, context, progress)).finally(() => progress.finish());
  const { text, attributes, ignored } = starterConfig({ domain, file, catalogue });
  // Checks that the service accepts the configuration before it is written.
  loadSettings({ env: { SERPCACHE_CONFIG: out }, cwd: process.cwd(), readFile: () => text });
  writeNew(out, text);
  for (const [column, why] of ignored) stderr.write(`column ${shownNames([column])} is left out: ${why}\n`);
  const variable = `SERPCACHE_CONFIG=${quoted(out)}`;
  stdout.write(`${out} is written: domain ${domain}, ${attributes} attributes of ${catalogue.rows} rows. Then:\n`);
  stdout.write(`  ${variable} npm run serpcache -- index ${domain} ${quoted(file)}\n  ${variable} npm start\n`);
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
  return `${file} exists already, and nothing was changed; name another file: --out FILE`;
}

interface StarterOptions {
  readonly domain: string;
  /** The name given by the user; only shown. */
  readonly file: string;
  readonly catalogue: InferredCatalogue;
}

export type StarterConfig = ReturnType<typeof starterConfig>;

/** A domain may have the name of a demo domain: this folder keeps their indexes apart. */
const DIRECTORY = 'data/own';
const MAX_ATTRIBUTES = 64;
/** Integers with at most this number of values, such as rooms or years, become facets; prices do not. */
const MAX_COUNTED_NUMBERS = 30;

/** A first configuration for a user's catalogue: one domain with an embedded index and every usable column. */
export function starterConfig({ domain, file, catalogue }: StarterOptions) {
  /** Columns that are left out, each with its reason. */
  const ignored: (readonly [column: string, why: string])[] = [];
  const declared = new Map<string, InferredColumn>();
  for (const column of catalogue.columns) {
    const why = reasonToIgnore(column, declared);
    if (why === undefined) declared.set(column.name, column);
    else ignored.push([column.column, why]);
  }
  const texts = Object.entries(catalogue.texts).map(([field, column]) => `${field} from ${quotedLine(column)}`);
  const lines = [
    `# Made from ${quotedLine(file)} (${catalogue.rows} rows) by \`serpcache index --init\`: a start, meant to be edited.`,
    '# Every setting: `serpcache config reference`. After a change of attributes: `serpcache index` again.',
    'domains:',
    `  ${key(domain)}:`,
    '    # Pages are kept in memory alone. With Redis or Valkey: { kind: standalone, nodes: ["127.0.0.1:6379"] }',
    '    store: { kind: none }',
    `    engine: { kind: sqlite, directory: ${DIRECTORY} }`,
    `    # ${texts.join(', ')}`,
    declared.size === 0 ? '    attributes: {}' : '    attributes:',
    ...Array.from(declared.values(), attributeLine),
    ...(ignored.length === 0 ? [] : ['    # Columns that are left out:']),
    ...ignored.map(([column, why]) => `    #   ${quotedLine(column)}: ${why}`),
  ];
  return { text: `${lines.join('\n')}\n`, attributes: declared.size, ignored };
}

function reasonToIgnore(
  { name, unusable }: InferredColumn,
  declared: ReadonlyMap<string, InferredColumn>,
): string | undefined {
  if (unusable !== undefined) return unusable;
  if (name === '') return 'its name has no Latin or Cyrillic letter to begin an attribute name with; rename it';
  if (RESERVED_ATTRIBUTES.includes(name)) return `"${name}" is reserved in searches; rename it`;
  if (declared.has(name))
    return `"${name}" is the column ${quotedLine(declared.get(name)?.column ?? '')} already; rename it`;
  return declared.size === MAX_ATTRIBUTES ? `a domain has at most ${MAX_ATTRIBUTES} attributes` : undefined;
}

function attributeLine(inferred: InferredColumn): string {
  const { name, column, type, multiple, advice } = inferred;
  const order = multiple === true ? ', multiple: true' : type === 'string' ? '' : ', sort: true';
  const facet = isFacet(inferred) ? ', facet: true' : '';
  const label = name === column ? '' : `, label: ${quotedLine(column).replaceAll(/\$(?=\{)/g, '$$$$')}`;
  const comment = advice === undefined ? '' : ` # ${advice}`;
  return `      ${key(name)}: { type: ${type}${facet}${order}${label} }${comment}`;
}

/** Values that repeat, and whose number is small enough for a facet. */
function isFacet({ type, values, distinct }: InferredColumn): boolean {
  if (type === 'number' || type === 'date' || distinct < 2) return false;
  const repeats = distinct <= MAX_COUNTED_NUMBERS ? distinct < values : distinct * 2 <= values;
  return repeats && distinct <= (type === 'string' ? MAX_DISTINCT : MAX_COUNTED_NUMBERS);
}

/** Unquoted, these names are not strings in YAML. */
function key(name: string): string {
  return /^(?:null|true|false)$/.test(name) ? `"${name}"` : name;
}

/** A user's text on one line, in quotes. */
function quotedLine(text: string): string {
  return JSON.stringify(
    text
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .slice(0, 80)
      .toWellFormed(),
  );
}
