import type { IncomingHttpHeaders } from 'node:http';
import type { ReadHeaders } from '../lane/head.ts';
import { Refusal } from './problem.ts';

/** Decoded name/value pairs in the order given; a name may repeat. */
export type Pairs = readonly (readonly [name: string, value: string])[];

/** The parameters of a request: pairs from its URL, and its header fields by lower-case name. */
interface Parameters {
  readonly pairs: Pairs;
  /** Parameters that cannot be decoded, by name, with the refusal for a route that reads one of them. */
  readonly undecodable: ReadonlyMap<string, Refusal>;
  readonly header: (name: string) => string | undefined;
}

/** More than any search needs. Limits the work of one URL or one batch item. */
export const MAX_PAIRS = 64;

/** @throws Refusal `url-too-long`, `invalid-url`. */
export function parametersOf(target: string, headers: ReadHeaders, maxUrlBytes: number): Parameters {
  checkLength(target, maxUrlBytes);
  const question = target.indexOf('?');
  const query = readQueryString(question < 0 ? '' : target.slice(question + 1));
  return { ...query, header: headerReader(headers) };
}

/**
 * Whether a target names a path, in the spellings that Fastify's router takes as well: in absolute form, with a slash at
 * its end, with escapes that need not be.
 */
export function isPath(target: string, path: string): boolean {
  if (target.startsWith(path) && (target.length === path.length || target[path.length] === '?')) return true;
  const [given = ''] = target.replace(/^https?:\/\/.*?\//, '/').split(/[?#]/, 1);
  try {
    return decodeURI(given).replace(/(?<=.)\/$/, '') === path;
  } catch {
    return false;
  }
}

/** @throws Refusal `url-too-long`. */
export function checkLength(target: string, maxUrlBytes: number): void {
  // Node gives one character per byte of the target.
  if (target.length <= maxUrlBytes) return;
  throw new Refusal({ code: 'url-too-long', detail: `A URL may have at most ${maxUrlBytes} bytes.` });
}

export function headerReader(headers: ReadHeaders): (name: string) => string | undefined {
  return (name) => headerOf(headers, name);
}

/**
 * The value of a field that the configuration declares; several fields of one name are joined by commas.
 * @param name lower case
 */
export function headerOf(headers: ReadHeaders, name: string): string | undefined {
  const value = (headers as IncomingHttpHeaders)[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * The pairs of a query string of which every parameter is read.
 * @throws Refusal `invalid-url` that names the parameter.
 */
export function parseQueryString(text: string): Pairs {
  const { pairs, undecodable } = readQueryString(text);
  for (const refusal of undecodable.values()) throw refusal;
  return pairs;
}

/**
 * The part after `?` → decoded pairs. Duplicates stay: the search decides which parameters may repeat. Percent-encoding and
 * UTF-8 are strict, because two readings of one URL would be two keys. Mail programs and advertisers add parameters of
 * their own, in any encoding: only a route that reads such a parameter refuses it.
 * @throws Refusal `invalid-url` for too many parameters.
 */
function readQueryString(text: string): Omit<Parameters, 'header'> {
  const pairs: (readonly [string, string])[] = [];
  const undecodable = new Map<string, Refusal>();
  let count = 0;
  for (let from = 0; from < text.length; ) {
    const ampersand = text.indexOf('&', from);
    const to = ampersand < 0 ? text.length : ampersand;
    if (to > from) {
      count += 1;
      if (count > MAX_PAIRS) {
        throw new Refusal({ code: 'invalid-url', detail: `A URL may carry at most ${MAX_PAIRS} parameters.` });
      }
      const equals = text.slice(from, to).indexOf('=');
      const nameTo = equals < 0 ? to : from + equals;
      const rawName = text.slice(from, nameTo);
      const name = decode(rawName)?.replace(LIST_NAME, '$1');
      const value = name === undefined ? undefined : decode(text.slice(nameTo + 1, to));
      if (name !== undefined && value !== undefined) pairs.push([name, value]);
      // A name that cannot be decoded is not the name of any parameter that is read.
      else undecodable.set(name ?? rawName, notDecodable(name ?? rawName));
    }
    from = to + 1;
  }
  return { pairs, undecodable };
}

/** Libraries write the name of a list as `filter[]` or `filter[0]`; a page that was escaped twice writes `amp;filter`. */
const LIST_NAME = /^(?:amp;)*(.*?)(?:\[\d*\])?$/s;

/** Undefined for a text that is not percent-encoded UTF-8. */
function decode(raw: string): string | undefined {
  if (!/[%+\u0080-\uffff]/.test(raw)) return raw;
  // Node gives the bytes of a request target as Latin-1; curl and old clients send UTF-8 there without escapes.
  const escaped = raw.replaceAll('+', ' ').replace(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  try {
    // Strict by specification: it refuses malformed escapes, overlong forms and encoded surrogates.
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
}

function notDecodable(name: string): Refusal {
  const detail = 'Parameters must be percent-encoded UTF-8: each % is followed by two hexadecimal digits.';
  return new Refusal({ code: 'invalid-url', detail, parameter: name.length > 64 ? `${name.slice(0, 64)}…` : name });
}
