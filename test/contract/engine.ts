import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineReason, SearchError } from '../../src/resilience/search-error.ts';
import type { Document } from '../../src/search/domain.ts';
import type { Engine } from '../../src/search/engine.ts';
import { pluck } from '../pluck.ts';
import { LIMIT_MS } from '../until.ts';
import { COLOURS, COMMON, NOUNS, updatesOf } from './engine-documents.ts';
import { pagesContract } from './engine-pages.ts';
import { selectionContract } from './engine-selection.ts';
import { textContract } from './engine-text.ts';
import { ask, matching, type Searching } from './engine-truth.ts';

export { CONTRACT_DOCUMENTS, CONTRACT_DOMAIN } from './engine-documents.ts';

/**
 * The promises of every engine adapter. `open` returns an engine over CONTRACT_DOCUMENTS. All words of a text must match;
 * stemming, prefixes, scores and the choice of highlighted words may differ between engines.
 */
export function engineContract(
  name: string,
  open: () => Promise<{ engine: Engine; close(): Promise<void> }>,
  { takesDocuments = false, hostileShare = 1 } = {},
): void {
  describe(`${name} keeps the engine contract`, () => {
    let opened: { engine: Engine; close(): Promise<void> } | undefined;
    const engine = (): Engine => {
      if (opened === undefined) throw new Error('the engine did not open');
      return opened.engine;
    };
    const search: Searching = (request) => engine().search(request, AbortSignal.timeout(LIMIT_MS));

    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());

    pagesContract(search);
    selectionContract(search);
    textContract(search, hostileShare);

    it('answers concurrent searches, each with its own page', async () => {
      const texts = NOUNS.flatMap((noun) => COLOURS.map((colour) => `${noun} ${colour}`.replaceAll('ё', 'е')));
      for (let from = 0; from < texts.length; from += 8) {
        const batch = texts.slice(from, from + 8);
        const pages = await Promise.all(batch.map((text) => search(ask(text))));
        assert.deepEqual(
          pages.map((page) => page.total),
          batch.map((text) => matching(text).length),
        );
      }
    });

    it('gives a search in a trace the same page', async () => {
      const request = ask('гитара', { facets: ['city'] });
      const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
      const traced = await engine().search(request, AbortSignal.timeout(LIMIT_MS), traceparent);
      assert.ok(traced.total > 0 && traced.partial === undefined);
      assert.deepEqual(traced, await search(request));
    });

    it('refuses a search whose signal is aborted already', async () => {
      await refused(engine().search(ask(COMMON), AbortSignal.abort()), 'engine-timeout');
      assert.equal((await search(ask('гитара'))).total, matching('гитара').length);
    });

    it('gives up a search promptly when its signal aborts, and goes on working', async () => {
      for (let round = 0; round < 5; round += 1) {
        const controller = new AbortController();
        const searching = engine().search(ask(COMMON, { limit: 100, facets: ['city'] }), controller.signal);
        controller.abort();
        const settled = await Promise.race([
          refused(searching, 'engine-timeout').then(() => 'settled'),
          sleep(LIMIT_MS, 'hung', { ref: false }),
        ]);
        assert.equal(settled, 'settled');
      }
      assert.equal((await search(ask('гитара'))).total, matching('гитара').length);
    });

    it('an abort at any moment ends in a whole page or a timeout, and does not affect other searches', async () => {
      const outcomes = Array.from({ length: 4 }, async (_, index) => {
        const page = engine().search(ask(COMMON, { facets: ['city'] }), AbortSignal.timeout(1 + 2 * index));
        return page.then(
          ({ total }) => total === matching(COMMON).length,
          (error) => error instanceof SearchError && error.reason === 'engine-timeout',
        );
      });
      const untouched = await search(ask('гитара'));
      assert.deepEqual(await Promise.all(outcomes), [true, true, true, true]);
      assert.equal(untouched.total, matching('гитара').length);
    });

    it('an abort after the reply has no effect', async () => {
      const controller = new AbortController();
      await engine().search(ask('гитара'), controller.signal);
      controller.abort();
      assert.equal((await search(ask('гитара'))).total, matching('гитара').length);
    });

    it('a probe succeeds while the engine can answer, and gives up at its abort', async () => {
      await engine().probe(AbortSignal.timeout(LIMIT_MS));
      await refused(engine().probe(AbortSignal.abort()), 'engine-timeout');
    });

    const isUpdated = takesDocuments ? it : (): void => {};
    isUpdated('shows documents that it took in every later search, and says what they replaced', async () => {
      const { update } = engine();
      assert.ok(update !== undefined);
      const limit = (): AbortSignal => AbortSignal.timeout(LIMIT_MS);
      const request = ask('примус', { facets: ['city'] });
      const document = (id: string, city: string): Document => ({
        id,
        title: `Примус ${id}`,
        description: '',
        attributes: { city },
      });
      const [first, second, moved] = [document('u1', 'Омск'), document('u2', 'Тула'), document('u1', 'Тула')];
      const updates = [...updatesOf([moved], ['u1']), ...updatesOf([first, second], ['nobody'])];
      assert.deepEqual(await update(updates, limit()), [
        { id: 'u1', before: undefined, after: first },
        { id: 'u2', before: undefined, after: second },
        { id: 'nobody', before: undefined, after: undefined },
      ]);
      assert.deepEqual(pluck((await search(request)).results, 'id'), ['u1', 'u2']);
      const bad = { ...first, id: '' };
      const [replaced, refusal] = await update(updatesOf([moved, bad]), limit());
      assert.deepEqual(replaced, { id: 'u1', before: first, after: moved });
      assert.ok(refusal?.fault !== undefined && refusal.after === undefined);
      assert.deepEqual((await search(request)).facets, { city: [{ value: 'Тула', count: 2 }] });
      await refused(update(updatesOf([], ['u1', 'u2']), AbortSignal.abort()), 'engine-timeout');
      assert.equal((await search(request)).total, 2);
      const deleted = await update(updatesOf([], ['u1', 'u2']), limit());
      assert.deepEqual(pluck(deleted, 'before'), [moved, second]);
      assert.equal((await search(request)).total, 0);
    });

    it('is unavailable once closed, and may be closed twice', async () => {
      await engine().close();
      await engine().close();
      await refused(search(ask('гитара')), 'engine-unavailable');
      await refused(engine().probe(AbortSignal.timeout(LIMIT_MS)), 'engine-unavailable');
      const updating = engine().update?.([], AbortSignal.timeout(LIMIT_MS));
      if (updating !== undefined) await refused(updating, 'engine-unavailable');
    });
  });
}

const refused = (promise: Promise<unknown>, reason: EngineReason): Promise<void> =>
  assert.rejects(promise, { name: 'SearchError', reason });
