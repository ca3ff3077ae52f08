import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createHeadReader, isHost, type LaneFields } from '../../../src/http/lane/head.ts';
import { headerOf } from '../../../src/http/transport/request-target.ts';

const reader = (fields: LaneFields = { context: [] }) =>
  createHeadReader({ paths: ['/search', '/healthz'], maxTargetBytes: 100, fields });
const read = (text: string, fields?: LaneFields) => reader(fields)(Buffer.from(text, 'latin1'), 0);
const withField = (field: string) => `GET /search?q=a HTTP/1.1\r\nHost: t\r\n${field}\r\n\r\n`;

test('a plain search is read, with the fields that its answer can depend on', () => {
  const text = withField(
    'User-Agent: x\r\nCF-Ray: 8a-FRA\r\nACCEPT-Encoding:\t gzip \r\nX-Request-Id: r-1\r\nCookie: a=b\r\nconnection: Keep-Alive',
  );
  assert.deepEqual(read(text), {
    isHead: false,
    target: '/search?q=a',
    headers: { 'accept-encoding': 'gzip', 'x-request-id': 'r-1' },
    end: text.length,
  });
});

test('a head is read at any offset, and the next one begins at its end', () => {
  const one = withField('Accept: */*');
  const bytes = Buffer.from(`${one}HEAD /search HTTP/1.1\r\nhost:\r\n\r\nrest`);
  const first = reader()(bytes, 0);
  const second = reader()(bytes, first?.end ?? 0);
  assert.deepEqual([second?.isHead, second?.target, bytes.toString('latin1', second?.end)], [true, '/search', 'rest']);
});

test('health checks are read by their exact path', () => {
  assert.equal(read('GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n')?.target, '/healthz');
  assert.equal(read('GET /healthz?a HTTP/1.1\r\nHost: t\r\n\r\n'), undefined);
});

test('every byte of a head is needed', () => {
  const whole = withField('Accept: */*');
  for (let length = 0; length < whole.length; length += 1) assert.equal(read(whole.slice(0, length)), undefined);
});

describe('a head is left to Node', () => {
  const many = Array.from({ length: 128 }, () => 'Accept: a').join('\r\n');
  const heads: Record<string, string> = {
    'another method': 'POST /search HTTP/1.1\r\nHost: t\r\n\r\n',
    'a method in lower case': 'get /search HTTP/1.1\r\nHost: t\r\n\r\n',
    'another path': 'GET /searches HTTP/1.1\r\nHost: t\r\n\r\n',
    'an absolute form': 'GET http://t/search?q=a HTTP/1.1\r\nHost: t\r\n\r\n',
    'HTTP/1.0': 'GET /search?q=a HTTP/1.0\r\nHost: t\r\n\r\n',
    'HTTP/1.2': 'GET /search?q=a HTTP/1.2\r\nHost: t\r\n\r\n',
    'two spaces': 'GET  /search?q=a HTTP/1.1\r\nHost: t\r\n\r\n',
    'a fragment': 'GET /search?q=a#b HTTP/1.1\r\nHost: t\r\n\r\n',
    'UTF-8 in the target': 'GET /search?q=\u00d0\u00ba HTTP/1.1\r\nHost: t\r\n\r\n',
    'a long target': `GET /search?q=${'a'.repeat(100)} HTTP/1.1\r\nHost: t\r\n\r\n`,
    'no Host': 'GET /search?q=a HTTP/1.1\r\n\r\n',
    'two Hosts': withField('Host: t'),
    'bare LF after the request line': 'GET /search?q=a HTTP/1.1\nHost: t\r\n\r\n',
    'bare LF after a field': 'GET /search?q=a HTTP/1.1\r\nHost: t\n\r\n',
    'bare LF at the end': 'GET /search?q=a HTTP/1.1\r\nHost: t\r\n\n',
    'bare CR in a value': withField('Accept: a\rb'),
    'NUL in a value': withField('Accept: a\0'),
    'a space before the colon': withField('Accept : a'),
    'a folded line': withField('Accept: a\r\n b'),
    'a line without a colon': withField('Accept'),
    'an empty name': withField(': a'),
    'Content-Length': withField('Content-Length: 1'),
    'two Content-Lengths': withField('Content-Length: 0\r\nContent-Length: 0'),
    'a Content-Length that is not written as 0': withField('Content-Length: 00'),
    'Transfer-Encoding': withField('Transfer-Encoding: chunked'),
    Expect: withField('Expect: 100-continue'),
    'Connection: close': withField('Connection: close'),
    'a Connection with close among its members': withField('Connection: keep-alive, Close'),
    'Proxy-Connection: close': withField('Proxy-Connection: close'),
    'a name with a byte above ASCII': withField('X-\u00e9: a'),
    'DEL in a value': withField('X-Unknown: a\x7f'),
    'a control character in a value': withField('X-Unknown: a\x0bb'),
    'a Host that is none': 'GET /search?q=a HTTP/1.1\r\nHost: a b\r\n\r\n',
    '129 fields': withField(many),
    'fields of 16 KiB': withField(`Accept: ${'a'.repeat(16 * 1024)}`),
  };
  for (const [name, text] of Object.entries(heads)) test(name, () => assert.equal(read(text), undefined));
});

