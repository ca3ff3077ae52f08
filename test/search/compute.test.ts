import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../src/search/engine.ts';
import { idle } from '../fakes/idle.ts';
import { harness, pageOf } from './harness.ts';

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

test('the wait for a permit is no part of a page’s age or cost', async (t) => {
  const { search, engine, clock, prepare } = harness(t, { maxConcurrent: 1 });
  const busy = Promise.withResolvers<void>();
  engine.answer = async (text) => busy.promise.then(() => pageOf(text));
  const holder = search.search(prepare('занято'));
  const waiting = search.search(prepare('диван'));
  await idle();
  clock.advance(100);
  engine.answer = async (text) => pageOf(text);
  busy.resolve();
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

test('a reply is late past the client’s deadline and not at it, whether a page or an error', async (t) => {
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
        if (fails) throw new EngineError('engine-rejected', 'syntax');
        return pageOf(text);
      };
      await search.search(prepare(`${durationMs} ${fails}`)).catch(() => undefined);
      const said = events.flatMap((event) => (event.kind === 'engine' ? [[event.late, event.durationMs]] : []));
      assert.deepEqual(said, [[late, durationMs]]);
    }
  }
});
