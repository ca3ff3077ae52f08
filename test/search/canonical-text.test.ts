import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  canonicalDocumentText,
  canonicalQuery,
  canonicalText,
  explainCanonicalQuery,
} from '../../src/search/canonical.ts';
import { anyCharacter } from '../any-character.ts';

const anyText = fc.string({ unit: 'grapheme', maxLength: 40 });
const words = fc.string({ unit: fc.constantFrom(...'abcXYZ абвЁёЙ 019&=%,:"'), minLength: 1, maxLength: 30 });

test('canonical text does not change when it is made canonical again, for any input', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (text) => {
      const once = canonicalText(text);
      assert.equal(canonicalText(once), once);
    }),
    { numRuns: 3000 },
  );
});

test('case never matters, in any script', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(canonicalText(text.toUpperCase()), canonicalText(text));
      assert.equal(canonicalText(text.toLowerCase()), canonicalText(text));
    }),
    { numRuns: 2000 },
  );
});

test('signs such as ™ and № are not letters of a word', () => {
  assert.equal(canonicalText('Intel Core™ i5'), 'intel core i5');
  assert.equal(canonicalText('Шанель №5'), 'шанель 5');
});

test('composition, ё and white space never matter', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(canonicalText(text.normalize('NFD')), canonicalText(text));
      assert.equal(canonicalText(text.replaceAll('ё', 'е').replaceAll('Ё', 'Е')), canonicalText(text));
      assert.equal(canonicalText(`  ${text.replaceAll(' ', ' \u00a0 ')} `), canonicalText(text));
    }),
  );
});

test('every kind of white space is a space', () => {
  for (const space of ['\t', '\n', '\r\n', '\v', '\f', '\u0085', '\u00a0', '\u2028', '\u3000'])
    assert.equal(canonicalText(`${space}Red${space}${space}lamp${space}`), 'red lamp', JSON.stringify(space));
});

test('the fast path for plain text gives the result of the rules', () => {
  fc.assert(
    fc.property(words, (text) => {
      const last = explainCanonicalQuery(text).at(-1);
      assert.equal(canonicalQuery(text), last === undefined ? text : last.after);
    }),
  );
});

test('an apostrophe within a word is one sign in a search, whichever sign was typed', () => {
  for (const typed of ['м’ята', 'мʼята', 'м‘ята', 'м´ята', 'М＇ЯТА'])
    assert.equal(canonicalQuery(typed), "м'ята", typed);
  assert.equal(canonicalQuery('‘levi’ 5’'), '‘levi’ 5’');
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'aБñŉ’ʼ´ \u0301') }), (text) => {
      assert.equal(canonicalQuery(canonicalQuery(text)), canonicalQuery(text));
    }),
  );
});

test('marks of direction in copied text are ignored', () => {
  assert.equal(canonicalText('товар\u200f \u202aновый\u202c'), 'товар новый');
});

test('marks beyond thirty in a row are ignored, in any order', () => {
  const marks = fc.array(fc.constantFrom('\u0301', '\u0323', '\u0344', '\u0345', '\u200b', 'e', '\u05b0'), {
    maxLength: 300,
  });
  fc.assert(
    fc.property(marks, (parts) => {
      const once = canonicalText(parts.join(''));
      assert.equal(canonicalText(once), once);
      assert.doesNotMatch(once, /\p{M}{61}/u);
    }),
  );
  assert.equal(canonicalText(`a${'\u0323'.repeat(40)}`), canonicalText(`a${'\u0323'.repeat(400)}`));
});

test('the text of a request has a maximum length, the text of a document has none', () => {
  assert.throws(() => canonicalText('a'.repeat(513)), /at most 512/);
  assert.equal(canonicalDocumentText('A'.repeat(10_000)), 'a'.repeat(10_000));
});
