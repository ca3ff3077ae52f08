import { parseArgs } from 'node:util';
import { DEMO_DOMAINS, demoDocuments } from '../catalogue/demo.ts';
import { createProgress } from '../catalogue/progress.ts';
import { readCatalogue } from '../catalogue/read.ts';
import { searchDomainOf } from '../compose-engine.ts';
import type { DomainSettings } from '../config/settings.ts';
import { writeSphinxSource } from '../engines/sphinx/source.ts';
import type { Document } from '../search/document.ts';
import { type Command, type CommandContext, UsageError } from './command.ts';
import { domainNamed, wholeNumber } from './words.ts';

/** What the indexer needs to build the configured domains' indexes: its input, and one configuration for it and searchd. */
export const sphinxSource: Command = {
  name: 'sphinx-source',
  usage: '--out <directory> [--host H] [--port N] [--max-connections N] [<domain>=<file.ndjson|csv[.gz]> …]',
  summary:
    'write the input and the configuration of the indexer of Sphinx or Manticore; a demo domain without a file gets the demo catalogue',
  run: async (args, context) => {
    const options = {
      out: { type: 'string' },
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '9306' },
      'max-connections': { type: 'string', default: '64' },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.out === undefined) throw new UsageError('sphinx-source takes --out <directory>');
    const settings = context.settings();
    const files = new Map(positionals.map(fileOf));
    for (const name of files.keys()) domainNamed(name, settings);
    const wanted = files.size === 0 ? settings.domains : settings.domains.filter(({ name }) => files.has(name));
    const dialect = dialectOf(wanted);
    const { clock, stderr: output } = context;
    const progress = createProgress({ label: 'writing', output, clock });
    const written = new Map<string, number>();
    const { configFile, domains } = await writeSphinxSource({
      directory: values.out,
      domains: wanted.map((domain) => ({
        domain: searchDomainOf(domain),
        index: domain.engine.kind === 'sqlite' ? domain.name : domain.engine.index,
        documents: documentsOf(domain, files.get(domain.name), context),
      })),
      searchd: {
        dialect,
        host: values.host,
        port: wholeNumber('--port', values.port),
        maxConnections: wholeNumber('--max-connections', values['max-connections']),
      },
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
    context.stdout.write(`indexer --config ${configFile} --all\nsearchd --config ${configFile}\n`);
  },
};

/** Embedded domains get indexes of Sphinx. */
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

function fileOf(word: string): [domain: string, file: string] {
  const at = word.indexOf('=');
  if (at <= 0 || at === word.length - 1) throw new UsageError(`"${word}" is not <domain>=<file>`);
  return [word.slice(0, at), word.slice(at + 1)];
}

function documentsOf(
  domain: DomainSettings,
  file: string | undefined,
  { signal }: CommandContext,
): Iterable<Document> | AsyncIterable<Document> {
  if (file !== undefined) return readCatalogue(file, { attributes: domain.attributes, signal });
  if (DEMO_DOMAINS.some(({ name }) => name === domain.name)) return demoDocuments(domain.name);
  throw new UsageError(`domain ${domain.name} is not of the demo: give it as ${domain.name}=<file.ndjson|csv>`);
}
