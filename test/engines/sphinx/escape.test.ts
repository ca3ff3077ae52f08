import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { matchText, quote, relaxedMatchText, snippetQuery } from '../../../src/engines/sphinx/statement.ts';

describe('text for MATCH', () => {
  for (const [text, match] of [
    ['кроссовки', 'кроссовки'],
    ['a|b !c "d" (e) @f ~3 ^=g$ <<h', 'a\\|b \\!c \\"d\\" \\(e\\) \\@f \\~3 \\^ g\\$ \\<\\<h'],
    ['-кабель кабель- кабель.', 'кабель кабель кабель'],
    ['c++ c# f#. at&t wi-fi asp.net', 'c++ c# f# at\\&t wi\\-fi asp.net'],
    ['MAYBE NEAR/3 SENTENCE ZONE:h1', 'maybe near\\/3 sentence zone:h1'],
    ['кабел* *аб* ?абель каб%ль', 'кабел аб абель каб ль'],
    ['nul\0 bell\u0007 line\u2028', 'nul bell line'],
    ['back\\slash', 'back\\\\slash'],
    ['l=r =exact', 'l r exact'],
  ] as const) {
    it(`of ${JSON.stringify(text)} is ${match}`, () => assert.equal(matchText(text)?.match, match));
  }

  it('does not exist without a letter or a digit: an empty MATCH would scan everything', () => {
    for (const text of ['', ' ', '*', '!!!', '- - -', '😀', '...', '_', '\u0301', '&']) {
      assert.equal(matchText(text), undefined, text);
      assert.equal(relaxedMatchText(text), undefined, text);
    }
  });

  it('relaxed separates what may be blended, and is nothing where nothing is', () => {
    assert.equal(relaxedMatchText('кабель-мышь c++ at&t')?.match, 'кабель мышь c at t');
    assert.equal(relaxedMatchText('кабель мышь'), undefined);
    assert.equal(relaxedMatchText('-кабель-'), undefined);
  });

  it('keeps no operator bare, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const match = matchText(text)?.match ?? '';
        assert.doesNotMatch(match.replace(/\\[^\p{L}\p{N}\s]/gu, ''), /[\\()|\-!@~"&/^$=<*?%\0]/);
        assert.equal(match, match.toLowerCase());
      }),
    );
  });
});

it('SNIPPET gets plain words for Sphinx, and for Manticore a query that any one of them matches', () => {
  const text = matchText('17" wi-fi b/g');
  assert.ok(text);
  assert.equal(snippetQuery(text, 'sphinx'), '17" wi-fi b/g');
  assert.equal(snippetQuery(text, 'manticore'), '"17\\" wi\\-fi b\\/g"/1');
});

it('a string literal ends where it should, whatever is in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const literal = quote(text);
      assert.match(literal, /^'(?:[^'\\\0]|\\['\\])*'$/);
    }),
  );
});