describe('a field that nobody reads is passed over', () => {
  const known = withField('').length - 2;
  const fields: Record<string, string> = {
    'with any name': "!#$%&'*+-.^_`|~09AZ: a",
    'without a value': 'X-Unknown:',
    'with bytes above ASCII': 'X-City: K\u00f6ln\u00ff',
    'with tabs and spaces': 'X-Unknown:\t a\tb \t',
    twice: 'X-Unknown: a\r\nx-unknown: b',
    '126 times': Array.from({ length: 126 }, (_, at) => `X-${at}: ${at}`).join('\r\n'),
    'of 15 KiB': `Cookie: ${'a'.repeat(15 * 1024)}`,
    'that another hop would read': 'TE: trailers\r\nTrailer: a\r\nKeep-Alive: timeout=5\r\nHTTP2-Settings: AA',
    'with the length of no body': 'Content-Length: 0',
    'with an upgrade': 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA',
    'with a Connection that names it': 'Connection: keep-alive, TE\r\nTE: trailers',
  };
  for (const [name, field] of Object.entries(fields)) {
    test(name, () => {
      const head = read(withField(field));
      assert.deepEqual([head?.headers, head?.end], [{}, known + field.length + 2]);
    });
  }
});

test('of a field that is read twice the values are joined, or the first is kept, as Node does it', () => {
  const context = ['region', 'user-agent', 'accept-language', 'cookie'];
  const twice = (name: string): string | undefined => {
    const lines = ['a', '', 'b'].map((value) => `${name}: ${value}`);
    const head = read(withField(lines.join('\r\n')), { context });
    return head && headerOf(head.headers, name.toLowerCase());
  };
  const joined = ['X-Forwarded-For', 'X-Request-Id', 'Accept-Encoding', 'If-None-Match', 'If-Match', 'Region'];
  for (const name of [...joined, 'traceparent', 'Accept-Language']) assert.equal(twice(name), 'a, , b', name);
  for (const name of ['Authorization', 'User-Agent']) assert.equal(twice(name), 'a', name);
  assert.deepEqual(read(withField('Cookie: a'), { context })?.headers, { cookie: 'a' });
  assert.equal(twice('Cookie'), undefined, 'left to Node');
});

test('a field that is part of a key is read, Host too', () => {
  const context = ['accept-language', 'x-request-id', 'host'];
  assert.deepEqual(read(withField('Accept-Language: de\r\nX-Unknown: a'), { context })?.headers, {
    'accept-language': 'de',
    host: 't',
  });
  assert.equal(read(withField('Content-Length: 1'), { context: ['content-length'] }), undefined);
});

test('the field that names a client is read', () => {
  const clientOf = (field: string, client: string) => read(withField(field), { context: [], client })?.headers;
  assert.deepEqual(clientOf('X-Api-Key: k', 'x-api-key'), { 'x-api-key': 'k' });
  assert.deepEqual(clientOf('Accept: a', 'host'), { host: 't' });
});

test('a Host is a name or an address, with or without a port', () => {
  const hosts = ['', 't', 't:', 't:80', 'T.example', 'a_b', "a!$&'()*+,;=~", '%41', '10.0.0.1', '[::1]', '[::1]:65535'];
  for (const host of hosts) assert.equal(isHost(host), true, host);
  const others = ['a b', 't/', 't?', 't#', 'u@t', 't, u', '"t"', 'a\\b', '%zz', '%4', 't\u00e9', '<t>', 't|u', 't^'];
  const ports = [
    ':80',
    ':',
    't:99999',
    't:-1',
    't:8o',
    't:80:80',
    '::1',
    '[::1',
    '[::1]a',
    '[::g]',
    '[]',
    '[fe80::1%1]',
  ];
  for (const host of [...others, ...ports]) assert.equal(isHost(host), false, host);
});
