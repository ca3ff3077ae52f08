import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../../src/http/transport/problem.ts';
import { MAX_PAIRS, parametersOf, parseQueryString } from '../../src/http/transport/request-target.ts';
import { anyCharacter } from '../any-character.ts';
import { get, listeningServer, sendBytes } from './harness.ts';

test('pairs come out in the order given, duplicates included', () => {
  assert.deepEqual(parseQueryString('q=a&filter=x:1&&filter=x:2&flag'), [
    ['q', 'a'],
    ['filter', 'x:1'],
    ['filter', 'x:2'],
    ['flag', ''],
  ]);
});

test('a plus is a space and an escaped plus is a plus', () => {
  assert.deepEqual(parseQueryString('q=c%2B%2B+book&a=b=c'), [
    ['q', 'c++ book'],
    ['a', 'b=c'],
  ]);
});

test('UTF-8 is read with escapes and as the raw bytes that Node gives', () => {
  const raw = Buffer.from('ёж 😀').toString('latin1');
  assert.deepEqual(parseQueryString(`q=${encodeURIComponent('ёж 😀')}&p=${raw}`), [
    ['q', 'ёж 😀'],
    ['p', 'ёж 😀'],
  ]);
});

test('every text that a browser encodes is decoded again', () => {
  const text = fc.string({ unit: anyCharacter }).filter((each) => each.isWellFormed());
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 10 }), (pairs) => {
      const given = pairs.filter(([name, value]) => name !== '' || value !== '');
      assert.deepEqual(parseQueryString(new URLSearchParams(given).toString()), given);
    }),
  );
});

for (const bad of ['%', '%4', '%zz', '%ED%A0%80', '%C0%AF', '%FF', '%D0', '\xff', '%F5%80%80%80']) {
  test(`${JSON.stringify(bad)} is refused by name`, () => {
    assert.throws(
      () => parseQueryString(`page=1&filter=${bad}`),
      (error) =>
        error instanceof Refusal && error.problem.code === 'invalid-url' && error.problem.parameter === 'filter',
    );
  });
}

const foreign: readonly (readonly [what: string, parameter: string, ignored: string])[] = [
  ['a percent sign in a value', 'utm_campaign=50%_off', 'utm_campaign'],
  ['escapes of another encoding', 'utm_term=%EA%F3', 'utm_term'],
  ['bytes of another encoding', 'utm_term=\xea\xf3', 'utm_term'],
  ['half an escape at the end', 'gclid=a%2', 'gclid'],
  ['an encoded surrogate', 'x=%ED%A0%80', 'x'],
  ['a name that cannot be decoded', '%zz=1', '%zz'],
  ['a name in another encoding', '%EA', '%EA'],
  ['a name that looks like a parameter until its last byte', 'q%FF=b', 'q%FF'],
];
for (const [what, parameter, ignored] of foreign) {
  test(`a parameter that is not read may have any encoding: ${what}`, async (context) => {
    const { port, search, events } = await listeningServer(context);
    const plain = await get(port, '/search?q=lamp&facet=category');
    for (const target of [`/search?q=lamp&facet=category&${parameter}`, `/search?${parameter}&facet=category&q=lamp`]) {
      const answer = await get(port, target);
      assert.deepEqual([answer.status, answer.body], [200, plain.body], target);
      assert.match(answer.headers['cache-status'] ?? '', /^serpcache-l1; hit/, 'the same key');
    }
    assert.equal(search.asked.single.length, 1);
    assert.deepEqual(
      events.map(({ outcome }) => outcome),
      ['engine', 'hit-l1', 'hit-l1'],
    );
    assert.equal((await get(port, `/?q=lamp&${parameter}`)).status, 200, 'the search page');
    const { undecodable } = parametersOf(`/search?q=lamp&${parameter}`, {}, 4096);
    assert.deepEqual([...undecodable.keys()], [ignored]);
  });
}

const read: readonly (readonly [target: string, parameter: string, domain: string])[] = [
  ['/search?q=%EA%F3', 'q', 'goods'],
  ['/search?%71=%EA%F3', 'q', 'goods'],
  ['/search?q=lamp&q=%FF', 'q', 'goods'],
  ['/search?q=lamp&filter=city:%2&domain=goods', 'filter', 'goods'],
  ['/search?q=lamp&page=%', 'page', 'goods'],
  ['/search?q=lamp&region=%FF', 'region', 'goods'],
  ['/search?q=lamp&domain=%FF', 'domain', 'none'],
  ['/search?q=lamp&highlight=\xff&domain=auto', 'highlight', 'auto'],
];
for (const [target, parameter, domain] of read) {
  test(`a parameter that is read must be encoded well: ${JSON.stringify(target)}`, async (context) => {
    const { port, search, events } = await listeningServer(context);
    const answer = await get(port, target);
    assert.deepEqual([answer.status, answer.problem.code, answer.problem.parameter], [400, 'invalid-url', parameter]);
    assert.match(answer.problem.detail ?? '', /two hexadecimal digits/);
    assert.deepEqual([search.asked.single.length, events[0]?.domain, events.length], [0, domain, 1]);
  });
}

