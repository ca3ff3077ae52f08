import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorsIn, get, type ListeningServer, listeningServer, type RawAnswer, sendBytes } from './harness.ts';

/** The common facts of every refusal of an invalid request. */
function assertRefused(started: ListeningServer, answer: RawAnswer, refusal: string): void {
  assert.equal(`${answer.status} ${answer.problem.code}`, refusal, answer.body);
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  assert.ok((answer.problem.detail ?? '').length > 10);
  const { search, events } = started;
  assert.deepEqual([search.asked.single, search.asked.many], [[], []], 'no search reached the core');
  assert.deepEqual(errorsIn(started), []);
  for (const event of events) {
    assert.ok(['goods', 'auto', 'none'].includes(event.domain), `${event.domain} became a label`);
    assert.equal(event.outcome, 'rejected');
  }
}

const urls: readonly [what: string, target: string, refusal: string, parameter?: string][] = [
  ['malformed percent-encoding', '/search?q=%E0%A4%A', '400 invalid-url', 'q'],
  ['half an escape', '/search?q=a&filter=%2', '400 invalid-url', 'filter'],
  ['a lone surrogate', '/search?q=%ED%A0%80', '400 invalid-url', 'q'],
  ['an overlong form', '/search?q=%C0%80', '400 invalid-url', 'q'],
  ['NUL', '/search?q=a%00b', '400 invalid-query', 'q'],
  ['a control character', '/search?q=a%1Bb', '400 invalid-query', 'q'],
  ['no query', '/search', '400 invalid-query', 'q'],
  ['an empty query', '/search?q=+%20', '400 invalid-query', 'q'],
  ['a query of 257 characters', `/search?q=${'x'.repeat(257)}`, '400 invalid-query', 'q'],
  ['a query given twice', '/search?q=a&q=b', '400 invalid-query', 'q'],
  ['a page given twice', '/search?q=a&page=1&page=2', '400 invalid-page', 'page'],
  ['a page of words', '/search?q=a&page=two', '400 invalid-page', 'page'],
  ['a page too deep', '/search?q=a&page=51&limit=20', '400 invalid-page', 'page'],
  ['a limit too large', '/search?q=a&limit=101', '400 invalid-page', 'limit'],
  ['an unknown domain', '/search?q=a&domain=nowhere', '404 unknown-domain', 'domain'],
  ['a domain given twice', '/search?q=a&domain=goods&domain=auto', '404 unknown-domain', 'domain'],
  ['an unknown sort', '/search?q=a&sort=colour', '400 invalid-sort', 'sort'],
  ['an unknown filter', '/search?q=a&filter=colour:red', '400 invalid-filter', 'filter'],
  ['a filter without a value', '/search?q=a&filter=price', '400 invalid-filter', 'filter'],
  ['an unknown facet', '/search?q=a&facet=price', '400 invalid-facet', 'facet'],
  ['a highlight of maybe', '/search?q=a&highlight=maybe', '400 invalid-highlight', 'highlight'],
  ['an undeclared context value', '/search?q=a&region=mars', '400 invalid-context', 'region'],
  ['too many parameters', `/search?q=a${'&x=1'.repeat(64)}`, '400 invalid-url'],
  ['a URL of 8 KiB', `/search?q=${'x'.repeat(8192)}`, '414 url-too-long'],
  ['headers above every limit', `/search?q=${'x'.repeat(40_000)}`, '431 headers-too-large'],
  ['an unknown path', '/serch?q=a', '404 not-found'],
  ['a malformed path', '/%zz', '400 invalid-url'],
];

for (const [what, target, refusal, parameter] of urls) {
  test(`${what} is refused with ${refusal}`, async (context) => {
    const started = await listeningServer(context);
    const answer = await get(started.port, target);
    assertRefused(started, answer, refusal);
    assert.equal(answer.problem.parameter, parameter);
    const isSearch = target.startsWith('/search') && answer.status !== 431;
    assert.equal(started.events.length, isSearch ? 1 : 0);
  });
}

test('the refusal of an unknown domain names the known ones', async (context) => {
  const { port } = await listeningServer(context);
  assert.match((await get(port, '/search?q=a&domain=nowhere')).problem.detail ?? '', /goods, auto/);
});

for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND']) {
  test(`${method} on /search is 405 and names the allowed methods`, async (context) => {
    const started = await listeningServer(context);
    const bytes = `${method} /search?q=a HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n`;
    const answer = await sendBytes(started.port, bytes);
    assertRefused(started, answer, '405 method-not-allowed');
    assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS');
    assert.equal(started.events.length, 1);
  });
}

test('GET on /msearch is 405', async (context) => {
  const started = await listeningServer(context);
  const answer = await get(started.port, '/msearch');
  assertRefused(started, answer, '405 method-not-allowed');
  assert.equal(answer.headers['allow'], 'OPTIONS, POST');
});

const JSON_TYPE = 'application/json';
const UNSUPPORTED = '415 unsupported-media-type';
const searches = (count: number, ...first: readonly unknown[]): string =>
  JSON.stringify({ searches: [...first, ...Array.from({ length: count }, () => ({ q: 'a' }))] });

