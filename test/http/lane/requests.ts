import type { Random } from '../../../loadtest/random.ts';
import { PROXY_HEADS } from '../../../loadtest/traffic/proxy-heads.ts';

/** The content that requests may name. */
export interface Vocabulary {
  /** Targets of the pages in memory. */
  readonly targets: readonly string[];
  readonly etagOf: (target: string) => string;
}

/** One well-formed request. */
export interface Request {
  readonly method: string;
  readonly target: string;
  /** Name and value of each field, in order. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

const WORDS = [
  'shoes',
  'red+shoes',
  'tea',
  'lamp',
  '%D0%BA%D1%80%D0%BE%D1%81%D1%81%D0%BE%D0%B2%D0%BA%D0%B8',
  'caf%C3%A9',
];
const MORE = [
  ...['', '&page=2', '&page=3&limit=20', '&sort=price', '&sort=-price', '&filter=price:10..50', '&facet=category'],
  ...['&filter=category:shoes,boots', '&region=kz', '&highlight=false', '&utm_source=mail&utm_id=7', '&domain=goods'],
  '&filter=category%3Ashoes&filter=price%3A..99.5&facet=category&sort=relevance&page=1&limit=10&region=ru',
];

/** The targets of all pages that are put into memory. */
export const HIT_TARGETS: readonly string[] = [
  ...WORDS.flatMap((word) => MORE.map((more) => `/search?q=hit+${word}${more}`)),
  ...WORDS.map((word) => `/search?domain=auto&q=hit+${word}`),
];

const UNCACHED = ['new', 'new', 'stored', 'stored', 'lost', 'broken'];
const INVALID = [
  ...['/search', '/search?', '/search?q=', '/search?q=a&q=b', '/search?q=%zz', '/search?q=%C3', '/search?q=a&page=0'],
  ...['/search?q=a&sort=x', '/search?q=a&domain=none', '/search?q=%00', '/search?q=a&filter=price', '/search?x=1'],
  ...['/search?q=a&facet=price', '/search?q=a&domain=auto&domain=goods', `/search?${'a=1&'.repeat(70)}q=a`],
  ...['/search?q=a|b^`{}\\"<>\'', '/search?q=hit?tea', '/search?&&q=hit+tea', '/search?q=hit+tea&'],
];

/** Checks of a balancer on the same connections. The answer to /readyz has figures, so only GET can be compared. */
const HEALTH = ['/healthz', '/healthz', '/readyz'];

/** A target of /search: mostly a page in memory. @param number a word of its own for each stream. */
function searchTarget(random: Random, { targets }: Vocabulary, number: number): string {
  if (random.chance(0.03)) return random.pick(HEALTH);
  if (random.chance(0.85)) return random.pick(targets);
  if (random.chance(0.4)) return random.pick(INVALID);
  const word = random.pick(UNCACHED);
  const text = `${word}+${'x'.repeat(random.between(1, 6))}+${number}`;
  return random.chance(0.2) ? `/search?domain=auto&q=${text}` : `/search?q=${text}`;
}

type FieldMaker = (random: Random, target: string, vocabulary: Vocabulary) => string;

const HEX = '0123456789abcdef';
const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => HEX[random.between(0, 15)]).join('');
const address = (random: Random): string => `10.${random.between(0, 255)}.0.${random.between(1, 254)}`;

