import { resolve as resolvePath } from 'node:path';
import type { DomainSettings } from '../config/settings.ts';
import { searchDomainOf } from '../engines/create-engines.ts';
import { type PreparedSearch, prepareSearch } from '../search/key.ts';
import { InvalidSearch } from '../search/query.ts';
import { type ParsedArguments, UsageError } from './arguments.ts';
import { type Command, domainNamed, NotPassed } from './command.ts';
import { askBoth, openSides } from './parity/ask.ts';
import { readQueries } from './parity/queries.ts';
import { parityText, reportOf } from './parity/report.ts';
import { createProgress } from './terminal.ts';

const MAX_LIMIT = 100;
const MAX_QUERIES = 100_000;

/** Measures how similar the answers of the lifeboat and of the engine are, for a file of real queries. */
export const parity: Command = {
  name: 'parity',
  usage:
    '<domain> <queries[.gz|.zst]> [--with <directory>] [--limit 10] [--max-queries 1000] [--filter F …] [--sort=S] [--at-once 1|2] [--json]',
  summary:
    "measure how similar the answers of a domain's engine and its lifeboat are, for a file of queries (one per line, or query<TAB>count)",
  options: [
    { name: 'with', takes: 'DIRECTORY', about: "directory of the lifeboat's index; the configured one by default" },
    { name: 'limit', takes: 'N', about: `results compared per query, 1 to ${MAX_LIMIT}; 10 by default` },
    { name: 'max-queries', takes: 'N', about: `queries asked, 1 to ${MAX_QUERIES}; 1000 by default` },
    { name: 'filter', takes: 'F', about: 'as in a search: brand:hp', repeats: true },
    { name: 'sort', takes: 'S', about: 'as in a search: -price' },
    { name: 'at-once', takes: '1|2', about: 'queries in flight; 1 by default' },
    { name: 'json', about: 'the whole report as JSON' },
  ],
  takes: { min: 2, max: 2 },
  run: async (args, context) => {
    const { clock, stdout, stderr, settings, signal } = context;
    const request = requestOf(args);
    const domain = domainNamed(request.domain, settings());
    const directory = directoryOf(request.with, domain);
    const prepare = preparerOf(domain, request);
    const atOnce = Math.min(request.atOnce, domain.engine.maxConcurrent);

    const reading = createProgress({ label: 'reading', unit: 'queries', output: stderr, clock });
    const { file, maxQueries } = request;
    const [onLine, onBadLine] = [reading.update, reading.note];
    const queries = await readQueries(file, { prepare, maxQueries, onLine, onBadLine, signal }).finally(reading.finish);

    const sides = await openSides(domain, directory, atOnce, context);
    const { length: total } = queries.chosen;
    const asking = createProgress({ label: `comparing ${domain.name}`, total, unit: 'queries', output: stderr, clock });
    const { engine, lifeboat, isIndexed } = sides;
    const answers = { depth: request.limit, atOnce, isIndexed, clock, signal, onSample: asking.update };
    const { samples, gaveUp } = await askBoth(queries.chosen, { engine, lifeboat, ...answers }).finally(() => {
      asking.finish();
      return sides.close();
    });

    const report = reportOf(request, queries, sides, { samples, gaveUp });
    stdout.write(request.json ? `${JSON.stringify(report, null, 2)}\n` : parityText(report, clock.wallMs()));
    if (gaveUp !== undefined) throw new NotPassed(gaveUp, 'undecided');
    if (report.figures.compared === 0) {
      throw new NotPassed('no query was answered by both, so nothing was compared', 'undecided');
    }
  },
};

type ParityRequest = ReturnType<typeof requestOf>;

function requestOf(args: ParsedArguments) {
  const [domain = '', file = ''] = args.positionals;
  const whole = (option: string, most: number) => args.number(option, { least: 1, most, whole: true });
  return {
    domain,
    file,
    with: args.text('with'),
    limit: whole('limit', MAX_LIMIT) ?? 10,
    maxQueries: whole('max-queries', MAX_QUERIES) ?? 1000,
    filters: args.texts('filter'),
    sort: args.text('sort'),
    // Each extra query competes with live searches.
    atOnce: whole('at-once', 2) ?? 1,
    json: args.has('json'),
  };
}

/**
 * The directory of the lifeboat's index. The argument takes precedence, so that an index can be tried before it is
 * configured.
 */
function directoryOf(given: string | undefined, { name, lifeboat }: DomainSettings): string {
  if (given !== undefined && given !== 'lifeboat') return resolvePath(given);
  if (lifeboat !== undefined) return lifeboat.directory;
  throw new UsageError(
    `domain ${name} has no lifeboat configured; name the directory of its index: --with <directory>`,
  );
}

/**
 * Prepares queries as those of clients.
 * @throws UsageError for a filter or a sort order that the domain does not have.
 */
function preparerOf(
  settings: DomainSettings,
  { limit, filters, sort }: ParityRequest,
): (text: string) => PreparedSearch {
  const domains = [searchDomainOf(settings)];
  const rest: (readonly [string, string])[] = [
    ['domain', settings.name],
    // One result more than is compared shows whether the engine's list is cut inside a tie.
    ['limit', String(Math.min(MAX_LIMIT, limit + 1))],
    ...filters.map((filter) => ['filter', filter] as const),
    ...(sort === undefined ? [] : [['sort', sort] as const]),
  ];
  const prepare = (text: string): PreparedSearch => prepareSearch({ pairs: [['q', text], ...rest] }, domains);
  try {
    prepare('any');
  } catch (error) {
    throw error instanceof InvalidSearch ? new UsageError(error.message) : error;
  }
  return prepare;
}
