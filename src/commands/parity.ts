import { resolve as resolvePath } from 'node:path';
import { parseArgs } from 'node:util';
import { createProgress } from '../catalogue/progress.ts';
import { searchDomainOf } from '../compose-engine.ts';
import type { DomainSettings } from '../config/settings.ts';
import type { PreparedSearch } from '../search/answer.ts';
import { InvalidSearch } from '../search/failure.ts';
import { prepareSearch } from '../search/prepare.ts';
import { type Command, UsageError } from './command.ts';
import { type Asked, askBoth, type Side } from './parity/ask.ts';
import { figuresOf } from './parity/figures.ts';
import { type Queries, readQueries, weightOf } from './parity/queries.ts';
import { type ParityReport, reportText, type SideHead } from './parity/report.ts';
import { type Described, openSides, type Sides } from './parity/sides.ts';
import { warningsOf } from './parity/warnings.ts';
import { domainNamed, wholeNumber } from './words.ts';

/** What it would cost to answer from the lifeboat: how alike it and the engine answer the queries people ask. */
export const parity: Command = {
  name: 'parity',
  usage:
    '<domain> <queries[.gz]> [--with <directory>] [--limit 10] [--max-queries 1000] [--filter F …] [--sort=S] [--at-once 1|2] [--json]',
  summary:
    "measure how alike a domain's engine and its lifeboat answer a file of queries (one a line, or query<TAB>count)",
  run: async (args, { clock, stdout, stderr, settings, signal }) => {
    const words = wordsOf(args);
    const domain = domainNamed(words.domain, settings());
    const directory = directoryOf(words.with, domain);
    const prepare = preparing(domain, words);
    const atOnce = Math.min(words.atOnce, domain.engine.maxConcurrent);

    const reading = createProgress({ label: 'reading', unit: 'queries', output: stderr, clock });
    const { file, maxQueries } = words;
    const [onLine, onBadLine] = [reading.update, reading.note];
    const queries = await readQueries(file, { prepare, maxQueries, onLine, onBadLine, signal }).finally(reading.finish);

    const sides = await openSides({ settings: domain, directory, atOnce, clock, random: Math.random, signal });
    const { length: total } = queries.chosen;
    const asking = createProgress({ label: `comparing ${domain.name}`, total, unit: 'queries', output: stderr, clock });
    const { engine, lifeboat, isIndexed } = sides;
    const answers = { depth: words.limit, atOnce, isIndexed, clock, signal, onSample: asking.update };
    const { samples, gaveUp } = await askBoth(queries.chosen, { engine, lifeboat, ...answers }).finally(() => {
      asking.finish();
      return sides.close();
    });

    const report = reportOf(words, queries, sides, { samples, gaveUp });
    stdout.write(words.json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report, clock.wallMs()));
    if (gaveUp !== undefined) throw new Error(gaveUp);
    if (report.figures.compared === 0) throw new Error('no query was answered by both, so nothing was compared');
  },
};

interface Words {
  readonly domain: string;
  readonly file: string;
  readonly with: string | undefined;
  readonly limit: number;
  readonly maxQueries: number;
  readonly filters: readonly string[];
  readonly sort: string | undefined;
  readonly atOnce: number;
  readonly json: boolean;
}

const MOST_LIMIT = 100;
const MOST_QUERIES = 100_000;

function wordsOf(args: readonly string[]): Words {
  const options = {
    with: { type: 'string' },
    limit: { type: 'string', default: '10' },
    'max-queries': { type: 'string', default: '1000' },
    filter: { type: 'string', multiple: true, default: [] as string[] },
    sort: { type: 'string' },
    'at-once': { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [domain, file] = positionals;
  if (domain === undefined || file === undefined || positionals.length > 2) {
    throw new UsageError('parity takes a domain and a file of queries');
  }
  return {
    domain,
    file,
    with: values.with,
    limit: within('--limit', values.limit, MOST_LIMIT),
    maxQueries: within('--max-queries', values['max-queries'], MOST_QUERIES),
    filters: values.filter,
    sort: values.sort,
    // Each more is one search more that the engine's own clients wait behind.
    atOnce: within('--at-once', values['at-once'], 2),
    json: values.json,
  };
}

function within(option: string, text: string, most: number): number {
  const value = wholeNumber(option, text);
  if (value >= 1 && value <= most) return value;
  throw new UsageError(`${option} takes a number from 1 to ${most}, not ${value}`);
}

/** Where the lifeboat's index is: the words win, so that one can be tried before it is configured. */
function directoryOf(given: string | undefined, { name, lifeboat }: DomainSettings): string {
  if (given !== undefined && given !== 'lifeboat') return resolvePath(given);
  if (lifeboat !== undefined) return lifeboat.directory;
  throw new UsageError(
    `domain ${name} has no lifeboat configured; name the directory of its index: --with <directory>`,
  );
}

/** Queries take the way that a client's take. @throws UsageError for a filter or a sort that the domain does not have. */
function preparing(settings: DomainSettings, { limit, filters, sort }: Words): (text: string) => PreparedSearch {
  const domains = [searchDomainOf(settings)];
  const rest: (readonly [string, string])[] = [
    ['domain', settings.name],
    // One more than is compared: it tells whether the engine's list is cut amid a tie.
    ['limit', String(Math.min(MOST_LIMIT, limit + 1))],
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

function reportOf(words: Words, queries: Queries, sides: Sides, { samples, gaveUp }: Asked): ParityReport {
  const figures = figuresOf(samples);
  return {
    domain: words.domain,
    limit: words.limit,
    sort: words.sort ?? null,
    filters: words.filters,
    engine: headOf(sides.engine),
    lifeboat: headOf(sides.lifeboat),
    queries: {
      file: words.file,
      lines: queries.lines,
      badLines: queries.badLines,
      distinct: queries.distinct,
      asked: samples.length,
      askedShare: weightOf(samples) / queries.weight,
    },
    figures,
    warnings: [...(gaveUp === undefined ? [] : [gaveUp]), ...warningsOf(queries, sides, figures)],
  };
}

function headOf({ is, deadlineMs, index }: Side & Described): SideHead {
  const built = index === undefined ? null : new Date(index.builtAtMs).toISOString();
  return { is, deadlineMs, documents: index?.documents ?? null, builtAt: built };
}
