import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unflushed } from '../../src/cache/invalidation.ts';
import { createTiers } from '../../src/cache/tiers.ts';
import { prepareSearch } from '../../src/search/key.ts';
import { type Compute, type Computed, type ComputeTask, createErrand, createMissPath } from '../../src/search/load.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf, LONG_LIVED } from '../fakes/entry.ts';

test('somebody more urgent ends the turn, so that a new one is taken; his like only lets it wait longer', () => {
  const errand = createErrand('refresh', 100);
  const first = errand.turn();
  errand.press('refresh', 150);
  assert.equal(first.aborted, false);
  assert.equal(errand.deadlineAtMs(), 150);
  assert.equal(errand.renewed(), true);
  errand.press('interactive', 120);
  assert.equal(first.aborted, true);
  assert.deepEqual([errand.priority(), errand.deadlineAtMs()], ['interactive', 150]);
  assert.equal(errand.turn().aborted, false);
  assert.equal(errand.renewed(), false);
});

test('an errand that was left has no further turn', () => {
  const errand = createErrand('interactive', 100);
  errand.leave();
  assert.equal(errand.left(), true);
  assert.equal(errand.turn().aborted, true);
});

test('a person who joins a refresh makes it a search of people, with a turn of its own', async () => {
  const clock = createFakeClock();
  const tiers = createTiers({
    domain: 'goods',
    memory: createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 }),
    storeDeadlineMs: 50,
    maxEntryBytes: 1 << 16,
    lifetimes: LONG_LIVED,
    rules: unflushed,
    clock,
    observe: () => undefined,
  });
  const domain = { name: 'goods', attributes: [], context: [], answerProfile: 'p' };
  const tasks: ComputeTask[] = [];
  const page = Promise.withResolvers<Computed>();
  const compute: Compute = (_, task) => {
    tasks.push(task);
    task.errand.turn();
    return page.promise;
  };
  const missPath = createMissPath({ tiers, compute, coalesce: true });
  const prepared = prepareSearch({ pairs: [['q', 'shoes']] }, [domain]);
  const refresh = missPath.flyBehind(prepared, {
    priority: 'refresh',
    deadlineAtMs: 100,
    askStore: false,
    newerThanMs: 0,
  });
  assert.equal(missPath.isUp(prepared.key), true);
  const person = missPath.fly(prepared, undefined, 900);
  assert.deepEqual([refresh.leads, person.leads, tasks.length], [true, false, 1]);
  const errand = tasks[0]?.errand;
  assert.deepEqual([errand?.priority(), errand?.deadlineAtMs(), errand?.renewed()], ['interactive', 900, true]);
  page.resolve({ entry: entryOf(clock), from: 'engine', stored: { l1: true, l2: false } });
  assert.equal((await person.result).entry, (await refresh.result).entry);
  assert.equal(missPath.isUp(prepared.key), false);
});
