import assert from 'node:assert/strict';
import { it } from 'node:test';
import { wordsOf } from '../../../src/engines/sqlite/expression.ts';

it('case, ё, accents and stress marks are folded away, й stays', () => {
  assert.deepEqual(wordsOf('Ёлка ЁЛКА е\u0308лка елка'), ['елка', 'елка', 'елка', 'елка']);
  assert.deepEqual(wordsOf('Café café за\u0301мок Йод и\u0306од'), ['cafe', 'cafe', 'замок', 'йод', 'йод']);
});

it('compatibility forms are the letters they stand for', () => {
  assert.deepEqual(wordsOf('ﬁlm Ｎｏｋｉａ'), ['film', 'nokia']);
});

it('a trade mark is not glued to its word', () => {
  assert.deepEqual(wordsOf('Intel® Core™2'), ['intel', 'core', '2']);
});

it('C++ and C# are words of their own, and other signs are none', () => {
  assert.deepEqual(wordsOf('C++, C# и C; a+b abc++ #1'), ['c++', 'c#', 'и', 'c', 'a', 'b', 'abc', '1']);
});

it('vowel signs stay with their letters', () => {
  assert.deepEqual(wordsOf('हिन्दी'), ['हिन्दी']);
});

it('a text without letters and digits has no words', () => {
  for (const text of ['', '!!!', '😀', '- - -', '\u0301', '++', '🇷🇺']) assert.deepEqual(wordsOf(text), []);
});

it('a canonical text has the words of the text it was made of', () => {
  for (const text of ['Straße', 'ΣΊΣΥΦΟΣ', 'İstanbul', 'Ещё ﬂat ½']) {
    assert.deepEqual(wordsOf(wordsOf(text).join(' ')), wordsOf(text));
  }
});
