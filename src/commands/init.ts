import { closeSync, existsSync, lstatSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve as resolvePath } from 'node:path';
import { nameOfColumn, shownNames } from '../catalogue/columns.ts';
import { DEMO_DOMAINS } from '../catalogue/demo.ts';
import { DEFAULT_FILE } from '../config/document.ts';
import { loadSettings } from '../config/load.ts';
import { configSchema } from '../config/reference.ts';
import type { Settings } from '../config/settings.ts';
import { indexFileOf } from '../engines/sqlite/schema.ts';
import { countText, plural } from '../report/format.ts';
import { messageOf, type ParsedArguments, quoted, UsageError } from './arguments.ts';
import { type Command, type CommandContext, domainNamed } from './command.ts';
import { buildCatalogue, CATALOGUE_HELP, CATALOGUE_OPTIONS, formOf, showRows, skipBadRows } from './index-catalogue.ts';
import { engineIn, lookAtEngine, lookAtStore, storeIn } from './init-servers.ts';
import {
  attributesOfCatalogue,
  attributesOfIndex,
  type ConfigTree,
  quotedLine,
  remarksOn,
  SCHEMA_FILE,
  starterConfig,
} from './starter-config.ts';
import { createProgress } from './terminal.ts';

/** Runs the service; `serpcache` alone does the same. */
export const start: Command = {
  name: 'start',
  usage: '[--config FILE]',
  summary: 'start the service: with a configuration, or the demo without one; SIGTERM or Ctrl-C ends it',
  options: [],
  takes: { min: 0, max: 0 },
  run: async (_, { serve }) => serve?.(),
};

/** Writes a first configuration, after a look at the servers and the catalogue that it names. */
export const init: Command = {
  name: 'init',
  usage: '[domain] [--engine ADDRESS] [--store ADDRESS] [--catalogue FILE] [--out FILE] [--serve]',
  summary: 'write a configuration for your engine, store and catalogue, after a look at each of them',
  options: [
    {
      name: 'engine',
      takes: 'ADDRESS',
      about: 'sphinx://host:9306/index, manticore://host:9306/index, or embedded (default)',
    },
    {
      name: 'store',
      takes: 'ADDRESS',
      about: 'redis://user@host:6379 (rediss:// over TLS), sentinel://host:26379/master, or none (default)',
    },
    { name: 'catalogue', takes: 'FILE', about: 'your catalogue: its columns become attributes; or none (default)' },
    { name: 'out', takes: 'FILE', about: `the file to write, ${DEFAULT_FILE} by default; it must not exist` },
    ...CATALOGUE_OPTIONS,
  ],
  takes: { min: 0, max: 1 },
  details: [
    'Without any of the first three options it asks for them. Nothing is written when a server does not answer or a catalogue',
    'cannot be read. The embedded engine gets the catalogue, or without one the demo. The password of the store is that',
    'of the variable STORE_PASSWORD, which the configuration names.',
    '',
    ...CATALOGUE_HELP,
  ],
  run: initialize,
};

/** A domain may have the name of a demo domain: this folder keeps their indexes apart. */
const DIRECTORY = 'data/own';
/** The domain of the demo that needs no name. */
const DEMO = 'goods';
const DOMAIN_NAME = /^[a-z][a-z0-9-]{0,30}$/;

