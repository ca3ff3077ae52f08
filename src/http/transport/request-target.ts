import type { IncomingHttpHeaders } from 'node:http';
import { type Duplex, duplexPair, pipeline } from 'node:stream';
import type { PreparedSearch } from '../../search/key.ts';
import type { SearchParameters } from '../../search/query.ts';
import type { Search } from '../../search/search.ts';
import { Refusal } from './problem.ts';

const MEMO = { maxEntries: 10_000, maxBytes: 32 * 2 ** 20 };

export interface Targets {
  /** @throws Refusal, InvalidSearch. */
  readonly prepare: (target: string, headers: IncomingHttpHeaders) => PreparedSearch;
}

/** Request target → prepared search, at the price of one map look-up when the URL has been seen before. */
export function createTargets(options: { readonly search: Search; readonly maxUrlBytes: number }): Targets {
  const { search, maxUrlBytes } = options;
  const memo = createTargetMemo(MEMO);
  // Where a header is part of the key, the URL alone does not say which search it is.
  const byUrlAlone = new Set(
    search.domains.filter(({ context }) => context.every(({ source }) => source === 'query')).map(({ name }) => name),
  );

  return {
    prepare: (target, headers) => {
      const known = memo.get(target);
      if (known !== undefined) return known;
      const prepared = search.prepare(parametersOf(target, headers, maxUrlBytes));
      if (byUrlAlone.has(prepared.request.domain)) memo.set(target, prepared);
      return prepared;
    },
  };
}

/** @throws Refusal `url-too-long`, `invalid-url`. */
export function parametersOf(target: string, headers: IncomingHttpHeaders, maxUrlBytes: number): SearchParameters {
  checkLength(target, maxUrlBytes);
  const question = target.indexOf('?');
  const pairs = question < 0 ? [] : parseQueryString(target.slice(question + 1));
  return { pairs, header: headerReader(headers) };
}

/** @throws Refusal `url-too-long`. */
export function checkLength(target: string, maxUrlBytes: number): void {
  // Node gives one character per byte of the target.
  if (target.length <= maxUrlBytes) return;
  throw new Refusal({ code: 'url-too-long', detail: `A URL may have at most ${maxUrlBytes} bytes.` });
}

