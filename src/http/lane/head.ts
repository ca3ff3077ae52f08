/** The head of a request without a body: `GET` or `HEAD` of one of the paths that the lane serves. */
export interface LaneHead {
  readonly isHead: boolean;
  readonly target: string;
  /** The fields that an answer can depend on, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Offset after the blank line. */
  readonly end: number;
}

export interface LaneFields {
  /** Lower-case names of the fields that are part of a key: a head with one of them is left to Node. */
  readonly context: readonly string[];
  /** Lower-case name of the field that names a client. */
  readonly client?: string | undefined;
}

/** Node refuses heads with more fields. */
const MAX_FIELDS = 128;
/** Larger heads are left to Node, which has the exact limit. */
const MAX_FIELD_BYTES = 8 * 1024;

/** Fields that a search reads. */
const READ = ['accept-encoding', 'if-none-match', 'traceparent', 'x-forwarded-for', 'x-request-id'];

/** Fields that change no answer. Any other field leaves the head to Node. */
const PASSED = [
  ...['accept', 'accept-charset', 'accept-language', 'baggage', 'cache-control', 'cdn-loop', 'cookie', 'dnt'],
  ...['early-data', 'forwarded', 'from', 'if-modified-since', 'origin', 'pragma', 'priority', 'purpose', 'range'],
  ...['referer', 'save-data', 'tracestate', 'upgrade-insecure-requests', 'user-agent', 'via', 'x-amzn-trace-id'],
  ...['x-client-ip', 'x-correlation-id', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto'],
  ...['x-forwarded-server', 'x-real-ip', 'x-requested-with', 'x-scheme'],
  ...['sec-ch-ua', 'sec-ch-ua-mobile', 'sec-ch-ua-platform', 'sec-fetch-dest', 'sec-fetch-mode', 'sec-fetch-site'],
  ...['sec-fetch-user', 'sec-gpc', 'sec-purpose'],
];

/** Fields that change how a connection or a body is read. They are Node's also where one is configured to name a client. */
const NODES_OWN = [
  ...['authorization', 'connection', 'content-length', 'expect', 'host', 'http2-settings', 'keep-alive'],
  ...['proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
];

interface Field {
  readonly name: string;
  readonly bytes: Buffer;
  readonly use: 'host' | 'connection' | 'read' | 'passed';
}

const [TAB, CR, LF, SPACE, COLON, QUESTION] = [9, 13, 10, 32, 58, 63];
const [IN_NAME, IN_VALUE, IN_TARGET] = [1, 2, 4];

/** The uses of each byte. Bytes above ASCII have none, and `#` is in no target, because parsers read them differently. */
const KINDS = new Uint8Array(256);
for (let byte = 0x20; byte < 0x7f; byte += 1) KINDS[byte] = IN_VALUE | IN_TARGET;
KINDS[TAB] = KINDS[SPACE] = KINDS[0x23] = IN_VALUE;
for (const byte of Buffer.from("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
  KINDS[byte] = (KINDS[byte] ?? 0) | IN_NAME;

const VERSION = Buffer.from(' HTTP/1.1\r\n');
const KEEP_ALIVE = Buffer.from('keep-alive');

export type ReadHead = (bytes: Buffer, from: number) => LaneHead | undefined;

/**
 * @returns a reader of the head that begins at an offset. It gives undefined unless the head is complete, every byte is
 * well-formed by RFC 9112 and every field is known to change no answer: such bytes are left to Node's parser.
 * @param paths the first may have a query of at most `maxTargetBytes` with the path, the others have none.
 */
export function createHeadReader(options: {
  readonly paths: readonly string[];
  readonly maxTargetBytes: number;
  readonly fields: LaneFields;
}): ReadHead {
  const { paths, maxTargetBytes } = options;
  const fields = fieldsByHash(options.fields);
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
    if (start.hasQuery && bytes[at] === QUESTION) at = endOf(IN_TARGET, bytes, at);
    const targetFrom = from + start.targetAt;
    const targetTo = at;
    if (targetTo - targetFrom > maxTargetBytes || !isAt(bytes, at, VERSION)) return undefined;
    at += VERSION.length;

    const fieldsFrom = at;
    const headers: Record<string, string> = {};
    let [count, hosts] = [0, 0];
    while (bytes[at] !== CR) {
      const nameFrom = at;
      let hash = HASH_START;
      for (let byte = bytes[at] ?? 0; ((KINDS[byte] ?? 0) & IN_NAME) !== 0; byte = bytes[at] ?? 0) {
        hash = Math.imul(hash ^ (byte | 0x20), HASH_FACTOR);
        at += 1;
      }
      const field = fields.get(hash);
      if (bytes[at] !== COLON || field === undefined) return undefined;
      if (at - nameFrom !== field.bytes.length || !isTextAt(bytes, nameFrom, field.bytes)) return undefined;
      at += 1;
      while (bytes[at] === SPACE || bytes[at] === TAB) at += 1;
      const valueFrom = at;
      at = endOf(IN_VALUE, bytes, at);
      if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined;
      let valueTo = at;
      while (valueTo > valueFrom && (bytes[valueTo - 1] === SPACE || bytes[valueTo - 1] === TAB)) valueTo -= 1;
      at += 2;
      count += 1;
      switch (field.use) {
        case 'passed':
          break;
        case 'host':
          hosts += 1;
          break;
        case 'connection':
          if (valueTo - valueFrom !== KEEP_ALIVE.length || !isTextAt(bytes, valueFrom, KEEP_ALIVE)) return undefined;
          break;
        case 'read':
          // Node joins or drops the second one, by its name.
          if (headers[field.name] !== undefined) return undefined;
          headers[field.name] = bytes.toString('latin1', valueFrom, valueTo);
      }
    }
    if (bytes[at + 1] !== LF || hosts !== 1 || count > MAX_FIELDS || at - fieldsFrom > MAX_FIELD_BYTES)
      return undefined;
    return { isHead: start.isHead, target: bytes.toString('latin1', targetFrom, targetTo), headers, end: at + 2 };
  };
}

/** The known fields by the hash of their names. */
function fieldsByHash({ context, client }: LaneFields): ReadonlyMap<number, Field> {
  const uses = new Map<string, Field['use']>();
  for (const name of PASSED) uses.set(name, 'passed');
  for (const name of READ) uses.set(name, 'read');
  if (client !== undefined) uses.set(client, 'read');
  for (const name of NODES_OWN) uses.delete(name);
  uses.set('host', 'host').set('connection', 'connection');
  // Without `host` no head is taken: where Host is part of a key or names the client, every request is Node's.
  for (const name of context) uses.delete(name);
  if (client !== undefined && NODES_OWN.includes(client)) uses.delete(client);
  const fields = new Map<number, Field>();
  for (const [name, use] of uses) {
    const bytes = Buffer.from(name);
    fields.set(hashOf(bytes), { name, bytes, use });
  }
  if (fields.size !== uses.size) throw new Error('two names of fields have one hash');
  return fields;
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

/** The offset of the first byte that is not of this kind. */
function endOf(kind: number, bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && ((KINDS[bytes[at] as number] as number) & kind) !== 0) at += 1;
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
