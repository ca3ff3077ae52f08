import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { createGunzip } from 'node:zlib';
import type { RunningSearchd } from '../../../loadtest/stack/sphinx.ts';
import type { Document } from '../../../src/search/document.ts';
import type { SearchDomain } from '../../../src/search/domain.ts';
import type { Engine } from '../../../src/search/engine.ts';
import type { ResultPage } from '../../../src/search/page.ts';
import type { SearchRequest } from '../../../src/search/request.ts';
import { ask } from '../../contract/engine-truth.ts';
import { openSphinx } from './open.ts';

const CORPUS = new URL('../../../../shared/data/packages.ndjson.gz', import.meta.url);
const DOCUMENTS = 63_436;
const PATIENCE_MS = 30_000;

const PACKAGES: SearchDomain = {
  name: 'packages',
  attributes: [
    { name: 'section', type: 'string', facet: true, sort: true },
    { name: 'installedKiB', type: 'integer', facet: false, sort: true },
  ],
  context: [],
  answerProfile: '',
};

describe('63 thousand documents, built by one command', () => {
  let searchd: RunningSearchd;
  let engine: Engine;
  let remove: () => Promise<void>;

  before(async () => {
    await access(CORPUS).catch(() => {
      throw new Error('the corpus ../shared/data/packages.ndjson.gz, beside the project, is missing');
    });
    const opened = await openSphinx({ domains: [{ domain: PACKAGES, index: 'packages', documents: corpus() }] });
    ({ searchd, remove } = opened);
    engine = opened.engine({ domain: PACKAGES, index: 'packages' });
  });
  after(async () => {
    await engine?.close();
    await searchd?.stop();
    await remove?.();
  });

  const search = (text: string, rest: Partial<SearchRequest> = {}): Promise<ResultPage> =>
    engine.search(ask(text, { domain: 'packages', ...rest }), AbortSignal.timeout(PATIENCE_MS));

  it('are all there', () => {
    assert.deepEqual(searchd.source?.domains, [{ domain: 'packages', documents: DOCUMENTS, rounded: {} }]);
  });

  it('are found by what they are about', async () => {
    const strategy = await search('real-time strategy game');
    assert.ok(strategy.results.some(({ id }) => id === '0ad'));
    assert.match(strategy.results[0]?.snippet ?? '', /<em>/);
    const redis = await search('redis server', { limit: 100 });
    assert.ok(redis.results.some(({ id }) => id === 'redis-server'));
  });

  it('are counted and ordered', async () => {
    const page = await search('library', {
      facets: ['section'],
      sort: { by: 'attribute', attribute: 'installedKiB', descending: true },
      filters: [{ kind: 'strings', attribute: 'section', values: ['libs', 'libdevel'] }],
    });
    assert.ok(page.total > 1000);
    assert.deepEqual(page.facets['section']?.map(({ value }) => value).sort(), ['libdevel', 'libs']);
    assert.equal(
      page.facets['section']?.reduce((sum, { count }) => sum + count, 0),
      page.total,
    );
    const sizes = page.results.map(({ attributes }) => Number(attributes['installedKiB']));
    assert.deepEqual(
      sizes,
      sizes.toSorted((a, b) => b - a),
    );
  });

  it('an abort in the midst of heavy searches touches no search beside them', async () => {
    const heavy = 'the a of and to in is for with this';
    const expected = (await search('redis')).total;
    for (let round = 0; round < 20; round += 1) {
      const given = engine
        .search(
          {
            domain: 'packages',
            text: heavy,
            page: 1,
            limit: 100,
            sort: { by: 'relevance' },
            filters: [],
            facets: ['section'],
            highlight: true,
            context: [],
          },
          AbortSignal.timeout(1 + round),
        )
        .catch((error) => error.code);
      assert.equal((await search('redis')).total, expected);
      const outcome = await given;
      assert.ok(outcome === 'engine-timeout' || outcome.total > 0, String(outcome));
      assert.equal((await search('redis')).total, expected);
    }
  });
});

async function* corpus(): AsyncGenerator<Document> {
  const lines = createInterface({ input: createReadStream(CORPUS).pipe(createGunzip()) });
  for await (const line of lines) {
    const { id, title, description, section, installedKiB } = JSON.parse(line);
    yield { id, title, description, attributes: { section, installedKiB } };
  }
}
