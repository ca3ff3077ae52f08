import type { Random } from '../../../loadtest/random.ts';

type Mutation = (random: Random, text: string) => string;

/** Bytes that parsers read in different ways. */
const SPECIAL = [...'\r\n\0\t :,\x0b\x0c\x7f\x80\xa0\xff?#%"\\'];

/** Changes 1 to 3 places of the text of a request. */
export function mutated(random: Random, text: string): string {
  let changed = text;
  const count = random.chance(0.6) ? 1 : random.between(2, 3);
  for (let at = 0; at < count && changed !== ''; at += 1) changed = random.pick(MUTATIONS)(random, changed);
  return changed;
}

const MUTATIONS: readonly Mutation[] = [
  // Single bytes.
  (random, text) => replaced(text, place(random, text), 1, String.fromCharCode(random.between(0, 255))),
  (random, text) => flipped(text, place(random, text), random.between(0, 7)),
  (random, text) => replaced(text, place(random, text), 0, random.pick(SPECIAL)),
  (random, text) => replaced(text, place(random, text), 1, random.pick(SPECIAL)),
  (random, text) => replaced(text, place(random, text), random.between(1, 3), ''),
  // Line ends.
  (random, text) => eachOf(random, text, /\r\n/g, '\n'),
  (random, text) => eachOf(random, text, /\r\n/g, '\r'),
  (random, text) => eachOf(random, text, /\r\n/g, '\n\r'),
  (random, text) => eachOf(random, text, /\r\n/g, '\r\r\n'),
  (random, text) => eachOf(random, text, /\r\n/g, '\r\n '),
  (random, text) => eachOf(random, text, /\r\n/g, '\r\n\tfolded\r\n'),
  (random, text) => eachOf(random, text, /\r\n/g, ' \r\n'),
  (random, text) => eachOf(random, text, /\r\n/g, ''),
  (_random, text) => text.replaceAll('\r\n', '\n'),
  (random, text) => `${random.pick(['\r\n', '\r\n\r\n', '\n', '\r', ' ', '\0'])}${text}`,
  // Colons and white space.
  (random, text) => eachOf(random, text, /: /g, ':'),
  (random, text) => eachOf(random, text, /: /g, random.pick([' : ', '\t: ', '\x0b: ', ':\t', ':  \t ', '::', ' '])),
  (random, text) => eachOf(random, text, / (?=HTTP)/g, random.pick(['  ', '\t', '', ' x ', '\xa0'])),
  (random, text) => eachOf(random, text, /(?<=^(?:GET|HEAD)) /g, random.pick(['  ', '\t', '\r\n'])),
  // Names, methods and versions.
  (random, text) =>
    eachOf(random, text, /[A-Za-z-]+(?=:)/g, (name) => (random.chance(0.5) ? name.toUpperCase() : name.toLowerCase())),
  (random, text) =>
    eachOf(random, text, /[A-Za-z-]+(?=:)/g, random.pick(['', 'Host', 'Content-Length', 'X_Y', 'Hos', '(x)'])),
  (random, text) => eachOf(random, text, /[A-Za-z-]+(?=:)/g, (name) => nearName(random, name)),
  (random, text) => eachOf(random, text, /^(?:GET|HEAD)/g, random.pick(METHODS)),
  (random, text) => eachOf(random, text, /HTTP\/1\.1/g, random.pick(VERSIONS)),
  (random, text) => eachOf(random, text, /\/search/g, random.pick(PATHS)),
  // Lines.
  (random, text) => withLine(random, text, (line) => [line, line]),
  (random, text) => withLine(random, text, () => []),
  (random, text) => withLine(random, text, (line) => [line, random.pick(LINES)]),
  (random, text) => withLine(random, text, () => [random.pick(LINES)]),
  (random, text) => withLine(random, text, (line) => [random.pick(LINES), line]),
  (random, text) => text.slice(0, place(random, text)),
];

const METHODS = ['get', 'Get', 'GEt', 'GE T', 'PUT', 'HEADS', 'QUERY', 'SOURCE'];
const VERSIONS = [
  ...['HTTP/1.0', 'HTTP/1.2', 'HTTP/0.9', 'HTTP/1.10', 'HTTP/01.1', 'http/1.1', 'HTTP/2.0', 'HTTP/11', 'ICE/1.0'],
  ...['RTSP/1.1', ''],
];
const PATHS = [
  ...['/Search', '/search/', '/search;x', 'search', '//search', '/search\\', '/./search', '/x/../search'],
  ...['/sea%72ch', 'http://u@t/search', '/search%20'],
];

/** Lines that lead to another framing, another answer or none. */
const LINES = [
  'Content-Length: 0',
  'Content-Length: 5',
  'Content-Length: 5\r\nContent-Length: 5',
  'Content-Length:',
  'content-length: 1 2',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding: xchunked',
  'TE: trailers',
  'Connection: close',
  'Connection: keep-alive',
  'Connection: keep-alive\r\nConnection: close',
  'Connection: upgrade',
  'Host: t',
  'Host: other',
  'Host:',
  'host : t',
  'Expect: 100-continue',
  'Expect: x',
  'Upgrade: h2c',
  'X-Variant: b',
  'X-Request-Id: twice',
  'Cookie: b=2',
  'If-None-Match: *',
  'If-None-Match: "x"',
  'Accept-Encoding: gzip',
  'X-Forwarded-For: 1.2.3.4',
  'traceparent: x',
  'Range: bytes=0-1',
  'If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT',
  'If-Match: "x"',
  'Authorization: Bearer x',
  'X-Http-Method-Override: POST',
  'Referer: \xd0\xba',
  'User-Agent: \0',
  ': empty',
  'NoColon',
  ' Leading: space',
  'A\xc3\xa9: 1',
  'Keep-Alive: timeout=1',
];

/** A name that differs in one letter or only in bit 5, which tells the case of letters. */
function nearName(random: Random, name: string): string {
  const at = random.between(0, Math.max(0, name.length - 1));
  return random.chance(0.5) ? flipped(name, at, 5) : replaced(name, at, 1, random.pick(['_', 'x', '\r', '@', '[']));
}

function place(random: Random, text: string): number {
  // Most faults that matter stand near the start or near an end of a line.
  if (random.chance(0.2)) return random.between(0, Math.min(20, text.length - 1));
  return random.between(0, text.length - 1);
}

function replaced(text: string, at: number, count: number, by: string): string {
  return `${text.slice(0, at)}${by}${text.slice(at + count)}`;
}

function flipped(text: string, at: number, bit: number): string {
  return replaced(text, at, 1, String.fromCharCode((text.charCodeAt(at) ^ (1 << bit)) & 0xff));
}

/** Replaces one of the matches. */
function eachOf(random: Random, text: string, pattern: RegExp, by: string | ((found: string) => string)): string {
  const found = [...text.matchAll(pattern)];
  if (found.length === 0) return text;
  const { 0: match, index } = random.pick(found);
  return replaced(text, index, match.length, typeof by === 'string' ? by : by(match));
}

/** Replaces one line after the request line. */
function withLine(random: Random, text: string, change: (line: string) => readonly string[]): string {
  const lines = text.split('\r\n');
  const end = lines.indexOf('');
  if (end < 2) return text;
  const at = random.between(1, end - 1);
  return lines.toSpliced(at, 1, ...change(lines[at] ?? '')).join('\r\n');
}
