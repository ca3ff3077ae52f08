import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createHeadReader, type LaneFields } from '../../../src/http/lane/head.ts';

const reader = (fields: LaneFields = { context: [] }) =>
  createHeadReader({ paths: ['/search', '/healthz'], maxTargetBytes: 100, fields });
const read = (text: string, fields?: LaneFields) => reader(fields)(Buffer.from(text, 'latin1'), 0);
const withField = (field: string) => `GET /search?q=a HTTP/1.1\r\nHost: t\r\n${field}\r\n\r\n`;

test('a plain search is read, with the fields that its answer can depend on', () => {
  const text = withField(
    'User-Agent: x\r\nACCEPT-Encoding:\t gzip \r\nX-Request-Id: r-1\r\nCookie: a=b\r\nconnection: Keep-Alive',
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
    'obs-text in a value': withField('Accept: \u00e9'),
    'a space before the colon': withField('Accept : a'),
    'a folded line': withField('Accept: a\r\n b'),
    'a line without a colon': withField('Accept'),
    'an empty name': withField(': a'),
    'Content-Length': withField('Content-Length: 0'),
    'Transfer-Encoding': withField('Transfer-Encoding: chunked'),
    Expect: withField('Expect: 100-continue'),
    Upgrade: withField('Upgrade: h2c'),
    TE: withField('TE: trailers'),
    Trailer: withField('Trailer: a'),
    Authorization: withField('Authorization: Bearer a'),
    'Connection: close': withField('Connection: close'),
    'a Connection with two members': withField('Connection: keep-alive, upgrade'),
    'an unknown field': withField('X-Unknown: a'),
    'a field that is read, twice': withField('X-Request-Id: a\r\nX-Request-Id: b'),
    '129 fields': withField(many),
    'fields of 8 KiB': withField(`Accept: ${'a'.repeat(8192)}`),
  };
  for (const [name, text] of Object.entries(heads)) test(name, () => assert.equal(read(text), undefined));
});

test('a field that is part of a key is never passed over', () => {
  const fields = { context: ['accept-language', 'x-request-id'] };
  assert.equal(read(withField('Accept-Language: de'), fields), undefined);
  assert.equal(read(withField('X-Request-Id: a'), fields), undefined);
  assert.notEqual(read(withField('Accept: a'), fields), undefined);
});

test('the field that names a client is read; one of Node’s own is left to Node with its requests', () => {
  assert.equal(read(withField('X-Api-Key: k'), { context: [], client: 'x-api-key' })?.headers['x-api-key'], 'k');
  assert.equal(read(withField('Content-Length: 0'), { context: [], client: 'content-length' }), undefined);
  assert.equal(read(withField('Authorization: Bearer a'), { context: [], client: 'authorization' }), undefined);
  assert.equal(read(withField('Accept: a'), { context: [], client: 'host' }), undefined);
});