async function initialize(args: ParsedArguments, context: CommandContext): Promise<void> {
  const { stdout, stderr, storePassword } = context;
  const out = args.text('out') ?? DEFAULT_FILE;
  refuseExisting(out);
  const [wanted] = args.positionals;
  if (wanted !== undefined && !DOMAIN_NAME.test(wanted)) {
    const allowed = 'a lower-case letter, then letters, digits and -, 31 at most';
    throw new UsageError(`the domain takes ${allowed}, not "${wanted}"`);
  }
  const settingsOf = (text: string): Settings => {
    const env = { SERPCACHE_CONFIG: out, STORE_PASSWORD: storePassword };
    return loadSettings({ env, cwd: process.cwd(), readFile: () => text });
  };
  const directory = args.text('into') ?? DIRECTORY;
  const { index, store, catalogue } = await lookAtAll(args, context, { settingsOf, directory });

  const domain = wanted ?? catalogue?.name ?? (index === undefined ? DEMO : nameOf(index.index));
  const { attributes, ignored } = attributesFor(domain, index, catalogue);
  for (const [column, why] of ignored) stderr.write(`column ${shownNames([column])} is left out: ${why}\n`);
  for (const { name, comment } of attributes) if (comment !== undefined) stderr.write(`note: ${name}: ${comment}\n`);
  const isDemo = index === undefined && catalogue === undefined;
  const read = catalogue === undefined ? [] : [`${quotedLine(catalogue.file)} (${plural(catalogue.rows, 'row')})`];
  const text = starterConfig({
    domain,
    from: isDemo ? 'the demo' : [...(index === undefined ? [] : [index.text]), ...read].join(' and '),
    store,
    engine: index?.tree ?? { kind: 'sqlite', directory: isDemo ? 'data' : directory, demo: isDemo || undefined },
    catalogue: catalogue?.catalogue,
    attributes,
    remarks: [...(catalogue?.texts ?? []), ...remarksOn(ignored)],
  });
  // Checks that the service accepts the configuration before it is written.
  const settings = domainNamed(domain, settingsOf(text));
  const written = writeNew(out, text);
  if (isDemo) stdout.write(`catalogue  none: the demo's ads of ${domain}\n`);
  else if (catalogue !== undefined && index === undefined) {
    const target = { file: catalogue.file, domain: settings, directory: resolvePath(directory) };
    const { documents } = await buildCatalogue(target, args, context).catch((error: unknown) => {
      for (const each of written) rmSync(each);
      throw error;
    });
    stdout.write(`catalogue  ${countText(documents)} documents indexed in ${indexFileOf(directory, domain)}\n`);
  }
  stdout.write(`written    ${written.join(', ')}: domain ${domain} with ${plural(attributes.length, 'attribute')}\n`);
  const command = `${out === DEFAULT_FILE ? '' : `SERPCACHE_CONFIG=${quoted(out)} `}npm start`;
  stdout.write(`${args.has('serve') ? 'next time ' : 'then      '} ${command}\n`);
  if (args.has('serve')) await context.serve?.(out);
}

interface Target {
  /** Reads the text of a configuration. */
  readonly settingsOf: (text: string) => Settings;
  /** The folder of the index that a catalogue gets. */
  readonly directory: string;
}

/** Looks at the engine, the store and the catalogue, one after another, and says what it saw. */
async function lookAtAll(args: ParsedArguments, context: CommandContext, { settingsOf, directory }: Target) {
  const { stdout, stderr, signal, storePassword } = context;
  const take = takerOf(args, context);
  const index = await take('engine', async (text) => {
    const asked = engineIn(text);
    return asked.kind === 'sqlite' ? undefined : lookAtEngine(asked, signal);
  });
  if (index !== undefined) {
    stdout.write(`engine     ${index.text}\n`);
    for (const note of index.notes) stderr.write(`note: ${note}\n`);
  }

  const draft = { domain: 'draft', from: '', attributes: [], remarks: [], engine: { kind: 'sqlite' } };
  const settingsWith = (store: ConfigTree): Settings => settingsOf(starterConfig({ ...draft, store }));
  const { tree: store, text: seen } = await take('store', async (text) => {
    const asked = storeIn(text, storePassword);
    return asked['kind'] === 'none' ? { tree: asked, text: '' } : lookAtStore(asked, settingsWith, context);
  });
  if (seen !== '') stdout.write(`store      ${seen}\n`);

  const catalogue = await take('catalogue', async (file) => {
    if (file === '' || file === 'none') {
      if (index === undefined) demoOf(args.positionals[0] ?? DEMO);
      return undefined;
    }
    const name = args.positionals[0] ?? nameOf(basename(file).split('.')[0] ?? '');
    // Checked before a large catalogue is read; the configuration again when it is written.
    if (index === undefined) refuseExisting(indexFileOf(directory, name), REMOVE_IT);
    return { file, name, ...(await columnsOf(file, args, context)) };
  });
  return { index, store, catalogue };
}

const QUESTIONS = {
  engine: '1. Search engine: sphinx://host:9306/index, manticore://host:9306/index [embedded]: ',
  store: '2. Redis or Valkey: redis://host:6379, sentinel://host:26379/master [none]: ',
  catalogue: '3. File of your catalogue: CSV, NDJSON, a product feed [none]: ',
};

/**
 * Takes the text of an option. Where none of the three is given, a person is asked, and asked again until the answer can
 * be used.
 * @throws UsageError without a terminal
 */
