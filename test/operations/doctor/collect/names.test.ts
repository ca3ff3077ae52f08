import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNameReader } from '../../../../src/operations/doctor/collect/host.ts';
import { systemClock } from '../../../../src/runtime.ts';
import { createFakeClock } from '../../../fakes/clock.ts';

test('a name of this machine resolves as a connection resolves it, and one that is nowhere tells its problem', async () => {
  const read = createNameReader({ clock: systemClock });
  const [here, nowhere] = await read(['localhost', 'no-such-name.invalid']);
  assert.ok(here !== undefined && nowhere !== undefined);
  assert.ok((here.lookupMs ?? -1) >= 0);
  assert.ok(here.addresses.some((address) => address === '127.0.0.1' || address === '::1'));
  assert.equal(here.problem, undefined);
  assert.deepEqual([nowhere.name, nowhere.lookupMs, nowhere.addresses], ['no-such-name.invalid', undefined, []]);
  assert.match(nowhere.problem ?? '', /^(?:E[A-Z_]+|no answer within \d+ ms)$/);
});

test('the time of a look-up is its own: two run at once, and the others wait unmeasured', async () => {
  const clock = createFakeClock();
  const waiting: (() => void)[] = [];
  const read = createNameReader({
    clock,
    lookup: (name) => new Promise((resolve) => waiting.push(() => resolve([`10.0.0.${name}`]))),
  });
  const reading = read(['1', '2', '3', '4']);
  for (let round = 0; round < 2; round += 1) {
    assert.equal(waiting.length, 2);
    clock.advance(40);
    for (const answer of waiting.splice(0)) answer();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(
    (await reading).map(({ name, lookupMs, addresses }) => [name, lookupMs, addresses]),
    ['1', '2', '3', '4'].map((name) => [name, 40, [`10.0.0.${name}`]]),
  );
});

test('a look-up without an answer is told after its limit, and is not asked again while it runs', async (t) => {
  // The limit keeps no process alive.
  const alive = setInterval(() => undefined, 1000);
  t.after(() => clearInterval(alive));
  let asked = 0;
  let answer = (): void => undefined;
  const read = createNameReader({
    clock: systemClock,
    lookup: () => {
      asked += 1;
      return new Promise((resolve) => {
        answer = () => resolve(['10.0.0.1']);
      });
    },
  });
  assert.deepEqual(await read(['slow']), [{ name: 'slow', addresses: [], problem: 'no answer within 1000 ms' }]);
  const [again] = await read(['slow']);
  assert.deepEqual([again?.problem, asked], ['an earlier look-up has no answer yet', 1]);
  answer();
  await new Promise((resolve) => setImmediate(resolve));
  const reading = read(['slow']);
  answer();
  const [found] = await reading;
  assert.deepEqual([found?.addresses, found?.problem, asked], [['10.0.0.1'], undefined, 2]);
});

test('when the first names take the time of all, the others have no facts instead of a wrong time', async () => {
  const clock = createFakeClock();
  const read = createNameReader({
    clock,
    lookup: async () => {
      await Promise.resolve();
      clock.advance(600);
      return ['10.0.0.1'];
    },
  });
  assert.deepEqual(
    (await read(['a', 'b', 'c', 'd'])).map(({ name }) => name),
    ['a', 'b'],
  );
});

test('at most sixteen names are looked up', async () => {
  const names = Array.from({ length: 20 }, (_, at) => `node-${at}.shop`);
  const read = createNameReader({ clock: createFakeClock(), lookup: async () => [] });
  assert.equal((await read(names)).length, 16);
  assert.deepEqual(await read([]), []);
});
