import type { IncomingHttpHeaders } from 'node:http';
import { isIPv6 } from 'node:net';

/** The head of a request without a body: `GET` or `HEAD` of one of the paths that the lane serves. */
export interface LaneHead {
  readonly isHead: boolean;
  readonly target: string;
  /** The fields that an answer can depend on, by lower-case name. */
  readonly headers: ReadHeaders;
  /** Offset after the blank line. */
  readonly end: number;
}

export interface LaneFields {
  /** Lower-case names of the fields that are part of a key. */
  readonly context: readonly string[];
  /** Lower-case name of the field that names a client. */
  readonly client?: string | undefined;
}

/** Node refuses heads with more fields. */
const MAX_FIELDS = 128;
/** listener.ts gives Node this much room beside the longest target. */
const MAX_FIELD_BYTES = 16 * 1024;

/** Fields that a search reads, beside those that the configuration declares. */
const READ = [
  'accept-encoding',
  'authorization',
  'if-match',
  'if-none-match',
  'traceparent',
  'x-forwarded-for',
  'x-request-id',
] as const;
/** The fields of a search by either way: reading another one does not compile, because the lane gives none. */
export type ReadHeaders = Readonly<Partial<Pick<IncomingHttpHeaders, (typeof READ)[number]>>>;
/** Node keeps the first of two fields with one of these names (https://nodejs.org/api/http.html#messageheaders). */
const FIRST_KEPT = [
  ...['age', 'authorization', 'content-type', 'etag', 'expires', 'from', 'host', 'if-modified-since'],
  ...['if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization', 'referer'],
  ...['retry-after', 'server', 'user-agent'],
];

/**
 * Fields that frame the message or change its connection (RFC 9112 §6, §7 and §9, RFC 9110 §7.6.1 and §10.1.1).
 * `proxy-connection` is one, because Node's parser reads it as Connection. Not among them: `keep-alive`, `te` and `trailer`,
 * on which neither Node nor the service acts when a request has no body; and `upgrade`, which a server may ignore (RFC 9110
 * §7.8): Java's client asks for h2c with every request.
 */
const FRAMING = {
  connection: 'connection',
  'proxy-connection': 'connection',
  'content-length': 'length',
  host: 'host',
  'transfer-encoding': 'node',
  expect: 'node',
} as const;

/** `node`: a head with this field is left to Node. A field that is not known is checked for its form and passed over. */
type Use = (typeof FRAMING)[keyof typeof FRAMING] | 'read';

interface Field {
  readonly name: string;
  readonly bytes: Buffer;
  readonly use: Use;
  /** The value is given to the search. */
  readonly isRead: boolean;
  /** Node joins the value of a second field, or drops it. `node`: it does neither, so the head is left to it. */
  readonly second: 'join' | 'drop' | 'node';
}

const [TAB, CR, LF, SPACE, COLON, QUESTION, DELETE] = [9, 13, 10, 32, 58, 63, 127];
const [IN_NAME, IN_TARGET] = [1, 2];

