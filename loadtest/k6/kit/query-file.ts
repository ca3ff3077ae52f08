/** One search of a query file. Plain JSON: k6 keeps one copy of the list as text for all virtual users. */
export interface Query {
  /** Absent: the default of the service. */
  readonly domain?: string;
  readonly text: string;
  /** An encoded part of a query string: `filter=brand:sony&sort=-price`. Often empty. */
  readonly parameters: string;
}

export const MAX_QUERIES = 200_000;
const MAX_TEXT_CHARACTERS = 256;
const MAX_FAULTS_SHOWN = 5;
/** Parameters that have another source: columns of the line, or, for the page, chance. */
const TAKEN = ['q', 'domain', 'page'];

/**
 * Parses a file of searches, UTF-8, one per line, the most frequent first:
 *
 *     text
 *     domain⇥text
 *     domain⇥text⇥parameters
 *
 * An empty domain is the default of the service. Lines that start with # and empty lines are skipped.
 *
 * @throws Error with the first faults, each with its line and what is allowed.
 */
export function parseQueries(text: string): readonly Query[] {
  const queries: Query[] = [];
  const faults: string[] = [];
  const lines = text.replace(/^\ufeff/, '').split('\n');
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const read = readLine(line);
    if (typeof read === 'string') faults.push(`line ${at + 1}: ${read}`);
    else queries.push(read);
    if (queries.length > MAX_QUERIES) {
      throw new Error(`line ${at + 1}: a query file has at most ${MAX_QUERIES} searches`);
    }
  }
  if (faults.length > 0) {
    const more = faults.length - MAX_FAULTS_SHOWN;
    throw new Error([...faults.slice(0, MAX_FAULTS_SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].join('\n'));
  }
  if (queries.length === 0) throw new Error('a query file needs at least one search: a line of text, or domain⇥text');
  return queries;
}

function readLine(line: string): Query | string {
  // The replacement character that a decoder writes for invalid bytes.
  if (line.includes('\ufffd')) return 'it is not UTF-8';
  const columns = line.split('\t').map((column) => column.trim());
  if (columns.length > 3) {
    return `${columns.length} columns; text, domain⇥text and domain⇥text⇥parameters are allowed`;
  }
  const [domain = '', text = '', parameters = ''] = columns.length === 1 ? ['', ...columns] : columns;
  if (domain !== '' && !/^[a-z][a-z0-9-]{0,30}$/.test(domain)) {
    return `"${clip(domain)}" is no domain; small letters, digits and dashes are allowed, 31 at most`;
  }
  const characters = text.length <= MAX_TEXT_CHARACTERS ? text.length : [...text].length;
  if (characters === 0 || characters > MAX_TEXT_CHARACTERS) {
    return `a text of ${characters} characters; 1 to ${MAX_TEXT_CHARACTERS} are allowed`;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the service refuses these characters.
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return 'a control character in the text; none is allowed';
  return faultOf(parameters) ?? { domain: domain || undefined, text, parameters };
}

function faultOf(parameters: string): string | undefined {
  if (parameters === '') return undefined;
  if (!/^[\w.~!$'()*,;:@/?%&=+-]+$/.test(parameters)) {
    return `the parameters "${clip(parameters)}" are not encoded; an encoded part of a query string is allowed`;
  }
  for (const pair of parameters.split('&')) {
    const name = pairName(pair);
    if (name === undefined || name === '') {
      return `"${clip(pair)}" is no parameter; name=value, several with & between, is allowed`;
    }
    if (TAKEN.includes(name)) return `the parameter ${name} is not allowed; anything but ${TAKEN.join(', ')} is`;
  }
  return undefined;
}

/** The name in `name=value`; empty if there is none, undefined if the pair is malformed. */
function pairName(pair: string): string | undefined {
  try {
    decoded(pair);
    return decoded(pair.slice(0, Math.max(pair.indexOf('='), 0)));
  } catch {
    return undefined;
  }
}

/** The text of an encoded name or value. @throws URIError if it is malformed. */
export function decoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