function takerOf(args: ParsedArguments, { ask, stderr, signal }: CommandContext) {
  const names = Object.keys(QUESTIONS);
  const isGiven = names.some((name) => args.has(name));
  if (!isGiven && ask === undefined) {
    throw new UsageError('there is no terminal for its questions: give --engine, --store or --catalogue (or none)');
  }
  if (!isGiven) stderr.write('Three questions; Enter takes what stands in brackets.\n');
  return async <T>(name: keyof typeof QUESTIONS, use: (text: string) => Promise<T>): Promise<T> => {
    if (isGiven || ask === undefined) return use(args.text(name) ?? '');
    for (;;) {
      const answer = (await ask(QUESTIONS[name])).trim();
      try {
        return await use(answer);
      } catch (error) {
        signal.throwIfAborted();
        stderr.write(`${messageOf(error)}\n`);
      }
    }
  };
}

async function columnsOf(file: string, args: ParsedArguments, { clock, stderr, signal }: CommandContext) {
  const form = formOf(args);
  const progress = createProgress({ label: `reading ${basename(file)}`, unit: 'rows', output: stderr, clock });
  const { inferCatalogue } = await import('../catalogue/infer.ts');
  // Bad rows are reported when the file is indexed, if it is.
  let skipped = '';
  const onBadRow = skipBadRows(args, (text) => {
    skipped = `${text}\n`;
  });
  const inferred = await inferCatalogue(file, { form, signal, onBadRow, onRow: (row) => showRows(progress, row) })
    .finally(() => progress.finish())
    .catch((error: unknown) => {
      stderr.write(skipped);
      throw error;
    });
  const texts = Object.entries(inferred.texts).map(([field, column]) => `${field} from ${quotedLine(column)}`);
  return { ...attributesOfCatalogue(inferred, form), rows: inferred.rows, texts: [texts.join(', ')] };
}

type Columns = Awaited<ReturnType<typeof columnsOf>>;

/** A server knows the attributes of its index only; the catalogue says more about them. */
function attributesFor(
  domain: string,
  index: Awaited<ReturnType<typeof lookAtEngine>> | undefined,
  columns: Columns | undefined,
): Pick<Columns, 'attributes' | 'ignored'> {
  if (index === undefined && columns !== undefined) return columns;
  const declared = index?.attributes ?? demoOf(domain).attributes;
  const own = attributesOfIndex(declared);
  const known = new Set(own.map(({ name }) => name));
  const reserved = declared.filter(({ name }) => !known.has(name));
  const others = (columns?.attributes ?? []).filter(({ name }) => !known.has(name));
  return {
    attributes: own.map((one) => columns?.attributes.find(({ name }) => name === one.name) ?? one),
    ignored: [
      ...(columns?.ignored ?? []),
      ...reserved.map(({ name }) => [name, `"${name}" is reserved in searches, or one of too many`] as const),
      ...others.map(({ name }) => [name, 'the index has no such attribute'] as const),
    ],
  };
}

/** @throws UsageError for the name of another domain */
function demoOf(name: string): (typeof DEMO_DOMAINS)[number] {
  const found = DEMO_DOMAINS.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = DEMO_DOMAINS.map((each) => each.name).join(', ');
  throw new UsageError(`without a catalogue the embedded engine has the domains of the demo: ${names}; not ${name}`);
}

/** A domain name made from a name of something else. */
function nameOf(text: string): string {
  return nameOfColumn(text).replaceAll('_', '-') || 'catalogue';
}

/**
 * Writes the configuration, and beside it the schema that editors read, where there is none.
 * @returns the files that it made. @throws when one cannot be written whole; then none is left
 */
function writeNew(file: string, text: string): readonly string[] {
  const made: string[] = [];
  const make = (path: string, content: string): void => {
    const descriptor = openSync(path, 'wx');
    made.push(path);
    try {
      writeFileSync(descriptor, content);
    } finally {
      closeSync(descriptor);
    }
  };
  try {
    make(file, text);
    const schema = join(dirname(file), SCHEMA_FILE);
    if (lstatSync(schema, { throwIfNoEntry: false }) === undefined) make(schema, `${JSON.stringify(configSchema())}\n`);
    return made;
  } catch (error) {
    for (const path of made) rmSync(path);
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const message = isThere
      ? existsAlready(file)
      : `${file} cannot be written: ${messageOf(error)}; nothing was written`;
    throw new Error(message, { cause: error });
  }
}

const START_WITH_IT = 'start with it, or name another file: --out FILE';
const REMOVE_IT = 'remove this index, or name another folder: --into DIRECTORY';

function refuseExisting(file: string, advice = START_WITH_IT): void {
  if (existsSync(file)) throw new Error(existsAlready(file, advice));
}

function existsAlready(file: string, advice = START_WITH_IT): string {
  return `${file} exists already, and nothing was changed; ${advice}`;
}
