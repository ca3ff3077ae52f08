import assert from 'node:assert/strict';
import { it } from 'node:test';
import { indexedWords, runsOf, spellingsOf, writingsOf } from '../../../src/engines/analysis/words.ts';

const wordsOf = (text: string) => runsOf(text).flatMap(({ parts }) => parts.flatMap(indexedWords));

for (const [fact, text, words] of [
  ['case, ё and stress marks are folded', 'Ёлка ЁЛКА е\u0308лка елка', 'елка елка елка елка'],
  ['accents are folded, й stays', 'Café café за\u0301мок Йод и\u0306од', 'cafe cafe замок йод йод'],
  ['compatibility forms become the letters that they stand for', 'ﬁlm Ｎｏｋｉａ', 'film nokia'],
  ['a trade mark sign does not become part of the word before it', 'Intel® Core™2', 'intel core 2'],
  ['C++ and C# are words, and other signs are not', 'C++, C# и C; a+b abc++ #1', 'c++ c# и c a b abc 1'],
  ['signs that stand for letters are words of their own', '60℃ 5㎏ Ⓐ № 7™', '60 c 5 kg a 7'],
  ['vowel signs stay with their letters', 'हिन्दी', 'हिन्दी'],
] as const) {
  it(fact, () => assert.equal(wordsOf(text).join(' '), words));
}

it('a text without letters and digits has no words', () => {
  for (const text of ['', '!!!', '😀', '- - -', '\u0301', '++', '🇷🇺']) assert.deepEqual(wordsOf(text), []);
});

it('a canonical text has the same words as the original', () => {
  for (const text of ['Straße', 'ΣΊΣΥΦΟΣ', 'İstanbul', 'Ещё ﬂat ½']) {
    assert.deepEqual(wordsOf(wordsOf(text).join(' ')), wordsOf(text));
  }
});

it('a word is found by its pieces, and a run by its words in one piece', () => {
  for (const [text, words, spellings] of [
    ['RTX4060Ti', 'rtx4060ti', ['rtx', 'rtx 4060', 'rtx 4060 ti', '4060', '4060 ti', 'ti']],
    ['Wi-Fi', 'wi fi', ['wifi']],
    ['AB-123/45', 'ab 123 45', ['ab 12345', '12345']],
    ["L'Oréal", 'l oreal', ['loreal']],
    ['1.5l', '1 5l', ['1 5', '1 5 l', '5 l']],
    ['1,5', '1 5', []],
    ['16/512', '16 512', []],
    ['2019-2021', '2019 2021', ['20192021']],
    ['手机', '手 机', []],
    ['a-b-c-d-e-f-g', 'a b c d e f g', []],
  ] as const) {
    assert.equal(wordsOf(text).join(' '), words, text);
    const spelt = runsOf(text).flatMap(spellingsOf);
    assert.deepEqual(
      spelt.map((each) => each.words),
      spellings,
      text,
    );
    for (const { phrase } of spelt) assert.equal(phrase, words, text);
  }
});

it('pieces that stand together are written apart and as one, numbers never as one', () => {
  assert.deepEqual(writingsOf(['rtx', '4060']), ['rtx4060', 'rtx 4060']);
  assert.deepEqual(writingsOf(['128', 'гб']), ['128гб', '128gb', '128 гб', '128 gb']);
  assert.deepEqual(writingsOf(['1', '5']), ['1 5']);
  assert.deepEqual(writingsOf('a1b2c3d4'.match(/[a-z]|\d/g) ?? []), ['a1b2c3d4']);
});
