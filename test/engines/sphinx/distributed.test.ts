import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { type RunningSearchd, startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { createSphinxEngine, type SphinxEvent } from '../../../src/engines/sphinx/engine.ts';
import { writeSphinxSource } from '../../../src/engines/sphinx/source.ts';
import type { Filter, SearchRequest, Sort } from '../../../src/search/domain.ts';
import type { Engine, ResultPage } from '../../../src/search/engine.ts';
import { CONTRACT_DOCUMENTS, CONTRACT_DOMAIN } from '../../contract/engine.ts';
import { COMMON } from '../../contract/engine-documents.ts';
import { ask, counted, matching } from '../../contract/engine-truth.ts';
import { LIMIT_MS } from '../../until.ts';
import { eachServer, engineDefaults, temporaryDirectory } from './harness.ts';

const HALVES = ['even', 'odd'] as const;
const half = (parity: number) => CONTRACT_DOCUMENTS.filter((_, at) => at % 2 === parity);

eachServer((name, server) => {
  describe(`a distributed index of ${name}`, () => {
    let directory: string;
    let searchd: RunningSearchd;
    const engines: Engine[] = [];

    before(async () => {
      directory = await temporaryDirectory();
      const [port = 0, agentPort = 0, deadPort = 0] = await freePorts(3);
      const { configFile } = await writeSphinxSource({
        directory,
        domains: HALVES.map((index, parity) => ({ domain: CONTRACT_DOMAIN, index, documents: half(parity) })),
        searchd: { dialect: server.dialect, host: '127.0.0.1', port, maxConnections: 32 },
      });
      const distributed = (name: string, ...parts: string[]): string =>
        [`index ${name}`, '{', 'type = distributed', `agent_connect_timeout = ${LIMIT_MS}`, ...parts, '}', ''].join(
          '\n',
        );
      const generated = await readFile(configFile, 'utf8');
      await writeFile(
        configFile,
        [
          // This searchd is its own agent. A distributed index must come after its local indexes.
          generated.replace('searchd\n{', `searchd\n{\n  listen = 127.0.0.1:${agentPort}`),
          distributed('whole', 'local = even', `agent = 127.0.0.1:${agentPort}:odd`),
          distributed('crippled', 'local = even', `agent = 127.0.0.1:${deadPort}:odd`),
          distributed('dead', `agent = 127.0.0.1:${deadPort}:even`, `agent = 127.0.0.1:${deadPort}:odd`),
        ].join('\n'),
      );
      searchd = await startSearchd({ directory, from: { configFile, port }, server });
    });
    after(async () => {
      for (const engine of engines) await engine.close();
      await searchd?.stop();
      await rm(directory, { recursive: true, force: true });
    });

    function open(index: string): {
      search: (text: string) => Promise<ResultPage>;
      ask: (request: SearchRequest) => Promise<ResultPage>;
      retries: () => string[];
    } {
      const events: SphinxEvent[] = [];
      const engine = createSphinxEngine({
        ...engineDefaults(searchd.port, server),
        domain: CONTRACT_DOMAIN,
        index,
        observe: (event) => events.push(event),
      });
      engines.push(engine);
      return {
        search: (text) => engine.search(ask(text, { facets: ['city'] }), AbortSignal.timeout(LIMIT_MS)),
        ask: (request) => engine.search(request, AbortSignal.timeout(LIMIT_MS)),
        retries: () => events.flatMap((event) => (event.kind === 'retry' ? [event.result] : [])),
      };
    }

    it('gives whole pages while all agents are up, with facets and folded text', async () => {
      const { search, retries } = open('whole');
      const page = await search(COMMON);
      assert.equal(page.total, matching(COMMON).length);
      assert.equal(page.partial, undefined);
      assert.deepEqual(page.facets['city'], counted(matching(COMMON), 'city'));
      assert.deepEqual(retries(), []);
    });

    it('folds, computes and sorts over agents like over a local index', async () => {
      const { ask: askIt } = open('whole');
      const filters: readonly Filter[] = [
        { kind: 'strings', attribute: 'city', values: ['орел', 'москва'] },
        { kind: 'numbers', attribute: 'rooms', values: [0, 1, 2] },
        { kind: 'range', attribute: 'price', from: 100.5, to: 9000 },
      ];
      const sort: Sort = { by: 'attribute', attribute: 'posted', descending: true };
      const page = await askIt(ask(COMMON, { filters, sort, facets: ['city', 'rooms', 'posted'], limit: 100 }));
      const expected = matching(COMMON, filters);
      assert.ok(expected.length > 5);
      assert.equal(page.partial, undefined);
      assert.equal(page.total, expected.length);
      for (const facet of ['city', 'rooms', 'posted']) assert.deepEqual(page.facets[facet], counted(expected, facet));
      const prices: readonly Filter[] = [{ kind: 'numbers', attribute: 'price', values: [79.19, 158.38] }];
      const priced = await askIt(ask(COMMON, { filters: prices, sort, facets: ['city'] }));
      assert.equal(priced.total, matching(COMMON, prices).length);
      assert.deepEqual(priced.facets['city'], counted(matching(COMMON, prices), 'city'));
      for (const { name: attribute, type, multiple } of CONTRACT_DOMAIN.attributes) {
        if (multiple === true) continue;
        for (const descending of [false, true]) {
          const sorted = await askIt(ask('чайник', { sort: { by: 'attribute', attribute, descending }, limit: 100 }));
          assert.equal(sorted.partial, undefined, attribute);
          assert.equal(sorted.total, matching('чайник').length, attribute);
          const values = sorted.results.map(({ attributes }) => attributes[attribute]);
          const held = values.filter((value) => value !== undefined);
          assert.deepEqual(values.slice(0, held.length), held, `${attribute}: missing ones come last`);
          if (type === 'string') continue;
          const inOrder = held.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
          assert.deepEqual(held, descending ? inOrder.toReversed() : inOrder, attribute);
        }
      }
    });

    it('filters and counts lists over agents like over a local index', async () => {
      const { ask: askIt } = open('whole');
      const lists = ['days', 'sizes', 'years'];
      const selections: readonly (readonly Filter[])[] = [
        [],
        [{ kind: 'strings', attribute: 'sizes', values: [`6" & 1'`, 'one, size', 'елка'] }],
        [{ kind: 'numbers', attribute: 'years', values: [-7, 1995, 5_000_000_000] }],
        [{ kind: 'range', attribute: 'years', from: 1994, to: 1996 }],
        [
          { kind: 'range', attribute: 'days', from: -3, to: -1 },
          { kind: 'numbers', attribute: 'rooms', values: [1, 2] },
          { kind: 'strings', attribute: 'sizes', values: ['xl'] },
        ],
      ];
      for (const filters of selections) {
        const page = await askIt(ask(COMMON, { filters, facets: lists, limit: 100 }));
        const expected = matching(COMMON, filters);
        assert.ok(expected.length > 5);
        assert.equal(page.partial, undefined);
        assert.equal(page.total, expected.length);
        for (const list of lists) assert.deepEqual(page.facets[list], counted(expected, list), list);
        for (const { id, attributes } of page.results) {
          const { sizes, years } = expected.find((document) => document.id === id)?.attributes ?? {};
          assert.deepEqual([attributes['sizes'], attributes['years']], [sizes, years], id);
        }
      }
    });

    it('gives a partial page after one more attempt when an agent is dead', async () => {
      const { search, retries } = open('crippled');
      const page = await search(COMMON);
      const all = matching(COMMON);
      const there = half(0).filter((document) => all.includes(document));
      assert.equal(page.total, there.length);
      assert.match(page.partial ?? '', /agent 127\.0\.0\.1:\d+: /);
      assert.deepEqual(retries(), ['partial']);
    });

    it('is unavailable after one more attempt when all agents are dead, although searchd reports a parse error', async () => {
      const { search, retries } = open('dead');
      await assert.rejects(search(COMMON), { name: 'SearchError', reason: 'engine-unavailable', message: /agent/ });
      assert.deepEqual(retries(), ['failed']);
    });

    it('tries again only as often as the retry budget allows', async () => {
      const { search, retries } = open('crippled');
      for (let asked = 0; asked < 30; asked += 1) assert.notEqual((await search('гитара')).partial, undefined);
      const tried = retries().filter((result) => result === 'partial').length;
      assert.ok(tried >= 10 && tried <= 13, `${tried} retries`);
      assert.equal(retries().filter((result) => result === 'spent').length, 30 - tried);
    });
  });
});
