import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalText, explainCanonicalText } from '../../src/search/canonical-text.ts';

const anyText = fc.string({ unit: 'grapheme', maxLength: 40 });
const words = fc.string({ unit: fc.constantFrom(...'abcXYZ абвЁёЙ 019&=%,:"'), minLength: 1, maxLength: 30 });

test('canonical text is the same when made canonical again, whatever the input', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
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

test('signs written on words are not letters of them', () => {
  assert.equal(canonicalText('Intel Core™ i5'), 'intel core i5');
  assert.equal(canonicalText('Шанель №5'), 'шанель 5');
});

test('neither do composition, ё and white space', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(canonicalText(text.normalize('NFD')), canonicalText(text));
      assert.equal(canonicalText(text.replaceAll('ё', 'е').replaceAll('Ё', 'Е')), canonicalText(text));
      assert.equal(canonicalText(`  ${text.replaceAll(' ', ' \u00a0 ')} `), canonicalText(text));
    }),
  );
});

test('the quick way through plain text gives what the rules give', () => {
  fc.assert(
    fc.property(words, (text) => {
      const last = explainCanonicalText(text).at(-1);
      assert.equal(canonicalText(text), last === undefined ? text : last.after);
    }),
  );
});

test('marks of direction that come along with copied text mean nothing', () => {
  assert.equal(canonicalText('товар\u200f \u202aновый\u202c'), 'товар новый');
});
