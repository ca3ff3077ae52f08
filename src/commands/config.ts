import type { ColumnUse } from '../catalogue/columns.ts';
import { DEMO_DOMAINS, demoDocuments } from '../catalogue/demo.ts';
import { readCatalogue } from '../catalogue/read.ts';
import { configReference, configSchema } from '../config/reference.ts';
import type { DomainSettings } from '../config/settings.ts';
import { searchDomainOf } from '../engines/create-engines.ts';
import { writeSphinxSource } from '../engines/sphinx/source.ts';
import type { Document } from '../search/domain.ts';
import { UsageError } from './arguments.ts';
import { type Command, type CommandContext, domainNamed } from './command.ts';
import { CATALOGUE_HELP, createNotes, reportColumns } from './index-catalogue.ts';
import { createProgress } from './terminal.ts';

/** Checks the configuration and prints its schema and its reference page, which are derived from one table. */
export const config: Command = {
  name: 'config',
  usage: 'check | schema | reference',
  summary: 'check the configuration, print its JSON Schema (for editors) or its reference page',
  options: [],
  takes: { min: 1, max: 1 },
  run: async ({ positionals: [what] }, { stdout, settings }) => {
    switch (what) {
      case 'check': {
        const names = settings().domains.map(({ name }) => name);
        stdout.write(`the configuration is right; domains: ${names.join(', ')}\n`);
        return;
      }
      case 'schema':
        stdout.write(`${JSON.stringify(configSchema())}\n`);
        return;
      case 'reference':
        stdout.write(configReference());
        return;
      default:
        throw new UsageError(`config takes check, schema or reference, not "${what}"`);
    }
  },
};

const COUNT = { least: 1, most: 100_000, whole: true };

/** Writes the input of the indexer and one configuration for indexer and searchd. */
export const sphinxSource: Command = {
  name: 'sphinx-source',
  usage:
    '--out <directory> [--host H] [--port N] [--max-connections N] [--realtime] [<domain>=<file.ndjson|csv[.gz|.zst]> …]',
  summary:
    'write the input and the configuration of the indexer of Sphinx or Manticore; a demo domain without a file gets the demo catalogue',
  options: [
    { name: 'out', takes: 'DIRECTORY', about: 'directory for all files; required' },
    { name: 'host', takes: 'HOST', about: 'address on which searchd will listen; 127.0.0.1 by default' },
    { name: 'port', takes: 'N', about: 'its SphinxQL port; 9306 by default' },
    { name: 'max-connections', takes: 'N', about: 'maximum number of connections of searchd; 64 by default' },
    { name: 'max-children', takes: 'N', about: 'the older name of --max-connections' },
    { name: 'realtime', about: 'write real-time tables and statements that fill them, without the indexer' },
  ],
  takes: { min: 0, max: 64 },
  details: CATALOGUE_HELP,
  run: async (args, context) => {
    const directory = args.text('out');
    if (directory === undefined) throw new UsageError('--out is missing; allowed: --out <directory>');
    const searchd = {
      host: args.text('host') ?? '127.0.0.1',
      port: args.number('port', { least: 1, most: 65_535, whole: true }) ?? 9306,
      maxConnections: args.number('max-connections', COUNT) ?? args.number('max-children', COUNT) ?? 64,
    };
    const settings = context.settings();
    const files = new Map(args.positionals.map(parseDomainFile));
    for (const name of files.keys()) domainNamed(name, settings);
    const wanted = files.size === 0 ? settings.domains : settings.domains.filter(({ name }) => files.has(name));
    const dialect = dialectOf(wanted);
    const { clock, stderr: output } = context;
    const progress = createProgress({ label: 'writing', output, clock });
    const written = new Map<string, number>();
    const realtime = args.has('realtime');
    const { configFile, domains } = await writeSphinxSource({
      directory,
      realtime,
      domains: wanted.map((domain) => ({
        domain: searchDomainOf(domain),
        index: domain.engine.kind === 'sqlite' ? domain.name : domain.engine.index,
        documents: documentsOf(domain, files.get(domain.name), context),
      })),
      searchd: { dialect, ...searchd },
      progress: (domain, documents) => {
        written.set(domain, documents);
        progress.update([...written.values()].reduce((sum, each) => sum + each, 0));
      },
    }).finally(() => progress.finish());
    for (const { domain, documents, rounded } of domains) {
      context.stderr.write(`${domain}: ${documents} documents\n`);
      for (const [attribute, count] of Object.entries(rounded)) {
        context.stderr.write(`${domain}: ${count} values of ${attribute} rounded to Sphinx's 32-bit float\n`);
      }
    }
    const serve = `searchd --config ${configFile}\n`;
    const fill = `cat ${directory}/*.sql | mysql --host ${searchd.host} --port ${searchd.port}\n`;
    context.stdout.write(realtime ? `${serve}${fill}` : `indexer --config ${configFile} --all\n${serve}`);
  },
};

/** The dialect of the configured engines; domains with the embedded engine get Sphinx. */
function dialectOf(domains: readonly DomainSettings[]): 'sphinx' | 'manticore' {
  const named = (kind: string): readonly string[] =>
    domains.filter(({ engine }) => engine.kind === kind).map(({ name }) => name);
  const [sphinx, manticore] = [named('sphinx'), named('manticore')];
  if (sphinx.length > 0 && manticore.length > 0) {
    throw new UsageError(
      `the engine of ${sphinx.join(', ')} is sphinx, of ${manticore.join(', ')} manticore: name the domains of one of them, each as <domain>=<file>`,
    );
  }
  return manticore.length > 0 ? 'manticore' : 'sphinx';
}

function parseDomainFile(word: string): [domain: string, file: string] {
  const at = word.indexOf('=');
  if (at <= 0 || at === word.length - 1) throw new UsageError(`"${word}" is not <domain>=<file>`);
  return [word.slice(0, at), word.slice(at + 1)];
}

function documentsOf(
  domain: DomainSettings,
  file: string | undefined,
  { signal, stderr }: CommandContext,
): Iterable<Document> | AsyncIterable<Document> {
  if (file !== undefined) {
    const { attributes, catalogue: form } = domain;
    const notes = createNotes(stderr);
    const onColumns = (use: ColumnUse): void => {
      reportColumns(use, domain.name, stderr);
      notes.report();
    };
    return readCatalogue(file, { attributes, form, signal, onColumns, onNote: notes.take });
  }
  if (DEMO_DOMAINS.some(({ name }) => name === domain.name)) return demoDocuments(domain.name);
  throw new UsageError(`domain ${domain.name} is not in the demo: give its file as ${domain.name}=<file.ndjson|csv>`);
}
