import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EntryRules, EntryVerdict } from '../../src/cache/invalidation.ts';
import { SearchError } from '../../src/resilience/search-error.ts';
import { idle } from '../fakes/idle.ts';
import { harness, holding, pageOf, transcript } from './harness.ts';

/** A suppression that begins during a search. */
function suppressing(): { readonly rules: EntryRules; begin: () => void } {
  let generation = 1;
  return {
    rules: {
      generation: () => generation,
      judge: (entry) => (entry.generation < generation ? 'suppressed' : 'whole'),
      hides: () => (generation > 1 ? (id) => id === 'диван' : undefined),
    },
    begin: () => {
      generation = 2;
    },
  };
}

const shown = (body: Buffer): number => JSON.parse(body.toString()).results.length;

for (const store of [undefined, false] as const) {
  const where = store === false ? 'in memory' : 'in both tiers';

  test(`a stale page that was suppressed during the engine call is not served when the engine fails (${where})`, async (t) => {
    const { rules, begin } = suppressing();
    const { engine, ask } = await holding(t, 130_000, { rules, deadlineMs: 3000, store });
    const gate = Promise.withResolvers<void>();
    engine.answer = async () => {
      await gate.promise;
      throw new SearchError('engine-unavailable', 'away');
    };
    const asked = ask();
    await idle();
    begin();
    gate.resolve();
    await assert.rejects(asked, { reason: 'engine-unavailable' });
  });
}

test('a page of the lifeboat shows no suppressed document', async (t) => {
  const { rules, begin } = suppressing();
  const lifeboat = {
    abortEndsWork: true,
    search: async () => ({ ...pageOf('диван'), results: [...pageOf('диван').results, ...pageOf('кресло').results] }),
    probe: async () => undefined,
    close: async () => undefined,
  };
  const { search, prepare, engine } = harness(t, { rules, lifeboat });
  engine.answer = async () => Promise.reject(new SearchError('engine-unavailable', 'away'));
  begin();
  const { outcome, entry } = await search.search(prepare('мебель'));
  assert.deepEqual([outcome, shown(entry.body)], ['lifeboat', 1]);
});

/** The feed of changes judges every page that is held at this moment. */
function changing() {
  let verdict: EntryVerdict = 'whole';
  let born = 0;
  const rules: EntryRules = {
    generation: () => 1,
    judge: (entry) => (entry.createdAtMs > born ? 'whole' : verdict),
    hides: () => undefined,
  };
  const become = (next: EntryVerdict, nowMs: number): void => {
    [verdict, born] = [next, nowMs];
  };
  return { rules, become };
}

for (const [verdict, answered] of [
  ['deleted', 'engine · l2 stale stored (deleted) · l1 stale stored'],
  ['changed', 'engine · l2 stale stored (changed) · l1 stale stored'],
] as const) {
  test(`a page that the feed calls ${verdict} is computed again, and the answer says why`, async (t) => {
    const { rules, become } = changing();
    const { ask, clock } = await holding(t, 10, { rules });
    become(verdict, clock.wallMs());
    clock.advance(10);
    assert.equal(transcript(await ask()), answered);
    assert.match(transcript(await ask()), /^hit-l1/);
  });
}

test('when the engine fails a changed page is served, and one with a deleted document never', async (t) => {
  const { rules, become } = changing();
  const { engine, ask, clock } = await holding(t, 10, { rules });
  engine.answer = async () => Promise.reject(new SearchError('engine-unavailable', 'away'));
  become('changed', clock.wallMs());
  assert.equal((await ask()).outcome, 'stale');
  become('deleted', clock.wallMs());
  await assert.rejects(ask(), { reason: 'engine-unavailable' });
});
