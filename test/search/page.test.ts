import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SearchError } from '../../src/resilience/search-error.ts';
import { withoutSuppressed } from '../../src/search/page.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { idle } from '../fakes/idle.ts';
import { EMPTY_PAGE, harness, held, pageOf } from './harness.ts';

const PAGE = { ...pageOf('диван'), total: 40, results: [...pageOf('диван').results, ...pageOf('кресло').results] };

test('a suppressed document is left out of a page and of its total', () => {
  const shown = withoutSuppressed(PAGE, (id) => id === 'диван');
  assert.deepEqual([shown.results.map(({ id }) => id), shown.total], [['кресло'], 39]);
});

test('a page without suppressed documents is returned unchanged', () => {
  assert.equal(withoutSuppressed(PAGE, undefined), PAGE);
  assert.equal(
    withoutSuppressed(PAGE, () => false),
    PAGE,
  );
  assert.equal(
    withoutSuppressed(EMPTY_PAGE, () => true),
    EMPTY_PAGE,
  );
});

test('a new entry has no suppressed document, neither in its body nor in its fingerprints', async (t) => {
  const { search, prepare, engine } = harness(t, { rules: { ...unflushed, hides: () => (id) => id === 'диван' } });
  engine.answer = async () => PAGE;
  const { entry } = await search.search(prepare('мебель'));
  assert.equal(entry.fingerprints.length, 1);
  const { total, results } = JSON.parse(entry.body.toString());
  assert.deepEqual([total, results.length, results[0].id], [39, 1, 'кресло']);
});

test('a page is as old as the start of the engine call, by both clocks', async (t) => {
  const { search, engine, clock, prepare } = harness(t);
  const [wallMs, monotonicMs] = [clock.wallMs(), clock.monotonicMs()];
  engine.answer = async (text) => {
    clock.advance(300);
    return pageOf(text);
  };
  const { entry, remainingMs } = await search.search(prepare('диван'));
  assert.deepEqual([entry.createdAtMs, entry.bornMs], [wallMs, monotonicMs]);
  assert.equal(entry.encoded.readUIntBE(12, 6), wallMs);
  assert.deepEqual([entry.costMs, remainingMs], [300, 99_700]);
});

test('the wait for a permit counts neither as age nor as cost of a page', async (t) => {
  const { search, engine, clock, prepare } = harness(t, { maxConcurrent: 1 });
  const release = held({ engine });
  const holder = search.search(prepare('занято'));
  const waiting = search.search(prepare('диван'));
  await idle();
  clock.advance(100);
  engine.answer = async (text) => pageOf(text);
  release();
  await holder;
  const { entry } = await waiting;
  assert.deepEqual([entry.bornMs, entry.createdAtMs], [clock.monotonicMs(), clock.wallMs()]);
  assert.equal(entry.costMs, 0);
});

test('a wall clock stepped during the engine call changes no age', async (t) => {
  const { search, engine, clock, prepare } = harness(t);
  engine.answer = async (text) => {
    clock.advance(10);
    clock.stepWall(-60_000);
    return pageOf(text);
  };
  assert.equal((await search.search(prepare('диван'))).remainingMs, 99_990);
});

test('a reply is late after the engine’s deadline and not at it, whether a page or an error', async (t) => {
  const { search, engine, clock, prepare, events } = harness(t, { deadlineMs: 400 });
  const cases = [
    [399, false],
    [400, false],
    [401, true],
  ] as const;
  for (const [durationMs, late] of cases) {
    for (const fails of [false, true]) {
      events.length = 0;
      engine.answer = async (text) => {
        clock.advance(durationMs);
        if (fails) throw new SearchError('engine-rejected', 'syntax');
        return pageOf(text);
      };
      await search.search(prepare(`${durationMs} ${fails}`)).catch(() => undefined);
      const said = events.flatMap((event) => (event.kind === 'engine' ? [[event.late, event.durationMs]] : []));
      assert.deepEqual(said, [[late, durationMs]]);
    }
  }
});