/** Fields that browsers, proxies and libraries send with a search. None of them leads to another answer than 200 or 304. */
const USUAL: readonly { readonly name: string; readonly weight: number; readonly value: FieldMaker }[] = [
  { name: 'User-Agent', weight: 10, value: (random) => random.pick(['curl/8.5.0', 'Mozilla/5.0 (X11; Linux) x/1']) },
  { name: 'Accept', weight: 10, value: () => '*/*' },
  { name: 'Accept-Encoding', weight: 14, value: (random) => random.pick(CODINGS) },
  { name: 'Accept-Language', weight: 4, value: () => 'ru,en;q=0.7' },
  { name: 'Cache-Control', weight: 3, value: (random) => random.pick(['no-cache', 'max-age=0']) },
  { name: 'Connection', weight: 8, value: (random) => random.pick(['keep-alive', 'Keep-Alive', 'keep-alive']) },
  { name: 'Cookie', weight: 5, value: (random) => `sid=${hex(random, 8)}; theme=dark` },
  { name: 'DNT', weight: 1, value: () => '1' },
  { name: 'If-None-Match', weight: 8, value: noneMatch },
  { name: 'Origin', weight: 2, value: () => 'https://shop.example' },
  { name: 'Pragma', weight: 1, value: () => 'no-cache' },
  { name: 'Referer', weight: 4, value: () => 'https://shop.example/?q=a b\tc' },
  { name: 'Sec-Fetch-Mode', weight: 2, value: () => 'navigate' },
  { name: 'traceparent', weight: 6, value: traceparent },
  { name: 'tracestate', weight: 2, value: () => 'a=1,b=2' },
  { name: 'Via', weight: 1, value: () => '1.1 edge' },
  { name: 'X-Forwarded-For', weight: 8, value: (random) => `${address(random)}, ${address(random)}` },
  { name: 'X-Forwarded-Proto', weight: 4, value: () => 'https' },
  { name: 'X-Real-IP', weight: 2, value: address },
  { name: 'X-Request-Id', weight: 10, value: requestId },
];

const CODINGS = [
  ...['gzip', 'gzip, deflate, br', 'identity', '*', 'br;q=1.0, gzip;q=0.8, *;q=0.1', 'gzip;q=0', 'GZIP', 'x-gzip', ''],
  ...['gzip;q=0.5, identity;q=0.9', 'identity;q=0', '*;q=0', 'zstd', 'gzip;q=2', ',,gzip ;q=0.1', 'deflate'],
  ...['gzip, *;q=0', 'br, identity;q=0'],
];

function noneMatch(random: Random, target: string, { etagOf }: Vocabulary): string {
  const tag = etagOf(target);
  const suffix = random.pick(['', '-gz', '-br', '-zst', '-x']);
  return random.pick([
    ...[`"${tag}${suffix}"`, `W/"${tag}${suffix}"`, `"a", "${tag}${suffix}"`, `"a","b" , W/"${tag}"`, '*', ' * '],
    ...['"other"', tag, `"${tag}`, '', '"", "*"', `w/"${tag}"`],
  ]);
}

function traceparent(random: Random): string {
  const [trace, parent] = [hex(random, 32), hex(random, 16)];
  return random.pick([
    `00-${trace}-${parent}-01`,
    `00-${trace}-${parent}-01`,
    `00-${trace}-01`,
    `ff-${trace}-${parent}-01`,
  ]);
}

function requestId(random: Random): string {
  const id = `r${hex(random, random.between(1, 40))}`;
  return random.pick([id, id, id, `${id}!`, '', `${id} ${id}`, `${id.repeat(9)}`, `${id}.A_Z`]);
}

const HEADS = Object.values(PROXY_HEADS);

/** A search with the fields of a known proxy or client, or with some fields of which none stands twice. */
export function usualSearch(random: Random, vocabulary: Vocabulary, number: number): Request {
  const target = searchTarget(random, vocabulary, number);
  if (random.chance(0.2) && target !== '/readyz')
    return { method: 'GET', target, fields: [['Host', 'shop.example'], ...random.pick(HEADS)], body: '' };
  const fields = new Map<string, string>([
    ['Host', random.pick(['t', 'shop.example', 'shop.example:8080', '[::1]:80'])],
  ]);
  for (let count = random.between(0, 7); count > 0; count -= 1) {
    const { name, value } = random.weighted(USUAL);
    fields.set(name, value(random, target, vocabulary));
  }
  const named = [...fields].map(([name, value]) => [spelling(random, name), value] as const);
  if (random.chance(0.1)) named.reverse();
  const isGet = random.chance(0.85) || target === '/readyz';
  return { method: isGet ? 'GET' : 'HEAD', target, fields: named, body: '' };
}

function spelling(random: Random, name: string): string {
  if (random.chance(0.7)) return name;
  return random.chance(0.6) ? name.toLowerCase() : name.toUpperCase();
}

