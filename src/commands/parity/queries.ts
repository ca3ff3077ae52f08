import { fileBytes, fileLines } from '../../catalogue/file.ts';
import type { PreparedSearch } from '../../search/key.ts';
import { InvalidSearch } from '../../search/query.ts';

export interface Query {
  readonly prepared: PreparedSearch;
  /** The sum of the counts of its lines; a line without a count counts 1. */
  readonly weight: number;
}

export type Queries = Awaited<ReturnType<typeof readQueries>>;

interface ReadQueriesOptions {
  /** @throws InvalidSearch */
  readonly prepare: (text: string) => PreparedSearch;
  readonly maxQueries: number;
  readonly onLine: (lines: number) => void;
  readonly onBadLine: (message: string) => void;
  readonly signal: AbortSignal;
}

export const MAX_LINES = 200_000;
/** Room for 256 characters of a query, its count and further columns. */
const MAX_LINE_BYTES = 8192;

/**
 * Reads a file of queries, one per line: `query` or `query<TAB>count`. Further columns and blank lines are ignored;
 * `.gz` and `.zst` are unpacked. The `maxQueries` heaviest queries are chosen. Equal weights are ordered by the hash of
 * the key: a sample of a sorted list then covers the whole alphabet and is the same each time.
 * @returns `chosen`: heaviest first. `distinct`: number of queries after canonicalisation, where queries that share an answer
 * are one. `weight`: the sum over all of these, chosen or not. `cut`: the file has more than `MAX_LINES` lines.
 * @throws when the file cannot be read or holds no query.
 */
export async function readQueries(file: string, options: ReadQueriesOptions) {
  const byKey = new Map<string, Query>();
  let lines = 0;
  let badLines = 0;
  let cut = false;
  for await (const { number, bytes } of fileLines(fileBytes(file, options.signal).chunks, MAX_LINE_BYTES)) {
    if (number > MAX_LINES) {
      cut = true;
      break;
    }
    if (bytes?.every((byte) => byte === SPACE || byte === TAB)) continue;
    lines += 1;
    options.onLine(lines);
    const read = readLine(bytes, options.prepare);
    if (typeof read === 'string') {
      badLines += 1;
      options.onBadLine(`${file}, line ${number}: ${read}`);
      continue;
    }
    const known = byKey.get(read.prepared.key);
    byKey.set(read.prepared.key, known === undefined ? read : { ...known, weight: known.weight + read.weight });
  }
  if (byKey.size === 0) throw new Error(`${file} holds no query that can be asked (${lines} lines)`);
  const all = [...byKey].sort(
    ([a, { weight: aWeight }], [b, { weight: bWeight }]) => bWeight - aWeight || (a < b ? -1 : 1),
  );
  const queries = all.map(([, query]) => query);
  const chosen = queries.slice(0, options.maxQueries);
  return { chosen, lines, badLines, distinct: queries.length, weight: weightOf(queries), cut };
}

const SPACE = 0x20;
const TAB = 0x09;

/** A query, or the fault of its line. */
function readLine(bytes: Buffer | undefined, prepare: ReadQueriesOptions['prepare']): Query | string {
  if (bytes === undefined) return `longer than ${MAX_LINE_BYTES} bytes`;
  let columns: readonly string[];
  try {
    columns = new TextDecoder('utf-8', { fatal: true }).decode(bytes).split('\t');
  } catch {
    return 'not UTF-8';
  }
  const [text = '', count = ''] = columns;
  const weight = count.trim() === '' ? 1 : Number(count);
  if (!(weight > 0 && weight <= Number.MAX_SAFE_INTEGER)) {
    return `a count is a number above 0, not ${JSON.stringify(count.slice(0, 60))}`;
  }
  try {
    return { prepared: prepare(text), weight };
  } catch (error) {
    if (error instanceof InvalidSearch) return error.message;
    throw error;
  }
}

export function weightOf(queries: readonly Pick<Query, 'weight'>[]): number {
  return queries.reduce((total, { weight }) => total + weight, 0);
}
