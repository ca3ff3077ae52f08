/** One request head of a search, `GET` or `HEAD` of `/search`, without a body. */
export interface SearchHead {
  readonly method: 'GET' | 'HEAD';
  readonly target: string;
  /** The fields that a search reads, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Offset after the blank line. */
  readonly end: number;
  /** False: the head may name one client, so its bytes are not remembered. */
  readonly isCommon: boolean;
}

/** A head with more fields is left to Node, which refuses it. */
const MAX_FIELDS = 128;

/** Fields that a search reads. */
const READ = ['accept-encoding', 'if-none-match', 'traceparent', 'x-forwarded-for', 'x-request-id'];

/** Fields that change no answer. Any other field leaves the head to Node. */
const PASSED = [
  ...['accept', 'accept-charset', 'accept-language', 'baggage', 'cache-control', 'cdn-loop', 'dnt', 'early-data'],
  ...['forwarded', 'from', 'if-modified-since', 'origin', 'pragma', 'priority', 'purpose', 'range', 'referer'],
  ...['save-data', 'tracestate', 'upgrade-insecure-requests', 'user-agent', 'via', 'x-amzn-trace-id', 'x-client-ip'],
  ...['x-correlation-id', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto', 'x-forwarded-server'],
  ...['x-real-ip', 'x-requested-with', 'x-scheme'],
  ...['sec-ch-ua', 'sec-ch-ua-mobile', 'sec-ch-ua-platform', 'sec-fetch-dest', 'sec-fetch-mode', 'sec-fetch-site'],
  ...['sec-fetch-user', 'sec-gpc', 'sec-purpose'],
];

/** `personal`: its value may be a secret or the name of one client. */
type Use = 'host' | 'connection' | 'read' | 'passed' | 'personal';

interface Field {
  readonly name: string;
  readonly bytes: Buffer;
  readonly use: Use;
}

const [TAB, LF, CR, SPACE, COLON, QUESTION] = [9, 10, 13, 32, 58, 63];
const [IN_NAME, IN_VALUE, IN_TARGET] = [1, 2, 4];

/**
 * What each byte may be part of. Bytes above ASCII are in no value and no target, and `#` is in no target: parsers read them
 * in different ways.
 */
const KINDS = new Uint8Array(256);
for (let byte = 0x21; byte < 0x7f; byte += 1) KINDS[byte] = byte === 0x23 ? IN_VALUE : IN_VALUE | IN_TARGET;
KINDS[TAB] = IN_VALUE;
KINDS[SPACE] = IN_VALUE;
for (const byte of Buffer.from("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
  KINDS[byte] = (KINDS[byte] ?? 0) | IN_NAME;

const STARTS = [
  { method: 'GET', bytes: Buffer.from('GET /search') },
  { method: 'HEAD', bytes: Buffer.from('HEAD /search') },
] as const;
const VERSION = Buffer.from(' HTTP/1.1\r\n');

export type ReadHead = (bytes: Buffer, from: number) => SearchHead | undefined;

/**
 * @returns a reader of the head that begins at an offset. It gives undefined unless every byte is well-formed by RFC 9110
 * and RFC 9112 and every field is known to change no answer; such bytes are left to Node's parser.
 * @param contextHeaders lower-case names of the fields that are part of a key: a head with one of them is left to Node.
 * @param clientHeader lower-case name of the field that names a client.
 */
export function createHeadReader(options: {
  readonly contextHeaders: readonly string[];
  readonly clientHeader?: string | undefined;
  readonly maxTargetBytes: number;
}): ReadHead {
  const { contextHeaders, clientHeader, maxTargetBytes } = options;
  const fields = new Map<number, Field>();
  const uses: readonly (readonly [name: string, use: Use])[] = [
    ...READ.map((name) => [name, 'read'] as const),
    ...PASSED.map((name) => [name, 'passed'] as const),
    ['cookie', 'personal'],
    ...(clientHeader === undefined ? [] : ([[clientHeader, 'personal']] as const)),
    ['host', 'host'],
    ['connection', 'connection'],
  ];
  for (const [name, use] of uses) {
    if (!contextHeaders.includes(name)) fields.set(hashOf(Buffer.from(name)), { name, bytes: Buffer.from(name), use });
  }

  return (bytes, from) => {
    const start = STARTS.find((one) => startsWith(bytes, from, one.bytes));
    if (start === undefined) return undefined;
    let at = from + start.bytes.length;
    const targetFrom = at - '/search'.length;
    if (bytes[at] === QUESTION) while (((KINDS[bytes[at] ?? 0] ?? 0) & IN_TARGET) !== 0) at += 1;
    const targetTo = at;
    if (targetTo - targetFrom > maxTargetBytes || !startsWith(bytes, at, VERSION)) return undefined;
    at += VERSION.length;

    const headers: Record<string, string> = {};
    let [count, hosts, isCommon] = [0, 0, true];
    while (bytes[at] !== CR) {
      const nameFrom = at;
      let hash = HASH_START;
      for (let byte = bytes[at] ?? 0; ((KINDS[byte] ?? 0) & IN_NAME) !== 0; byte = bytes[at] ?? 0) {
        hash = Math.imul(hash ^ (byte | 0x20), HASH_FACTOR);
        at += 1;
      }
      const field = fields.get(hash);
      if (bytes[at] !== COLON || field === undefined || !isNamed(bytes, nameFrom, at, field.bytes)) return undefined;
      at += 1;
      while (bytes[at] === SPACE || bytes[at] === TAB) at += 1;
      const valueFrom = at;
      while (((KINDS[bytes[at] ?? 0] ?? 0) & IN_VALUE) !== 0) at += 1;
      let valueTo = at;
      if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined;
      at += 2;
      while (valueTo > valueFrom && (bytes[valueTo - 1] === SPACE || bytes[valueTo - 1] === TAB)) valueTo -= 1;
      count += 1;
      switch (field.use) {
        case 'host':
          hosts += 1;
          break;
        case 'connection':
          if (bytes.toString('latin1', valueFrom, valueTo).toLowerCase() !== 'keep-alive') return undefined;
          break;
        case 'read':
        case 'personal':
          if (field.use === 'personal') isCommon = false;
          // Node joins or drops the second one, by its name.
          if (headers[field.name] !== undefined) return undefined;
          headers[field.name] = bytes.toString('latin1', valueFrom, valueTo);
          break;
        case 'passed':
          break;
      }
    }
    if (bytes[at + 1] !== LF || hosts !== 1 || count > MAX_FIELDS) return undefined;
    const target = bytes.toString('latin1', targetFrom, targetTo);
    return { method: start.method, target, headers, end: at + 2, isCommon };
  };
}

const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;

/** FNV-1a of a name without its case; it is compared after that. */
function hashOf(name: Buffer): number {
  let hash = HASH_START;
  for (const byte of name) hash = Math.imul(hash ^ (byte | 0x20), HASH_FACTOR);
  return hash;
}

function startsWith(bytes: Buffer, from: number, wanted: Buffer): boolean {
  if (bytes.length - from < wanted.length) return false;
  for (let at = 0; at < wanted.length; at += 1) if (bytes[from + at] !== wanted[at]) return false;
  return true;
}

/** @param name in lower case. */
function isNamed(bytes: Buffer, from: number, to: number, name: Buffer): boolean {
  if (to - from !== name.length) return false;
  for (let at = 0; at < name.length; at += 1) if (((bytes[from + at] ?? 0) | 0x20) !== name[at]) return false;
  return true;
}