/** Well-formed requests that the lane may leave to Node, with the answer that Node's server gives them. */
const OTHERS: readonly ((random: Random, search: Request) => Request)[] = [
  () => plain('GET', '/healthz?a=b'),
  () => plain('GET', '/readyz/'),
  () => plain('GET', '/healthzz'),
  () => plain('POST', '/healthz', 'a'),
  () => plain('GET', '/nothing?a=b'),
  () => plain('GET', '/search/?q=a'),
  () => plain('GET', '/search%3Fq=hit+tea'),
  () => plain('GET', '/searches?q=hit+tea'),
  () => plain('GET', '/search#?q=hit+tea'),
  () => plain('GET', '/search?q=hit+tea#x'),
  () => plain('GET', '/%73earch?q=hit+tea'),
  () => plain('GET', '//search?q=hit+tea'),
  () => plain('GET', 'http://t/search?q=hit+tea'),
  () => plain('GET', 'search?q=hit+tea'),
  () => plain('GET', '*'),
  () => plain('OPTIONS', '*'),
  (_random, { target }) => plain('POST', target, 'q=hit'),
  (_random, { target }) => plain('DELETE', target),
  (_random, { target }) => plain('CONNECT', target),
  (_random, { target }) => plain('get', target),
  (_random, { target }) => plain('GETS', target),
  (random) => plain('POST', '/msearch', '{"searches":[{"q":"hit tea"}]}', ['Content-Type', random.pick(BODY_TYPES)]),
  (random, search) => withField(search, 'Connection', random.pick(CONNECTIONS)),
  (random, search) => withField(search, 'Content-Length', random.pick(['0', '00', '', '3', '-1', '+0', '0, 0', '0x0'])),
  (random, search) => withField(search, 'Transfer-Encoding', random.pick(['chunked', 'identity', 'gzip, chunked', ''])),
  (random, search) => withField(search, 'Expect', random.pick(['100-continue', '200-ok', ''])),
  (random, search) => withField(search, 'Upgrade', random.pick(['websocket', 'h2c'])),
  (_random, search) => withField(search, 'TE', 'trailers'),
  (_random, search) => withField(search, 'Trailer', 'x'),
  (_random, search) => withField(search, 'Keep-Alive', 'timeout=5'),
  (_random, search) => withField(search, 'Proxy-Connection', 'close'),
  (_random, search) => withField(search, 'Authorization', 'Bearer secret'),
  (random, search) => withField(search, 'X-Variant', random.pick(['a', 'b', 'c', ''])),
  (_random, search) => withField(search, 'X-Unknown', 'a'),
  (_random, search) => withField(search, 'HTTP2-Settings', 'AAMAAABkAAQAAP__'),
  (_random, search) => ({ ...search, fields: search.fields.filter(([name]) => name.toLowerCase() !== 'host') }),
  (random, search) => withField(search, random.pick(['Host', 'host']), random.pick(['t', 'other', ''])),
  (random, search) => {
    const [name, value] = random.pick(search.fields);
    return withField(search, name, value);
  },
];
const BODY_TYPES = ['application/json', 'application/json; charset=utf-8', 'text/plain'];
const CONNECTIONS = [
  ...['close', 'Close', 'keep-alive, close', 'close, keep-alive', 'keep-alive, Upgrade', 'upgrade', 'x', ''],
  ...['keep-alive, x-request-id', 'keep-alive,', ' keep-alive', 'keep-alive\tclose'],
];

function plain(method: string, target: string, body = '', ...fields: readonly (readonly [string, string])[]): Request {
  const length = body === '' ? [] : [['Content-Length', String(Buffer.byteLength(body))] as const];
  return { method, target, fields: [['Host', 't'], ...fields, ...length], body };
}

function withField(request: Request, name: string, value: string): Request {
  return { ...request, fields: [...request.fields, [name, value]] };
}

export function otherRequest(random: Random, vocabulary: Vocabulary, number: number): Request {
  return random.pick(OTHERS)(random, usualSearch(random, vocabulary, number));
}

/** As Latin-1 text. */
export function textOf({ method, target, fields, body }: Request, version = 'HTTP/1.1'): string {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} ${version}\r\n${lines.join('')}\r\n${body}`;
}