const bodies: readonly (readonly [what: string, body: string, refusal: string, type?: string, parameter?: string])[] = [
  ['a body that is not JSON', '{"searches":', '400 invalid-body'],
  ['an empty body', '', '400 invalid-body'],
  ['a body in broken UTF-8', '{"searches":[{"q":"\xff"}]}', '400 invalid-body'],
  ['a body of another type', 'q=a', UNSUPPORTED, 'application/x-www-form-urlencoded'],
  ['a body of text', '{"searches":[{"q":"a"}]}', UNSUPPORTED, 'text/plain'],
  ['JSON of another shape', '[]', '400 invalid-body'],
  ['a number', '1', '400 invalid-body'],
  ['no searches', '{"searches":[]}', '400 invalid-body', JSON_TYPE, '/searches'],
  ['51 searches', searches(51), '400 invalid-body', JSON_TYPE, '/searches'],
  ['a search that is a text', '{"searches":["a"]}', '400 invalid-body', JSON_TYPE, '/searches/0'],
  ['a search that is a list', '{"searches":[{},["a"]]}', '400 invalid-body', JSON_TYPE, '/searches/1'],
  ['a search that is null', '{"searches":[null]}', '400 invalid-body', JSON_TYPE, '/searches/0'],
  ['JSON in Latin-1', '{}', UNSUPPORTED, `${JSON_TYPE}; charset=iso-8859-1`, 'Content-Type'],
  ['JSON in UTF-16', '{}', UNSUPPORTED, `${JSON_TYPE};Charset="utf-16"`, 'Content-Type'],
  ['JSON in no known charset', '{}', UNSUPPORTED, `${JSON_TYPE}; charset=x`, 'Content-Type'],
  ['a body that is compressed', '\x1f\x8b', UNSUPPORTED, `${JSON_TYPE}\r\nContent-Encoding: gzip`, 'Content-Encoding'],
  ['a body in two codings', '{}', UNSUPPORTED, `${JSON_TYPE}\r\nContent-Encoding: identity, br`, 'Content-Encoding'],
  ['more values than 50 searches have', `{"searches":[${'{},'.repeat(12_000)}{}]}`, '400 invalid-body'],
  ['lists in lists', '['.repeat(30_000), '400 invalid-body'],
  ['a search that is no object among too many', searches(50, 1), '400 invalid-body', JSON_TYPE, '/searches'],
  ['a body too large', JSON.stringify({ searches: [{ q: 'x'.repeat(70_000) }] }), '413 body-too-large'],
];

/** `POST /msearch` of a body in Latin-1. */
function post(port: number, type: string, body: string): Promise<RawAnswer> {
  const fields = `Host: t\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}`;
  return sendBytes(port, `POST /msearch HTTP/1.1\r\n${fields}\r\n\r\n${body}`);
}

for (const [what, body, refusal, type = JSON_TYPE, parameter] of bodies) {
  test(`${what} is refused with ${refusal}`, async (context) => {
    const started = await listeningServer(context);
    const answer = await post(started.port, type, body);
    assertRefused(started, answer, refusal);
    if (parameter !== undefined) assert.equal(answer.problem.parameter, parameter);
    assert.deepEqual(
      started.events.map(({ route, domain }) => [route, domain]),
      [['msearch', 'none']],
    );
  });
}

test('UTF-8 and identity are accepted in any spelling', async (context) => {
  const { port } = await listeningServer(context);
  for (const type of [
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON; charset=utf8; x=y',
    'application/json\r\nContent-Encoding: Identity',
  ]) {
    assert.equal((await post(port, type, searches(1))).status, 200, type);
  }
});

test('a chunked body is refused at the limit, before its end', async (context) => {
  const started = await listeningServer(context);
  const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
  const head =
    'POST /msearch HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  assertRefused(started, await sendBytes(started.port, head + chunk.repeat(6)), '413 body-too-large');
});

/** The request line and the fields of a request, which is followed by a body. */
const head = (line: string, ...fields: readonly string[]): string =>
  `${[`${line} HTTP/1.1`, ...fields].join('\r\n')}\r\n\r\n`;
const CLOSE = 'Connection: close';
const CHUNKED = 'Transfer-Encoding: chunked';

const broken: readonly [what: string, bytes: string, refusal?: string][] = [
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['no method at all', '\r\n\r\n\0\0\0\r\n\r\n'],
  ['an unknown method', head('BREW /search?q=a', 'Host: t')],
  ['no Host', head('GET /search?q=a')],
  ['two Hosts', head('GET /search?q=a', 'Host: t', 'host: u', CLOSE)],
  ['the same Host twice', head('GET /healthz', 'Host: t', 'HOST: t', CLOSE)],
  ['two Hosts in HTTP/1.0', head('GET /search?q=a', 'Host: t', 'Host: u', CLOSE).replace('HTTP/1.1', 'HTTP/1.0')],
  ['two Hosts and a raw target', head('GET /search?q=\xd1\x91', 'Host: t', 'Host: u')],
  ['a raw NUL in the URL', head('GET /search?q=\0', 'Host: t'), '400 invalid-url'],
  ['a raw control character in the URL', head('GET /search?q=\x01', 'Host: t'), '400 invalid-url'],
  ['two lengths', `${head('POST /msearch', 'Host: t', 'Content-Length: 1', 'Content-Length: 2')}ab`],
  ['a length and chunks', `${head('POST /msearch', 'Host: t', 'Content-Length: 1', CHUNKED)}0\r\n\r\n`],
  ['an expectation', head('GET /healthz', 'Host: t', 'Expect: the-best', CLOSE), '417 expectation-failed'],
];

for (const [what, bytes, refusal = '400 invalid-request'] of broken) {
  test(`${what} is refused with ${refusal}`, async (context) => {
    const started = await listeningServer(context);
    assertRefused(started, await sendBytes(started.port, bytes), refusal);
    assert.equal(started.events.length, 0);
  });
}

test('a server that got all these requests still answers', async (context) => {
  const started = await listeningServer(context);
  for (const [, target] of urls) await get(started.port, target);
  for (const [, bytes] of broken) await sendBytes(started.port, bytes);
  assert.equal((await get(started.port, '/search?q=a')).status, 200);
});
