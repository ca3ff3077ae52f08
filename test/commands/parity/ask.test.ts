import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AskOptions, askBoth } from '../../../src/commands/parity/ask.ts';
import type { Query } from '../../../src/commands/parity/queries.ts';
import { figuresOf } from '../../../src/commands/parity/report.ts';
import { SearchError } from '../../../src/resilience/search-error.ts';
import type { Engine, ResultPage } from '../../../src/search/engine.ts';
import { prepareSearch } from '../../../src/search/key.ts';
import { createFakeClock } from '../../fakes/clock.ts';

const DOMAIN = { name: 'goods', attributes: [], context: [], answerProfile: 'test' };

const query = (text: string, weight = 1): Query => ({
  prepared: prepareSearch({ pairs: [['q', text]] }, [DOMAIN]),
  weight,
});
const queries = (count: number): readonly Query[] => Array.from({ length: count }, (_, at) => query(`q${at}`));

const page = (ids: string, rest: Partial<ResultPage> = {}): ResultPage => ({
  total: ids.length,
  totalRelation: 'eq',
  results: [...ids].map((id, at) => ({ id, title: `title ${id}`, snippet: '', score: -at, attributes: {} })),
  facets: {},
  ...rest,
});

/** An engine that answers with the given function; only `search` is used. */
const engineOf = (search: Engine['search']): Engine => ({
  search,
  probe: async () => undefined,
  close: async () => undefined,
  abortEndsWork: true,
});

describe('asking two engines', () => {
  const clock = createFakeClock();
  const ask = (
    list: readonly Query[],
    engine: Engine['search'],
    lifeboat: Engine['search'],
    rest: Partial<AskOptions> = {},
  ) =>
    askBoth(list, {
      engine: { name: 'engine', engine: engineOf(engine), deadlineMs: 100, hardDeadlineMs: 1000 },
      lifeboat: { name: 'lifeboat', engine: engineOf(lifeboat), deadlineMs: 50, hardDeadlineMs: 1000 },
      depth: 10,
      atOnce: 1,
      isIndexed: () => true,
      clock,
      signal: new AbortController().signal,
      onSample: () => undefined,
      ...rest,
    });

  it('sends both the same request, and never more concurrent searches than allowed', async () => {
    for (const atOnce of [1, 2]) {
      let working = 0;
      let most = 0;
      const seen: string[] = [];
      const search: Engine['search'] = async ({ text }) => {
        working += 1;
        most = Math.max(most, working);
        seen.push(text);
        await new Promise((resolve) => setImmediate(resolve));
        working -= 1;
        return page('ab');
      };
      const { samples } = await ask(queries(20), search, search, { atOnce });
      assert.equal(most, atOnce);
      assert.equal(samples.length, 20);
      assert.deepEqual(
        seen.toSorted(),
        [...queries(20), ...queries(20)].map((each) => each.prepared.request.text).sort(),
      );
    }
  });

  it('a query that one engine did not answer is counted apart and lowers no mean', async () => {
    const faulty: Engine['search'] = async ({ text }) => {
      if (text === 'q1') throw new SearchError('engine-rejected', 'no such index');
      if (text === 'q2') return page('ab', { partial: 'an agent is dead' });
      return page('ab');
    };
    const { samples, gaveUp } = await ask(queries(4), faulty, async () => page('ab'));
    const figures = figuresOf(samples);
    assert.equal(gaveUp, undefined);
    assert.deepEqual([figures.compared, figures.overlap.mean], [2, 1]);
    assert.deepEqual([figures.engine.answered, figures.lifeboat.answered], [2, 4]);
    assert.deepEqual(figures.engine.faults, {
      'engine-rejected': { count: 1, message: 'no such index' },
      partial: { count: 1, message: 'an agent is dead' },
    });
  });

  it('an engine that fails five times in a row gets no more queries', async () => {
    let asked = 0;
    const down: Engine['search'] = async () => {
      asked += 1;
      throw new SearchError('engine-unavailable', 'connection refused');
    };
    const { samples, gaveUp } = await ask(queries(50), async () => page('a'), down);
    assert.equal(asked, 5);
    assert.equal(samples.length, 5);
    assert.match(gaveUp ?? '', /the lifeboat failed 5 times in a row \(connection refused\)/);
  });

  it('failures between answers, and refusals of a query, do not end the comparison', async () => {
    let asked = 0;
    const shaky: Engine['search'] = async () => {
      asked += 1;
      if (asked % 5 !== 0) throw new SearchError('engine-timeout', 'late');
      return page('a');
    };
    assert.equal((await ask(queries(30), shaky, async () => page('a'))).gaveUp, undefined);
    const refusing: Engine['search'] = () => Promise.reject(new SearchError('engine-rejected', 'syntax'));
    assert.equal((await ask(queries(30), refusing, async () => page('a'))).samples.length, 30);
  });

  it('a reply after an engine’s own deadline is compared, and counted as late', async () => {
    const slow: Engine['search'] = async () => {
      clock.advance(80);
      return page('a');
    };
    const figures = figuresOf((await ask(queries(3), slow, slow)).samples);
    assert.deepEqual([figures.engine.late, figures.lifeboat.late, figures.compared], [0, 3, 3]);
    assert.deepEqual([figures.engine.p50Ms, figures.engine.p99Ms], [80, 80]);
  });

  it('a search that never ends is aborted at its hard deadline', async () => {
    const hanging: Engine['search'] = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new SearchError('engine-timeout', 'aborted')));
      });
    const side = { name: 'engine', engine: engineOf(hanging), deadlineMs: 1, hardDeadlineMs: 5 } as const;
    const { samples } = await ask(queries(2), hanging, async () => page('a'), { engine: side });
    assert.deepEqual(figuresOf(samples).engine.faults['engine-timeout'], { count: 2, message: 'aborted' });
  });

  it('stops in the middle of a search when it is aborted', async () => {
    const stop = new AbortController();
    const hanging: Engine['search'] = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new SearchError('engine-timeout', 'aborted')));
        setImmediate(() => stop.abort(new Error('stopped by SIGINT')));
      });
    await assert.rejects(ask(queries(2), hanging, hanging, { signal: stop.signal }), /stopped by SIGINT/);
  });

  it('distinguishes results that the lifeboat ranks differently from those that its index lacks', async () => {
    const isIndexed = (id: string): boolean => id !== 'd';
    const { samples } = await ask(
      queries(1),
      async () => page('abcd'),
      async () => page('ax'),
      { isIndexed },
    );
    assert.deepEqual(figuresOf(samples).results, { engine: 4, missing: 3, notIndexed: 1 });
  });
});
