import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalDocumentText, canonicalText, explainCanonicalText } from '../../src/search/canonical.ts';

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

test('marks beyond thirty in a row mean nothing, in whatever order they come', () => {
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

test('a text of a request has a length, and a text of a document none', () => {
  assert.throws(() => canonicalText('a'.repeat(513)), /at most 512/);
  assert.equal(canonicalDocumentText('A'.repeat(10_000)), 'a'.repeat(10_000));
});
