import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOnce, onceWordsOf } from '../../../loadtest/k6/kit/queries.ts';

const TEN = 'ah be ce de ef eg he ie je ka'.split(' ');

test('all pairs come before one repeats, and a repeated pair gets one more word: the same text never comes twice', () => {
  const once = createOnce({ words: TEN }, 5);
  // There are 70 pairs, so COUNT reaches far into texts of four words.
  const texts = Array.from({ length: 20_000 }, (_, n) => once(n));
  assert.equal(new Set(texts).size, texts.length);
  assert.ok(texts.slice(0, 70).every((text) => text.split(' ').length === 2));
  assert.ok(texts.slice(70, 700).every((text) => text.split(' ').length === 3));
});

test('all pairs come, for every number of words', () => {
  for (let count = 10; count < 60; count += 1) {
    const once = createOnce({ words: Array.from({ length: count }, (_, at) => `w${at}`) }, 5);
    const pairs = count * (count - 3);
    assert.equal(new Set(Array.from({ length: pairs }, (_, n) => once(n))).size, pairs, `${count} words`);
  }
});

test('the two words are neither equal nor neighbours in the list', () => {
  const words = TEN;
  const once = createOnce({ words: TEN }, 5);
  for (let n = 0; n < 70; n += 1) {
    const [first = '', second = ''] = once(n).split(' ');
    const apart = Math.abs(words.indexOf(first) - words.indexOf(second));
    assert.ok(apart > 1 && apart < words.length - 1, `${first} ${second}`);
  }
});

test('consecutive searches do not share their first word', () => {
  const many = Array.from({ length: 500 }, (_, at) => `w${at}`);
  const once = createOnce({ words: many }, 1);
  for (let n = 0; n < 1000; n += 1) assert.notEqual(once(n).split(' ')[0], once(n + 1).split(' ')[0]);
});

test('another seed begins at another pair', () => {
  assert.notEqual(createOnce({ words: TEN }, 1)(0), createOnce({ words: TEN }, 2)(0));
});

test('the largest n makes a text that the service accepts', () => {
  const long = Array.from({ length: 10 }, (_, at) => 'abcdefghij'.charAt(at).repeat(20));
  assert.ok(createOnce({ words: long }, 1)(2 ** 32 - 1).length <= 256);
});

test('words have three or more letters of any script, are normalized as in the service, and come once each', () => {
  const queries = ['Red ЁЛКА tv 4k', 'red 10"', 'schöne-Straße USB3', 'красный'].map((text) => ({
    text,
    parameters: '',
  }));
  assert.deepEqual(onceWordsOf(queries), [{ words: ['red', 'елка', 'schöne', 'strasse', 'usb', 'красный'] }]);
});

test('each domain has its own words, at most two thousand', () => {
  const texts = Array.from({ length: 3000 }, (_, at) => [...String(at)].map((digit) => 'abcdefghij'[Number(digit)]));
  const queries = texts.flatMap((text) =>
    ['goods', 'auto'].map((domain) => ({
      domain,
      text: ['', 'x', 'y'].map((end) => `${domain}${text.join('')}${end}`).join(' '),
      parameters: '',
    })),
  );
  const lists = onceWordsOf(queries);
  assert.deepEqual(
    lists.map(({ domain, words }) => [domain, words.length]),
    [
      ['goods', 2000],
      ['auto', 2000],
    ],
  );
  for (const { domain = '', words } of lists) assert.ok(words.every((word) => word.startsWith(domain)));
});
