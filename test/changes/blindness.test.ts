import assert from 'node:assert/strict';
import { test } from 'node:test';
import { READ_BATCHES } from '../../src/changes/feed.ts';
import { followerHarness, onlyKinds, record } from './harness.ts';

test('a stream that does not answer is told once, and after a second the process knows that it is blind', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower, events } = start();
  await time.pass(500);
  stream.fail('store-down');
  await time.pass(600);
  assert.equal(follower.blindness(), undefined);
  await time.pass(1000);
  assert.deepEqual([follower.blindness(), follower.status().following], ['away', false]);
  assert.equal(await follower.poll(), false);
  stream.fail();
  await time.pass(400);
  assert.deepEqual([follower.blindness(), follower.status().following], [undefined, true]);
  assert.deepEqual(onlyKinds(events), ['changes-away', 'changes-back']);
});

test('a process that was stopped for two seconds knows it, though a read has failed because of that', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower } = start({ random: () => 1 });
  await time.pass(1000);
  const held = Promise.withResolvers<void>();
  stream.hold(() => held.promise);
  await time.pass(400);
  assert.equal(follower.blindness(), undefined);
  time.advance(2000);
  assert.equal(follower.blindness(), 'stopped');
  // The read that was under way has exceeded its deadline meanwhile.
  stream.fail('store-slow');
  held.resolve();
  await time.pass(1);
  assert.equal(follower.blindness(), 'stopped');
  stream.hold(async () => {});
  stream.fail();
  await time.pass(400);
  assert.equal(follower.blindness(), undefined);
});

test('a process that reads for seconds before it is at the end is away; after a stop it counts as stopped as long', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower } = start();
  await time.pass(500);
  stream.hold(() => new Promise((resolve) => setTimeout(resolve, 400)));
  const kindsOf = async (): Promise<Set<string | undefined>> => {
    for (let count = 0; count < 9 * READ_BATCHES; count += 1) await follower.append({ bytes: record('1') });
    const kinds = new Set<string | undefined>();
    for (let ms = 0; ms < 3000; ms += 10) {
      await time.pass(10);
      kinds.add(follower.blindness());
    }
    return kinds;
  };
  assert.deepEqual(await kindsOf(), new Set([undefined, 'away']));
  await time.pass(5000);
  assert.equal(follower.blindness(), undefined);
  time.advance(3000);
  assert.deepEqual(await kindsOf(), new Set(['stopped']));
  await time.pass(5000);
  assert.equal(follower.blindness(), undefined);
});

test('a stream that takes all of the deadline to fail is away, and the process does not count as stopped', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower } = start({ random: () => 1 });
  await time.pass(40_000);
  stream.fail('store-slow');
  stream.hold(() => new Promise((resolve) => setTimeout(resolve, 500)));
  const seen: (string | undefined)[] = [];
  for (let ms = 0; ms < 6000; ms += 10) {
    await time.pass(10);
    const blind = follower.blindness();
    if (blind !== seen.at(-1)) seen.push(blind);
  }
  assert.deepEqual(seen, ['away']);
});

test('a process that has never read its stream is blind too', async (t) => {
  const { time, stream, start } = followerHarness(t);
  stream.fail('store-down');
  const { follower } = start();
  await time.pass(900);
  assert.equal(follower.blindness(), undefined);
  await time.pass(300);
  assert.deepEqual([follower.blindness(), follower.hasSynced()], ['away', false]);
});

test('a stream without changes for half a minute is read three times more rarely', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower } = start();
  const readsIn = async (ms: number): Promise<number> => {
    const before = stream.reads();
    await time.pass(ms);
    return stream.reads() - before;
  };
  await time.pass(10);
  const quiet = await readsIn(3000);
  await follower.append({ bytes: record('1') });
  await follower.poll();
  await time.pass(300);
  const busy = await readsIn(3000);
  await time.pass(30_000);
  assert.ok(quiet <= 11 && busy >= 25, `${quiet} and ${busy}`);
  assert.ok((await readsIn(3000)) <= 11);
});

test('a closed follower reads no more', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower, events } = start();
  await time.pass(10);
  follower.close();
  const before = stream.reads();
  stream.plant(record('1'));
  await time.pass(5000);
  assert.equal(stream.reads(), before);
  assert.equal(await follower.poll(), false);
  assert.deepEqual(onlyKinds(events), []);
});
