import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RunningSearchd, SPHINX } from '../../../loadtest/stack/sphinx.ts';
import { demoDocuments } from '../../../src/catalogue/demo.ts';
import type { Document, SearchDomain, SearchRequest } from '../../../src/search/domain.ts';
import type { Engine, ResultPage } from '../../../src/search/engine.ts';
import { ask } from '../../contract/engine-truth.ts';
import { corpora, evenly } from '../../corpus.ts';
import { LIMIT_MS } from '../../until.ts';
import { matching, type Reading, readAll, wordsIn } from '../read-all.ts';
import { openSphinx } from './harness.ts';

/** Enough documents that one word has more matches than searchd keeps, and that a search for it can be interrupted. */
const FEWEST_DOCUMENTS = 20_000;
const MAX_MATCHES = 1000;

const PACKAGES: SearchDomain = {
  name: 'packages',
  attributes: [
    { name: 'section', type: 'string', facet: true, sort: true },
    { name: 'installedKiB', type: 'integer', facet: false, sort: true },
  ],
  context: [],
  answerProfile: '',
};

/** A word of many documents, with its forms. The second is from the demo catalogue: a machine may have no apt lists. */
const COMMON = [
  ['library', 'library', 'libraries'],
  ['состояние', 'состояни(?:[еяию]|ем|й|ям|ями|ях)'],
] as const;

for (const corpus of corpora('packages')) {
  describe(`${corpus.name}, built by one command`, () => {
    let searchd: RunningSearchd;
    let engine: Engine;
    let remove: () => Promise<void>;
    let packages: readonly Document[];
    let documents: readonly Document[];
    let reading: Reading;

    before(async () => {
      packages = await corpus.documents();
      // All packages of the machine are built once, some 60,000, to show that this many are possible.
      if (corpus.file !== undefined) packages = evenly(packages, FEWEST_DOCUMENTS);
      documents = toppedUp(packages);
      reading = readAll(documents);
      const opened = await openSphinx({
        server: SPHINX,
        domains: [{ domain: PACKAGES, index: 'packages', documents }],
      });
      ({ searchd, remove } = opened);
      engine = opened.engine({ domain: PACKAGES, index: 'packages', maxMatches: MAX_MATCHES });
    });
    after(async () => {
      await engine?.close();
      await searchd?.stop();
      await remove?.();
    });

    const search = (text: string, rest: Partial<SearchRequest> = {}): Promise<ResultPage> =>
      engine.search(ask(text, { domain: 'packages', ...rest }), AbortSignal.timeout(LIMIT_MS));

    it('are all there', () => {
      assert.ok(documents.length >= FEWEST_DOCUMENTS);
      assert.deepEqual(searchd.source?.domains, [{ domain: 'packages', documents: documents.length, rounded: {} }]);
    });

    it('are found by the rare words of their titles', async () => {
      const told = evenly(packages, 300).flatMap((document) => {
        const text = aboutOf(document, reading);
        return text === undefined ? [] : [{ document, text }];
      });
      assert.ok(told.length > 20, `only ${told.length} packages have words of their own`);
      for (const { document, text } of told) {
        const page = await search(text, { limit: 100 });
        const found = page.results.find(({ id }) => id === document.id);
        assert.ok(found !== undefined, `${document.id} is not found by ${text}`);
        assert.equal(found.title, document.title);
        assert.match(found.snippet, /<em>/);
      }
    });

    it('are counted and ordered', async () => {
      const [word, holding] = common(documents);
      const sections = mostFrequent(holding.map(sectionOf)).slice(0, 2);
      const expected = holding.filter((document) => sections.some(([section]) => section === sectionOf(document)));
      const page = await search(word, {
        facets: ['section'],
        sort: { by: 'attribute', attribute: 'installedKiB', descending: true },
        filters: [{ kind: 'strings', attribute: 'section', values: sections.map(([section]) => section) }],
      });
      assert.equal(page.total, expected.length);
      assert.ok(page.total > MAX_MATCHES, `${word}: ${page.total}`);
      assert.deepEqual(
        page.facets['section'],
        sections.map(([value, count]) => ({ value, count })),
      );
      const sizes = expected.map(({ attributes }) => Number(attributes['installedKiB'] ?? 0));
      assert.deepEqual(
        page.results.map(({ attributes }) => attributes['installedKiB']),
        sizes.sort((a, b) => b - a).slice(0, 20),
      );
    });

    it('aborts of heavy searches do not affect other searches', async () => {
      const [heavy, holding] = common(documents);
      const light = evenly(packages, 300).flatMap((document) => aboutOf(document, reading) ?? [])[0] ?? '';
      const expected = (await search(light)).total;
      assert.ok(expected > 0, light);
      let aborted = 0;
      for (let round = 0; round < 20; round += 1) {
        const given = engine
          .search(
            ask(heavy, { domain: 'packages', limit: 100, facets: ['section'] }),
            AbortSignal.timeout(1 + Math.floor(round / 2)),
          )
          .then(
            ({ total }) => total,
            (error) => error.reason,
          );
        assert.equal((await search(light)).total, expected);
        const outcome = await given;
        if (outcome === 'engine-timeout') aborted += 1;
        else assert.equal(outcome, holding.length);
        assert.equal((await search(light)).total, expected);
      }
      assert.ok(aborted > 0, 'no search was aborted');
    });
  });
}

/** Ads of the demo catalogue fill up for missing packages. */
function toppedUp(packages: readonly Document[]): readonly Document[] {
  const ads = [...demoDocuments('goods')].slice(0, Math.max(0, FEWEST_DOCUMENTS - packages.length));
  return [
    ...packages,
    ...ads.map(({ attributes: { category = '', price = 0 }, ...text }) => ({
      ...text,
      attributes: { section: category, installedKiB: price },
    })),
  ];
}

/** Rare words of the title that the description has as well: only a few documents have them all. */
function aboutOf(document: Document, { words, holdingAll }: Reading): string | undefined {
  const described = new Set(wordsIn(document.description));
  // searchd does not fold letters of other languages: ö is not o.
  const typed = document.title.toLowerCase();
  const own = [...new Set(wordsIn(document.title))]
    .filter((word) => described.has(word) && typed.includes(word) && /^(?:[a-z]{3,}|[а-я]{3,})$/.test(word))
    .sort((a, b) => (words.get(a)?.length ?? 0) - (words.get(b)?.length ?? 0))
    .slice(0, 3);
  return own.length > 0 && holdingAll(own).length <= 20 ? own.join(' ') : undefined;
}

function common(documents: readonly Document[]): readonly [word: string, holding: readonly Document[]] {
  for (const [word, ...forms] of COMMON) {
    const holding = matching(documents, ...forms);
    if (holding.length > 2 * MAX_MATCHES) return [word, holding];
  }
  throw new Error(`no word stands in more than ${2 * MAX_MATCHES} of these documents: ${JSON.stringify(COMMON)}`);
}

const sectionOf = ({ attributes }: Document): string => String(attributes['section']);

/** By falling count, then by value. */
function mostFrequent(values: readonly string[]): readonly (readonly [value: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1));
}
