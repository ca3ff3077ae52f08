import assert from 'node:assert/strict';
import { it } from 'node:test';
import { wordsOf } from '../../../src/engines/sqlite/expression.ts';

it('case, ё, accents and stress marks are folded, й stays', () => {
  assert.deepEqual(wordsOf('Ёлка ЁЛКА е\u0308лка елка'), ['елка', 'елка', 'елка', 'елка']);
  assert.deepEqual(wordsOf('Café café за\u0301мок Йод и\u0306од'), ['cafe', 'cafe', 'замок', 'йод', 'йод']);
});

it('compatibility forms become the letters that they stand for', () => {
  assert.deepEqual(wordsOf('ﬁlm Ｎｏｋｉａ'), ['film', 'nokia']);
});

it('a trade mark sign does not become part of the word before it', () => {
  assert.deepEqual(wordsOf('Intel® Core™2'), ['intel', 'core', '2']);
});

it('C++ and C# are words, and other signs are not', () => {
  assert.deepEqual(wordsOf('C++, C# и C; a+b abc++ #1'), ['c++', 'c#', 'и', 'c', 'a', 'b', 'abc', '1']);
});

it('vowel signs stay with their letters', () => {
  assert.deepEqual(wordsOf('हिन्दी'), ['हिन्दी']);
});

it('a text without letters and digits has no words', () => {
  for (const text of ['', '!!!', '😀', '- - -', '\u0301', '++', '🇷🇺']) assert.deepEqual(wordsOf(text), []);
});

it('a canonical text has the same words as the original', () => {
  for (const text of ['Straße', 'ΣΊΣΥΦΟΣ', 'İstanbul', 'Ещё ﬂat ½']) {
    assert.deepEqual(wordsOf(wordsOf(text).join(' ')), wordsOf(text));
  }
});
