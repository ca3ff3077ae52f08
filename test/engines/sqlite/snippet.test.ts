import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Term } from '../../../src/engines/sqlite/expression.ts';
import { snippetOf } from '../../../src/engines/sqlite/snippet.ts';

const terms = (...words: string[]): Term[] => words.map((word) => ({ words: new Set([word]), prefix: undefined }));
const FILLER = 'и ещё много всякого другого текста '.repeat(20);

it('shows the part with the most terms', () => {
  const text = `кот ${FILLER} кот сидит на окне ${FILLER}`;
  const snippet = snippetOf(text, terms('кот', 'окне'), { maxLength: 100, highlight: true });
  assert.match(snippet, /^… .*<em>кот<\/em> сидит на <em>окне<\/em>.* …$/);
});

it('is at most as long as asked for, and ends between words', () => {
  const text = `${FILLER}кот ${FILLER}`;
  for (let maxLength = 10; maxLength < 120; maxLength += 1) {
    const snippet = snippetOf(text, terms('кот'), { maxLength, highlight: true });
    const shown = snippet.replace(/<\/?em>/g, '').replace(/^… | …$/g, '');
    assert.ok(shown.length <= maxLength, snippet);
    assert.ok(` ${text} `.includes(` ${shown} `), snippet);
    assert.match(snippet, /<em>кот<\/em>/);
  }
});

it('never cuts a character in two', () => {
  for (let maxLength = 4; maxLength < 9; maxLength += 1) {
    assert.ok(snippetOf('😀'.repeat(50), [], { maxLength, highlight: true }).isWellFormed());
  }
});

it('without highlighting it is the beginning of the text', () => {
  const snippet = snippetOf(`${FILLER} кот`, terms('кот'), { maxLength: 40, highlight: false });
  assert.equal(snippet, 'и ещё много всякого другого текста и ещё …');
});

it('a text that fits is shown in full, an empty one is empty', () => {
  assert.equal(snippetOf('Кот & пёс', terms('кот'), { maxLength: 50, highlight: true }), '<em>Кот</em> &amp; пёс');
  assert.equal(snippetOf('', terms('кот'), { maxLength: 50, highlight: true }), '');
});

it('marks a word in any spelling that folds to it', () => {
  const text = 'ЁЛКА, е\u0308лка; Café';
  const snippet = snippetOf(text, terms('елка', 'cafe'), { maxLength: 50, highlight: true });
  assert.equal(snippet.match(/<em>/g)?.length, 3);
});

it('marks words that begin with a prefix term', () => {
  const term = { words: new Set<string>(), prefix: 'ноут' };
  const snippet = snippetOf('Ноутбук', [term], { maxLength: 50, highlight: true });
  assert.equal(snippet, '<em>Ноутбук</em>');
});

it('control characters and line breaks become spaces', () => {
  assert.equal(snippetOf('a\u0000\u0001\r\n\tb\u2028c', [], { maxLength: 50, highlight: true }), 'a b c');
});