/** The uses of each byte. `#` and bytes above ASCII are in no target, because parsers read them differently. */
const KINDS = new Uint8Array(256);
for (let byte = SPACE + 1; byte < DELETE; byte += 1) KINDS[byte] = IN_TARGET;
KINDS[0x23] = 0;
for (const byte of Buffer.from("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
  KINDS[byte] = (KINDS[byte] ?? 0) | IN_NAME;

const VERSION = Buffer.from(' HTTP/1.1\r\n');
const KEEP_ALIVE = Buffer.from('keep-alive');
const ZERO = Buffer.from('0');

export type ReadHead = (bytes: Buffer, from: number) => LaneHead | undefined;

/**
 * @returns a reader of the head that begins at an offset. It gives undefined unless the head is complete, every byte is
 * well-formed by RFC 9112 and no field frames a body or changes the connection: such bytes are left to Node's parser. A field
 * that is not read may have any name.
 * @param paths the first may have a query of at most `maxTargetBytes` with the path, the others have none.
 */
export function createHeadReader(options: {
  readonly paths: readonly string[];
  readonly maxTargetBytes: number;
  readonly fields: LaneFields;
}): ReadHead {
  const { paths, maxTargetBytes } = options;
  const fields = fieldsByHash(options.fields);
  const isKnownHost = createHostMemo();
  const starts = paths.flatMap((path, i) =>
    (['GET', 'HEAD'] as const).map((method) => ({
      bytes: Buffer.from(`${method} ${path}`),
      isHead: method === 'HEAD',
      targetAt: method.length + 1,
      hasQuery: i === 0,
    })),
  );

  return (bytes, from) => {
    const start = startOf(starts, bytes, from);
    if (start === undefined) return undefined;
    let at = from + start.bytes.length;
    if (start.hasQuery && bytes[at] === QUESTION) at = endOfTarget(bytes, at);
    const targetFrom = from + start.targetAt;
    const targetTo = at;
    if (targetTo - targetFrom > maxTargetBytes || !isAt(bytes, at, VERSION)) return undefined;
    at += VERSION.length;

    const fieldsFrom = at;
    const headers: Record<string, string> = {};
    let [count, hosts, lengths] = [0, 0, 0];
    while (bytes[at] !== CR) {
      const nameFrom = at;
      let hash = HASH_START;
      for (let byte = bytes[at] ?? 0; ((KINDS[byte] ?? 0) & IN_NAME) !== 0; byte = bytes[at] ?? 0) {
        hash = Math.imul(hash ^ (byte | 0x20), HASH_FACTOR);
        at += 1;
      }
      const nameTo = at;
      if (bytes[at] !== COLON || nameTo === nameFrom) return undefined;
      at += 1;
      while (bytes[at] === SPACE || bytes[at] === TAB) at += 1;
      const valueFrom = at;
      at = endOfValue(bytes, at);
      if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined;
      let valueTo = at;
      at += 2;
      count += 1;
      const field = fields.get(hash);
      if (field === undefined || nameTo - nameFrom !== field.bytes.length || !isTextAt(bytes, nameFrom, field.bytes))
        continue;
      while (valueTo > valueFrom && (bytes[valueTo - 1] === SPACE || bytes[valueTo - 1] === TAB)) valueTo -= 1;
      switch (field.use) {
        case 'node':
          return undefined;
        case 'length':
          lengths += 1;
          if (lengths > 1 || valueTo - valueFrom !== 1 || !isAt(bytes, valueFrom, ZERO)) return undefined;
          break;
        case 'connection':
          if (!keepsOpen(bytes, valueFrom, valueTo)) return undefined;
          break;
        case 'host':
          hosts += 1;
          if (!isKnownHost(bytes, valueFrom, valueTo)) return undefined;
          break;
        case 'read':
          break;
      }
      if (!field.isRead) continue;
      const first = headers[field.name];
      if (first !== undefined && field.second === 'node') return undefined;
      if (first === undefined) headers[field.name] = bytes.toString('latin1', valueFrom, valueTo);
      else if (field.second === 'join')
        headers[field.name] = `${first}, ${bytes.toString('latin1', valueFrom, valueTo)}`;
    }
    if (bytes[at + 1] !== LF || hosts !== 1 || count > MAX_FIELDS || at - fieldsFrom > MAX_FIELD_BYTES)
      return undefined;
    return { isHead: start.isHead, target: bytes.toString('latin1', targetFrom, targetTo), headers, end: at + 2 };
  };
}

/** The fields that are read or that frame the message, by the hash of their names. */
function fieldsByHash({ context, client }: LaneFields): ReadonlyMap<number, Field> {
  const read = new Set<string>([...READ, ...context, ...(client === undefined ? [] : [client])]);
  const fields = new Map<number, Field>();
  const names = new Set([...read, ...Object.keys(FRAMING)]);
  for (const name of names) {
    const use: Use = name in FRAMING ? FRAMING[name as keyof typeof FRAMING] : 'read';
    const isSpecial = name === 'cookie' || name === 'set-cookie' || (use !== 'read' && use !== 'host');
    const second = isSpecial ? 'node' : FIRST_KEPT.includes(name) ? 'drop' : 'join';
    const bytes = Buffer.from(name);
    fields.set(hashOf(bytes), { name, bytes, use, isRead: read.has(name), second });
  }
  if (fields.size !== names.size) throw new Error('two names of fields have one hash');
  return fields;
}

/** Whether a Connection field leaves the connection open, whatever fields its other members name. */
function keepsOpen(bytes: Buffer, from: number, to: number): boolean {
  if (to - from === KEEP_ALIVE.length && isTextAt(bytes, from, KEEP_ALIVE)) return true;
  return !/close/i.test(bytes.toString('latin1', from, to));
}

/** `isHost`, which is asked once for the same value in turn: a listener has few names. */
function createHostMemo(): (bytes: Buffer, from: number, to: number) => boolean {
  let known = Buffer.alloc(0);
  return (bytes, from, to) => {
    if (to - from === known.length && isAt(bytes, from, known)) return true;
    const value = bytes.subarray(from, to);
    if (!isHost(value.toString('latin1'))) return false;
    known = Buffer.from(value);
    return true;
  };
}

const REG_NAME = /^(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*$/i;
const MAX_PORT = 65_535;

/**
 * Whether the value of a Host field names a host with or without a port (RFC 9112 §3.2, RFC 3986 §3.2.2). It may be empty,
 * as for a URI without an authority.
 */
export function isHost(value: string): boolean {
  if (value === '') return true;
  const [, host = '', literal, port = ''] = /^((?:\[([^\]]*)\])|[^:[\]]+)(?::(\d*))?$/.exec(value) ?? [];
  if (host === '' || Number(port) > MAX_PORT) return false;
  if (literal === undefined) return REG_NAME.test(host);
  return isIPv6(literal) && !literal.includes('%');
}

const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;

/** FNV-1a of a name without its case; names are compared after that. */
function hashOf(name: Buffer): number {
  let hash = HASH_START;
  for (const byte of name) hash = Math.imul(hash ^ (byte | 0x20), HASH_FACTOR);
  return hash;
}

function startOf<Start extends { readonly bytes: Buffer }>(starts: readonly Start[], bytes: Buffer, from: number) {
  for (const start of starts) if (isAt(bytes, from, start.bytes)) return start;
  return undefined;
}

function endOfTarget(bytes: Buffer, from: number): number {
  const { length } = bytes;
  let at = from;
  while (at < length && ((KINDS[bytes[at] as number] as number) & IN_TARGET) !== 0) at += 1;
  return at;
}

/** Most bytes of a head are in values. Comparisons take a sixth less time than a table. */
function endOfValue(bytes: Buffer, from: number): number {
  const { length } = bytes;
  let at = from;
  while (at < length) {
    const byte = bytes[at] as number;
    if (byte < SPACE ? byte !== TAB : byte === DELETE) break;
    at += 1;
  }
  return at;
}

function isAt(bytes: Buffer, from: number, wanted: Buffer): boolean {
  for (let i = 0; i < wanted.length; i += 1) if (bytes[from + i] !== wanted[i]) return false;
  return true;
}

/** @param wanted letters and hyphens, in lower case; the bytes may have any case. */
function isTextAt(bytes: Buffer, from: number, wanted: Buffer): boolean {
  for (let i = 0; i < wanted.length; i += 1) {
    const byte = bytes[from + i] as number;
    if (byte !== wanted[i] && (byte < 0x41 || byte > 0x5a || (byte | 0x20) !== wanted[i])) return false;
  }
  return true;
}
