import assert from 'node:assert/strict';
import { it } from 'node:test';
import { canonicalText } from '../../src/search/canonical.ts';
import type { SearchRequest } from '../../src/search/domain.ts';
import type { ResultPage } from '../../src/search/engine.ts';
import { runConcurrently } from '../../src/search/read-path.ts';
import {
  COLOURS,
  COMMON,
  CONTRACT_DOCUMENTS,
  EMOJI_TITLE,
  FORGERIES,
  HARD_TITLES,
  NOUNS,
  SCRIPT,
  SPELLINGS,
} from './engine-documents.ts';
import { ask, fold, matching, type Searching, words } from './engine-truth.ts';
import { nastyTexts } from './nasty.ts';

/** Words, highlights, and hostile texts. @param hostileShare of these, for an engine whose queries another suite parses with all */
export function textContract(search: Searching, hostileShare: number): void {
  it('finds words in any case, with ё or е in the document', async () => {
    for (const noun of NOUNS) {
      assert.equal((await search(ask(fold(noun)))).total, matching(noun).length, noun);
    }
  });

  it('requires all words, in any order and in any part of the document', async () => {
    for (const both of ['кроссовки красный', 'елка зеленый', 'bicycle purple', 'гитара white']) {
      const words = both.split(' ');
      const expected = matching(both).length;
      assert.ok(expected > 0 && expected < matching(words[0] ?? '').length);
      const { total, results } = await search(ask(both));
      assert.equal(total, expected);
      for (const { snippet } of results) assert.match(snippet, /<em>/, both);
      assert.equal((await search(ask(words.toReversed().join(' ')))).total, expected);
    }
    assert.equal((await search(ask('кроссовки велосипед'))).total, 0);
    assert.equal((await search(ask('гитара щщъъыы'))).total, 0);
  });

  it('finds a word by its other spellings', async () => {
    const wrong: string[] = [];
    for (const [index, [title, by, not]] of SPELLINGS.entries()) {
      const finds = async (text: string): Promise<boolean> => {
        const { results } = await search(ask(canonicalText(text)));
        if (results.some(({ snippet }) => !/<em>/.test(snippet))) wrong.push(`${text}: nothing is marked`);
        return results.map(({ id }) => id).join() === `spelling-${index}`;
      };
      for (const text of by.split(' | ')) if (!(await finds(text))) wrong.push(`${text} does not find ${title} alone`);
      for (const text of not?.split(' | ') ?? []) if (await finds(text)) wrong.push(`${text} finds ${title}`);
    }
    assert.deepEqual(wrong, []);
  });

  it('finds a document by the words of a searched attribute and by its id, and by no other attribute', async () => {
    for (const [text, id] of [
      ['zubrovex', 'emoji'],
      ['самокат zubrovex werke', 'emoji'],
      ['zubrovexwerke', 'emoji'],
      ['icecat-12', 'icecat-12'],
      ['Größe-Ab1', 'Größe-Ab1'],
      ['18446744073709551615', '18446744073709551615'],
    ] as const) {
      const { results, total } = await search(ask(text));
      assert.deepEqual([total, results[0]?.id], [1, id], text);
    }
    assert.equal((await search(ask('nokia зоопарк'))).total, 0);
    const filters = [{ kind: 'strings', attribute: 'maker', values: ['zubrovex-werke'] }] as const;
    assert.equal((await search(ask('icecat-12', { filters }))).total, 0);
    assert.equal((await search(ask('zubrovex', { filters }))).total, 1);
  });

  it('punctuation around words does not change the result', async () => {
    const expected = matching('гитара').length;
    for (const text of [
      '"гитара"',
      '(гитара',
      'гитара!',
      '- гитара',
      'гитара 😀',
      '«гитара»',
      '@ гитара',
      '/гитара/',
    ]) {
      assert.equal((await search(ask(text))).total, expected, text);
    }
  });

  it('punctuation between words separates them like a space', async () => {
    const expected = matching('кроссовки красный').length;
    for (const mark of '!"$%&\'()*+,-./:;<=>?@[\\]^_`{|}~#«»„“”‘’—–…№§°') {
      for (const gap of [mark, mark + mark, ` ${mark}`, `${mark} `]) {
        assert.equal((await search(ask(`кроссовки${gap}красный`))).total, expected, JSON.stringify(gap));
      }
    }
  });

  it('finds a document by any title, returns the whole title, and marks its words', async () => {
    for (const { id, title, description } of HARD_TITLES) {
      const { results } = await search(ask(firstWords(title), { limit: 100 }));
      const found = results.find((result) => result.id === id);
      assert.equal(found?.title, title);
      if (description === title) assert.match(found.snippet, /<em>/, title);
    }
  });

  it('marks each word where it occurs, also when no part of the document has all words', async () => {
    for (const { id, title } of HARD_TITLES.filter(({ title, description }) => description !== title)) {
      const { results } = await search(ask(`${firstWords(title)} ${id}`, { limit: 100 }));
      const found = results.find((result) => result.id === id);
      assert.equal(found?.title, title);
      assert.match(found.snippet, new RegExp(`<em>[^<]*${id}\\b`), title);
    }
  });

  it('a text without any word finds nothing and is not an error', async () => {
    const signs = ['!!!', '😀', '- - -', '*', '""', '()', '\\', '%', '_ _', '…', '👩‍👩‍👧', '🇷🇺', '\u0301', '\u200f'];
    const sort = { by: 'attribute', attribute: 'price', descending: true } as const;
    for (const text of signs) {
      const page = await search(ask(text, { facets: ['city'], sort }));
      assert.deepEqual([page.total, page.results, page.facets], [0, [], { city: [] }], text);
    }
  });

  it('returns characters of four bytes unchanged', async () => {
    const page = await search(ask('самокат'));
    assert.equal(page.results[0]?.title, EMOJI_TITLE);
    assert.match(page.results[0]?.snippet ?? '', /😀/u);
    assert.equal(page.results[0]?.attributes['brand'], 'Ёж');
    for (const { title, snippet } of (await search(ask(COMMON, { limit: 100 }))).results) {
      assert.ok(title.isWellFormed() && snippet.isWellFormed() && !`${title}${snippet}`.includes('\ufffd'), title);
    }
  });

  it('marks the found words of the snippet, and only those, when highlighting is on', async () => {
    for (const colour of COLOURS) {
      const asked = fold(colour);
      for (const { snippet } of (await search(ask(asked, { limit: 10 }))).results) {
        const marked = [...snippet.matchAll(/<em>(.*?)<\/em>/g)].map((match) => fold(match[1] ?? ''));
        assert.ok(marked.length > 0 && marked.every((text) => text.includes(asked)), snippet);
      }
      for (const { snippet } of (await search(ask(asked, { limit: 10, highlight: false }))).results) {
        assert.doesNotMatch(snippet, /<\/?em/);
      }
    }
  });

  it('markup in a document stays text', async () => {
    for (const highlight of [true, false]) {
      const page = await search(ask('фонарик', { highlight }));
      assertSafe(page);
      const snippet = page.results[0]?.snippet.replace(/<\/?em>/g, '') ?? '';
      assert.ok(!snippet.includes(SCRIPT) && snippet.includes('&lt;script&gt;'), snippet);
      assert.ok(!/<em>обман/.test(page.results[0]?.snippet ?? ''), snippet);
      for (const { snippet: escaped } of (await search(ask(COMMON, { highlight, limit: 5 }))).results) {
        assert.ok(!escaped.includes('<b>') && escaped.includes('&lt;b&gt;') && escaped.includes('&amp;'), escaped);
      }
    }
  });

  it('no character of a document can imitate a highlight', async () => {
    const page = await search(ask('истинный'));
    assertSafe(page);
    const snippet = page.results[0]?.snippet ?? '';
    assert.ok(FORGERIES.length > 0 && /подделка/.test(snippet), snippet);
    assert.doesNotMatch(snippet, /<em>(?:(?!<\/em>).)*подделка/s);
  });

  it('no hostile text is an engine error', async () => {
    const failures: string[] = [];
    const every = nastyTexts();
    assert.equal(every.length, 1700);
    const texts = every.filter((_, index) => Math.floor(index * hostileShare) < Math.floor((index + 1) * hostileShare));
    // Canonical text, and the text as typed, with its case, which an adapter must take as well. Every second one is highlighted.
    const requests = texts.flatMap((typed, index) => {
      return [...new Set([typed.toLowerCase(), typed])].map((text) =>
        ask(text, { highlight: index % 2 === 0, limit: 5 }),
      );
    });
    const look = async ({ text, highlight, ...rest }: SearchRequest): Promise<void> => {
      try {
        const page = await search({ text, highlight, ...rest });
        assertSafe(page);
        assert.ok(Number.isSafeInteger(page.total) && page.total >= page.results.length);
        const wanted = words(text);
        for (const { id, title, snippet } of page.results) {
          assert.equal(title, TITLES.get(id));
          const shown = new Set(words(snippet.replace(/<\/?em>/g, '')));
          const isMarked = highlight && wanted.some((word) => shown.has(word));
          assert.ok(snippet.includes('<em>') || !isMarked, snippet);
        }
      } catch (error) {
        failures.push(`${JSON.stringify(text)}: ${String(error)}`);
      }
    };
    await runConcurrently(
      requests.map((request) => () => look(request)),
      AT_ONCE,
    );
    assert.deepEqual(failures.slice(0, 10), [], `${failures.length} of ${requests.length} failed`);
  });
}

/** Searches of one test that are sent at once. */
const AT_ONCE = 6;
const TITLES = new Map(CONTRACT_DOCUMENTS.map(({ id, title }) => [id, title]));

/** Text as an engine gets it: folded, and shorter than the maximum. */
function firstWords(title: string): string {
  return fold(title).split(' ').slice(0, 12).join(' ');
}

/** `<em>` is balanced, not nested, and the only markup; every ampersand begins an entity. */
function assertSafe(page: ResultPage): void {
  for (const { snippet } of page.results) {
    const rest = snippet.replace(/<em>[^<>]+<\/em>/g, '');
    assert.doesNotMatch(rest, /[<>]/, snippet);
    assert.doesNotMatch(snippet, /&(?!(?:amp|lt|gt|quot|#39|#x27|apos);)/, snippet);
    assert.doesNotMatch(snippet.replace(/<\/?em>/g, ''), /["']/, snippet);
  }
}
