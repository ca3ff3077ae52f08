import assert from 'node:assert/strict';
import { test } from 'node:test';
import { get, listeningServer, sendBytes } from './harness.ts';

const raw = (text: string): string => Buffer.from(text).toString('latin1');

test('a query typed in raw UTF-8 is answered like its escaped spelling', async (context) => {
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

test('nothing else rides along with a raw target', async (context) => {
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

test('a raw target with a broken header after it is refused and harms nothing', async (context) => {
  const { port, search } = await listeningServer(context);
  for (const field of ['Content-Length: x', 'X: \x01', 'Transfer-Encoding: chunked, x', ': none', 'Host: t\x00']) {
    const answer = await sendBytes(port, `GET /search?q=${raw('ё')} HTTP/1.1\r\nHost: t\r\n${field}\r\n\r\n`);
    assert.deepEqual([answer.status, answer.problem.code], [400, 'invalid-request'], field);
  }
  assert.equal(search.asked.single.length, 0);
  assert.equal((await get(port, '/search?q=a')).status, 200);
});
