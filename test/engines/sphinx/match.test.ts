import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { spellingsField } from '../../../src/engines/sphinx/source.ts';
import { matchText, relaxedMatchText, snippetQuery } from '../../../src/engines/sphinx/statement.ts';
import { anyCharacter } from '../../any-character.ts';

for (const [text, match] of [
  ['кроссовки', 'кроссовки'],
  ['a|b !c "d" (e) @f ~3 ^=n$ <<h', 'a b c d e f 3 n h'],
  ['-кабель кабель- кабель.', 'кабель кабель кабель'],
  ['c++ c#', 'c++ c#'],
  ['wi-fi at&t', '(wi\\-fi | (wi fi) | wifi) (at\\&t | (at t) | att)'],
  ['rtx4060 128гб', '(rtx4060 | "rtx 4060") (128гб | 128gb | "128 гб" | "128 gb")'],
  ['1,5 л 1.5', '"1 5" (л | l) (1.5 | "1 5")'],
  ['ab-12/3', '((ab 12 3) | ab123 | "ab 123")'],
  ["levi's l'eau", '((levi s) | levis) (eau | leau)'],
  ['æon łódź', '(æon | aeon) łódź'],
  ['华为p40手机 手机', '("华为p40手机" | "华 为 p40 手 机" | "华 为 p 40 手 机") "手机"'],
  ['MAYBE NEAR/3 ZONE:h1', 'maybe ((near 3) | near3 | "near 3") zone (h1 | "h 1")'],
  ['кабел* *аб* ?абель каб%ль', 'кабел аб абель каб ль'],
  ['nul\0 bell\u0007 line\u2028', 'nul bell line'],
] as const) {
  it(`the text for MATCH of ${JSON.stringify(text)} is ${match}`, () => assert.equal(matchText(text)?.match, match));
}

it('there is no text for MATCH without a letter or a digit: an empty one would scan every document', () => {
  for (const text of ['', ' ', '*', '!!!', '- - -', '😀', '...', '_', '\u0301', '&']) {
    assert.equal(matchText(text), undefined, text);
    assert.equal(relaxedMatchText(text), undefined, text);
  }
});

it('relaxed text takes each pair of neighbouring words for one, and is undefined without any', () => {
  assert.equal(relaxedMatchText('wi fi роутер')?.match, '(wifi роутер) | (wi fiроутер)');
  for (const text of ['кабель', 'wi-fi', 'кабель 5', 'a b c d e'])
    assert.equal(relaxedMatchText(text), undefined, text);
});

it('no sign of any text is an operator', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const match = matchText(text)?.match ?? '';
      // Words, escaped signs, and the phrases, groups and alternatives that the analysis makes.
      const bare = match
        .replace(/\\[^\p{L}\p{N}\s]/gu, '')
        .replace(/"[^"()|]*"/g, '')
        .replace(/[()]| \| /g, ' ');
      assert.doesNotMatch(bare, /[\\()|\-!@~"&/^$=<*?%\0]/);
      assert.equal(match, match.toLowerCase());
    }),
  );
});

it('SNIPPET gets plain words for Sphinx, and for Manticore a query that any of the words matches', () => {
  const text = matchText('17" wi-fi b/g');
  assert.ok(text);
  assert.equal(snippetQuery(text, 'sphinx'), '17 wi-fi wifi wi fi b/g bg b g');
  assert.equal(snippetQuery(text, 'manticore'), '"17 wi\\-fi wifi wi fi b\\/g bg b g"/1');
});

it('a document has the spellings of its words that searchd does not make by itself', () => {
  const text = "Wi-Fi RTX4060 128ГБ AB-12/3 women's Ægir ﬁlm";
  assert.equal(spellingsField(text), 'wifi rtx 4060 128 гб ab 123 womens aegir film');
  assert.equal(spellingsField('Łódź café Ёлка кабель 手机 1,5'), '');
});