test('context that only another domain declares is not read', async (context) => {
  const { port } = await listeningServer(context);
  assert.equal((await get(port, '/search?q=lamp&domain=auto&region=%FF')).status, 200);
  assert.equal((await get(port, '/search?q=lamp&domain=goods&region=%FF')).status, 400);
});

test('the search page refuses what it reads and no more', async (context) => {
  const { port } = await listeningServer(context);
  for (const name of ['q', 'domain', 'page', 'sort', 'limit', 'filter', 'region', 'price.from', 'price.to'])
    assert.equal((await get(port, `/?q=lamp&${name}=%FF`)).status, 400, name);
  for (const name of ['utm_term', 'facet', 'city.x', 'price'])
    assert.equal((await get(port, `/?q=lamp&${name}=%FF`)).status, 200, name);
});

test('a name in escapes is the name that it means', async (context) => {
  const { port } = await listeningServer(context);
  const answer = await get(port, '/search?%71=lamp&%66ilter=price:10..50');
  assert.equal(JSON.parse(answer.body).query, 'lamp');
  assert.match((await get(port, '/search?%71=lamp&q=lamp')).problem.detail ?? '', /only once/);
});

test('a name that a library writes for a list, or that was escaped twice, is the plain name', () => {
  const text = 'filter[]=a&filter%5B1%5D=b&amp;facet=c&amp;amp;region[]=d&a[b]=e&[]=f';
  assert.deepEqual(parseQueryString(text), [
    ['filter', 'a'],
    ['filter', 'b'],
    ['facet', 'c'],
    ['region', 'd'],
    ['a[b]', 'e'],
    ['', 'f'],
  ]);
});

test('the number of parameters of a URL is limited', () => {
  const of = (count: number): string => Array.from({ length: count }, (_, i) => `p${i}=1`).join('&');
  assert.equal(parseQueryString(of(MAX_PAIRS)).length, MAX_PAIRS);
  assert.throws(() => parseQueryString(of(MAX_PAIRS + 1)), Refusal);
  const broken = (count: number): string => `/search?${of(count).replaceAll('=1', '=%')}`;
  assert.equal(parametersOf(broken(MAX_PAIRS), {}, 4096).undecodable.size, MAX_PAIRS);
  assert.throws(() => parametersOf(broken(MAX_PAIRS + 1), {}, 4096), Refusal, 'those that cannot be decoded count');
});

const raw = (text: string): string => Buffer.from(text).toString('latin1');

test('a query in raw UTF-8 is answered like its escaped form', async (context) => {
  const { port, search, events } = await listeningServer(context);
  const typed = await get(port, `/search?q=${raw('Кроссовки')}`);
  assert.equal(typed.status, 200);
  assert.equal(JSON.parse(typed.body).query, 'кроссовки');
  assert.equal(typed.headers['connection'], 'close');
  const escaped = await get(port, `/search?q=${encodeURIComponent('Кроссовки')}`);
  assert.deepEqual([escaped.headers['cache-status']?.slice(0, 16), escaped.body], ['serpcache-l1; hi', typed.body]);
  assert.deepEqual([search.asked.single.length, events.length], [1, 2]);
});

test('raw bytes that are not UTF-8 are refused by name', async (context) => {
  const { port, search } = await listeningServer(context);
  const answer = await get(port, '/search?q=\xff');
  assert.deepEqual([answer.status, answer.problem.code, answer.problem.parameter], [400, 'invalid-url', 'q']);
  assert.equal(search.asked.single.length, 0);
});

test('a raw target is refused in any request that could hide a second request or field', async (context) => {
  const { port, search } = await listeningServer(context);
  const target = `/search?q=${raw('ё')}`;
  for (const bytes of [
    `GET ${target} HTTP/1.1\r\nHost: t\r\n\r\nGET /search?q=a HTTP/1.1\r\nHost: t\r\n\r\n`,
    `POST ${target} HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n`,
    `GET ${target} HTTP/1.1\r\nHost: t`.concat('\r\nX: a\nb\r\n\r\n'),
    `GET ${target}\t HTTP/1.1\r\nHost: t\r\n\r\n`,
  ]) {
    const answer = await sendBytes(port, bytes);
    assert.deepEqual([answer.status, answer.problem.code], [400, 'invalid-url'], JSON.stringify(bytes));
  }
  assert.equal(search.asked.single.length, 0);
});

test('a raw target with a broken header is refused, and the server still answers', async (context) => {
  const { port, search } = await listeningServer(context);
  for (const field of ['Content-Length: x', 'X: \x01', 'Transfer-Encoding: chunked, x', ': none', 'Host: t\x00']) {
    const answer = await sendBytes(port, `GET /search?q=${raw('ё')} HTTP/1.1\r\nHost: t\r\n${field}\r\n\r\n`);
    assert.deepEqual([answer.status, answer.problem.code], [400, 'invalid-request'], field);
  }
  assert.equal(search.asked.single.length, 0);
  assert.equal((await get(port, '/search?q=a')).status, 200);
});
