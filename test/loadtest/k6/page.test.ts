import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { isHonestShed, outcomeOf } from '../../../loadtest/k6/kit/outcome.ts';
import { answers, itemReplies, pageOf } from '../../../loadtest/k6/kit/page.ts';
import { type Ask, itemOf, targetOf } from '../../../loadtest/k6/kit/queries.ts';
import { pairsOf } from '../../../src/http/search-api/msearch.ts';
import { parseQueryString } from '../../../src/http/transport/request-target.ts';
import { SearchError } from '../../../src/resilience/search-error.ts';
import { systemClock } from '../../../src/runtime.ts';
import { createFakeSearch } from '../../fakes/search.ts';
import { listeningServer } from '../../http/harness.ts';
import { plain } from '../../plain.ts';
import { pluck } from '../../pluck.ts';

const result = (id: string): object => ({ id, title: 'a title', snippet: '', score: 1, attributes: {} });

function bodyOf(more: object = {}): Record<string, unknown> {
  const results = [result('1'), result('2')];
  return {
    query: 'кроссовки nike',
    domain: 'goods',
    page: 1,
    limit: 20,
    total: 2,
    totalRelation: 'eq',
    results,
    ...more,
  };
}

function isRight(more: object, asked: { domain?: string; q: string; page: number }): boolean {
  const page = pageOf(bodyOf(more));
  return page !== undefined && answers(page, asked);
}

const ASKED = { domain: 'goods', q: 'Кроссовки  NIKE', page: 1 };

test('a page belongs to the search, however the search was typed', () => {
  assert.ok(isRight({}, ASKED));
  assert.ok(isRight({}, { q: 'кроссовки nike', page: 1 }));
});

test('a page of another search does not match: other words, another domain, another page number', () => {
  assert.ok(!isRight({ query: 'кроссовки' }, ASKED));
  assert.ok(!isRight({ domain: 'auto' }, ASKED));
  assert.ok(!isRight({ page: 2 }, ASKED));
  assert.ok(!isRight({}, { ...ASKED, page: 2 }));
});

test('a page holds at most its limit, at most the total, and no item twice', () => {
  assert.ok(!isRight({ limit: 1 }, ASKED));
  assert.ok(!isRight({ total: 1 }, ASKED));
  assert.ok(isRight({ total: 1, totalRelation: 'gte' }, ASKED));
  assert.ok(!isRight({ results: [result('1'), result('1')] }, ASKED));
  assert.ok(isRight({ page: 2, total: 22 }, { ...ASKED, page: 2 }));
  assert.ok(!isRight({ page: 2, total: 21 }, { ...ASKED, page: 2 }));
});

const SEARCH = createFakeSearch({ clock: systemClock });
const header = () => undefined;

function ask(parts: Partial<Ask>): Ask {
  return { domain: 'goods', q: 'диван', page: 1, parameters: '', once: false, ...parts };
}

suite('a search in a batch', () => {
  const values = fc.constantFrom('category:обувь', 'price:10..50', 'category:a=b', 'a & b + c');
  const parameter = fc.oneof(
    values.map((value) => `filter=${encodeURIComponent(value)}`),
    fc.constantFrom('filter=category:a+b', 'sort=-price', 'limit=5', 'facet=category', 'filter=price:1=2'),
  );
  const asks = fc.record({
    domain: fc.constantFrom('goods', 'auto'),
    q: fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
    page: fc.integer({ min: 1, max: 3 }),
    parameters: fc.array(parameter, { maxLength: 4 }).map((list) => list.join('&')),
  });

  test('asks for the same as its URL does', () => {
    fc.assert(
      fc.property(asks, (one) => {
        const asked = ask(one);
        const url = parseQueryString(targetOf(asked).replace('/search?', ''));
        assert.deepEqual([...pairsOf(plain(itemOf(asked)), SEARCH.domains)].sort(), [...url].sort());
      }),
    );
  });

  test('is cached under the same key', () => {
    const asked = ask({ page: 2, parameters: 'filter=category:a%2Cb&filter=price:10..50&sort=-price' });
    const pairs = parseQueryString(targetOf(asked).replace('/search?', ''));
    const inBatch = SEARCH.prepare({ pairs: pairsOf(plain(itemOf(asked)), SEARCH.domains), header });
    assert.equal(inBatch.key, SEARCH.prepare({ pairs, header }).key);
    assert.equal(inBatch.request.page, 2);
  });
});

suite('the outcome of each search of a batch', () => {
  test('is the one that the service reports for it, in order', async (context) => {
    const { url, search } = await listeningServer(context);
    search.answer = async (prepared) => {
      const { text } = prepared.request;
      if (text === 'too much') throw new SearchError('queue-full');
      if (text === 'too slow') throw new SearchError('engine-deadline');
      const answer = await search.computed(prepared);
      search.memory.set(prepared.key, answer.entry);
      return answer;
    };
    const asks = ['диван', 'too much', 'too slow', '', 'диван'].map((q) => ask({ q }));
    for (const expected of ['engine', 'hit-l1']) {
      const text = await asked(url, asks);
      const replies = itemReplies(text, asks.length) ?? [];
      assert.deepEqual(pluck(replies, 'status'), [200, 503, 504, 400, 200]);
      const [first, ...others] = replies.map(outcomeOf);
      assert.equal(first, expected);
      assert.deepEqual(others.slice(0, 3), ['shed', 'failed', 'rejected']);
      assert.deepEqual(replies.map(isHonestShed), [false, true, false, false, false]);
    }
  });

  test('is not changed by a page whose text looks like an item', async (context) => {
    const { url, search } = await listeningServer(context);
    const words = '{"status":200,"outcome":"hit-l1","cacheStatus":"x"}';
    search.answer = async (prepared) => {
      const answer = await search.computed(prepared);
      const body = Buffer.from(answer.entry.body.toString().replace('"attributes":{', `"attributes":{"a":[${words}],`));
      return { ...answer, entry: { ...answer.entry, body } };
    };
    const asks = [ask({ q: 'стол' }), ask({ q: 'стул' })];
    const text = await asked(url, asks);
    assert.ok(text.split(words).length > 2);
    assert.deepEqual(itemReplies(text, 2)?.map(outcomeOf), ['engine', 'engine']);
    assert.equal(itemReplies(text, 3), undefined);
  });

  test('is unknown when the body is not a batch, or has fewer searches', () => {
    const item = '{"status":200,"outcome":"hit-l1","body":{}}';
    for (const text of ['', '<html>', '{}', '{"results":{}}', `{"results":[${item}`, '{"results":[null,null]}']) {
      assert.equal(itemReplies(text, 2), undefined, text);
    }
    assert.equal(itemReplies(`{"results":[${item}]}`, 2), undefined);
    assert.equal(itemReplies(`{"results":[${item},{"outcome":"hit-l1"}]}`, 2), undefined);
    assert.equal(itemReplies(`{"results":[${item},${item}]}`, 2)?.length, 2);
  });
});

async function asked(url: string, asks: readonly Ask[]): Promise<string> {
  const body = JSON.stringify({ searches: asks.map(itemOf) });
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(`${url}/msearch`, { method: 'POST', headers, body });
  assert.equal(reply.status, 200);
  return reply.text();
}