export function headerReader(headers: IncomingHttpHeaders): (name: string) => string | undefined {
  return (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
}

/**
 * The domain a refused search is counted under: a configured name or `none`, never the client's own text, so that bad
 * input cannot grow a metric's labels.
 */
export function domainLabel(search: Pick<Search, 'domains'>, pairs: SearchParameters['pairs'] | undefined): string {
  if (pairs === undefined) return 'none';
  const given = pairs.filter(([name]) => name === 'domain').map(([, value]) => value);
  if (given.length === 0) return search.domains[0]?.name ?? 'none';
  const known = search.domains.find(({ name }) => given.length === 1 && name === given[0]);
  return known?.name ?? 'none';
}

type Pairs = readonly (readonly [name: string, value: string])[];

/** More than any search needs; bounds what one URL or one batch item can make us do. */
export const MAX_PAIRS = 64;

/**
 * The part after `?` → decoded pairs in the order given. Duplicates stay: which parameters may repeat is for the
 * search to judge. Percent-encoding and UTF-8 are strict, because two readings of one URL would be two keys.
 * @throws Refusal `invalid-url` that names the parameter.
 */
export function parseQueryString(text: string): Pairs {
  const pairs: (readonly [string, string])[] = [];
  for (let from = 0; from < text.length; ) {
    const ampersand = text.indexOf('&', from);
    const to = ampersand < 0 ? text.length : ampersand;
    if (to > from) {
      if (pairs.length === MAX_PAIRS) {
        throw new Refusal({ code: 'invalid-url', detail: `A URL may carry at most ${MAX_PAIRS} parameters.` });
      }
      pairs.push(parsePair(text.slice(from, to)));
    }
    from = to + 1;
  }
  return pairs;
}

function parsePair(text: string): readonly [string, string] {
  const equals = text.indexOf('=');
  const rawName = equals < 0 ? text : text.slice(0, equals);
  const name = decode(rawName, rawName);
  return [name, equals < 0 ? '' : decode(text.slice(equals + 1), name)];
}

function decode(raw: string, parameter: string): string {
  if (!/[%+\u0080-\uffff]/.test(raw)) return raw;
  // Node hands over a request target's bytes as Latin-1; curl and old clients send UTF-8 there unescaped.
  const escaped = raw.replaceAll('+', ' ').replace(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  try {
    // Strict by specification: it refuses malformed escapes, overlong forms and encoded surrogates.
    return decodeURIComponent(escaped);
  } catch {
    throw new Refusal({
      code: 'invalid-url',
      detail: 'Parameters must be percent-encoded UTF-8: each % is followed by two hexadecimal digits.',
      parameter: clip(parameter),
    });
  }
}

function clip(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name;
}

/**
 * `curl 'http://…/search?q=кроссовки'` and hand-made clients send UTF-8 in the request target unescaped. Node's parser
 * refuses it, rightly (RFC 3986), while nginx and most servers people know let it pass, so it looks like our fault. Such
 * a request is escaped and given to the server again over a connection in memory.
 *
 * RFC 9112 §3 advises against correcting a request line, lest it slip past a filter in front. What is let through here
 * says the same as its escaped spelling, and only where nothing else can be hidden: the bytes are exactly one head, the
 * method has no body, only bytes above ASCII are touched, and the connection ends with the answer.
 *
 * @returns whether the request is being answered.
 */
export function answerRawTarget(
  connect: (stream: Duplex) => void,
  socket: Duplex,
  packet: Buffer | undefined,
): boolean {
  const head = packet === undefined ? undefined : escapedHead(packet.toString('latin1'));
  if (head === undefined) return false;
  const [inner, outer] = duplexPair();
  // Whose request it is, see client.ts.
  if ('remoteAddress' in socket) Object.assign(inner, { remoteAddress: socket.remoteAddress });
  connect(inner);
  outer.write(head);
  pipeline(outer, socket, () => {
    socket.destroy();
    outer.destroy();
  });
  return true;
}

function escapedHead(text: string): string | undefined {
  const parsed = /^((?:GET|HEAD) )(\/[\x21-\x7e\x80-\xff]*)( HTTP\/1\.[01]\r\n)((?:[^\r\n]+\r\n)*\r\n)$/.exec(text);
  if (parsed === null) return undefined;
  const [, method, target = '', version, fields] = parsed;
  const escaped = target.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return escaped === target ? undefined : `${method}${escaped}${version}Connection: close\r\n${fields}`;
}

export interface TargetMemo {
  readonly get: (target: string) => PreparedSearch | undefined;
  readonly set: (target: string, prepared: PreparedSearch) => void;
}

/** What a prepared search costs beside its texts: objects, buffers' headers, map slots. An estimate, on the high side. */
const OVERHEAD_BYTES = 800;

/**
 * Remembers what a request target means, so that a repeated URL is neither parsed nor hashed again. Two generations:
 * the younger fills up to half of each bound, then takes the elder's place. What is used survives, and one-off URLs
 * cost their slot once.
 */
export function createTargetMemo(bounds: { readonly maxEntries: number; readonly maxBytes: number }): TargetMemo {
  let young = new Map<string, PreparedSearch>();
  let old = new Map<string, PreparedSearch>();
  let youngBytes = 0;

  const set = (target: string, prepared: PreparedSearch): void => {
    const bytes = 2 * target.length + 4 * prepared.canonical.length + OVERHEAD_BYTES;
    if (bytes > bounds.maxBytes / 2) return;
    if (young.size + 1 > bounds.maxEntries / 2 || youngBytes + bytes > bounds.maxBytes / 2) {
      old = young;
      young = new Map();
      youngBytes = 0;
    }
    young.set(target, prepared);
    youngBytes += bytes;
  };

  return {
    get: (target) => {
      const recent = young.get(target);
      if (recent !== undefined) return recent;
      const older = old.get(target);
      if (older !== undefined) set(target, older);
      return older;
    },
    set,
  };
}
