import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSigning } from '../../src/cache/signing.ts';
import { encodeChange } from '../../src/changes/record.ts';
import { DOMAIN, followerHarness, idsOf, onlyKinds, record } from './harness.ts';

test('the first process begins the stream, and the pages from before it are unknown', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower, judged, events } = start();
  assert.equal(follower.hasSynced(), false);
  await time.pass(10);
  assert.equal(follower.hasSynced(), true);
  assert.equal(stream.held().length, 1);
  assert.equal(judged('1', 1000), 'unknown');
  assert.equal(judged('1', follower.readTo()), undefined);
  assert.deepEqual(onlyKinds(events), []);
});

test('a process that starts reads the history, and judges pages that are younger than it', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const first = start();
  await time.pass(1000);
  const early = first.follower.readTo();
  for (let at = 0; at < 200; at += 1) await first.follower.append({ bytes: record(`${at}`) });
  await first.follower.poll();
  const second = start();
  await time.pass(10);
  assert.equal(second.follower.status().changes, 200);
  assert.equal(second.judged('150', early), 'changed');
  assert.equal(second.judged('other', early), undefined);
  assert.equal(second.judged('150', second.follower.readTo()), undefined);
  stream.trim(1);
  const third = start();
  await time.pass(10);
  assert.equal(third.judged('other', early), 'unknown');
});

test('a page that another process computed before a gap, further on in the feed, counts as changed', async (t) => {
  const { time, start } = followerHarness(t);
  const { follower, judged, gaps } = start();
  await time.pass(1000);
  const before = follower.readTo();
  follower.lose('index');
  await time.pass(1000);
  assert.deepEqual(gaps(), ['index']);
  assert.equal(judged('1', before + 1), 'unknown');
  assert.equal(judged('1', follower.readTo()), undefined);
});

test('a change is in force in every process after its next read, and its lag is by the clock of the stream', async (t) => {
  const { time, start } = followerHarness(t);
  const [one, other] = [start(), start()];
  await time.pass(500);
  const before = other.follower.readTo();
  await one.follower.append({ bytes: record('7') });
  await one.follower.poll();
  assert.equal(one.judged('7', before), 'changed');
  await time.until('the other process to read', () => other.follower.status().changes === 1);
  assert.equal(other.judged('7', before), 'changed');
  const [applied] = other.events.filter(({ kind }) => kind === 'changes-applied');
  const lagMs = applied?.kind === 'changes-applied' ? applied.lagMs : undefined;
  // In virtual time: the longest interval between two reads.
  assert.ok(lagMs !== undefined && lagMs > 0 && lagMs <= 300 * 1.1, JSON.stringify(applied));
});

test('the history that a process reads when it starts has no lag', async (t) => {
  const { time, start } = followerHarness(t);
  const first = start();
  await time.pass(10);
  await first.follower.append({ bytes: record('1') });
  await time.pass(60_000);
  const { follower, events } = start();
  await time.pass(10);
  await follower.append({ bytes: record('2') });
  await follower.poll();
  const lags = events.flatMap((event) => (event.kind === 'changes-applied' ? [event.lagMs] : []));
  assert.deepEqual([lags, follower.status().changes], [[undefined, 0], 2]);
});

test('lost batches are one gap, and pages from before the first batch that is there are unknown', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const reader = start();
  const writer = start();
  await time.pass(1000);
  reader.follower.close();
  const late = start();
  await time.pass(10);
  await writer.follower.append({ bytes: record('1') });
  await time.pass(20);
  const between = writer.follower.readTo();
  await writer.follower.append({ bytes: record('2') });
  stream.trim(1);
  await late.follower.poll();
  assert.deepEqual(late.gaps(), ['trimmed']);
  assert.equal(late.judged('1', between), 'unknown', 'the change of 1 is lost, and the page may be older than it');
  assert.equal(late.judged('other', late.follower.readTo()), undefined);
  await late.follower.poll();
  assert.deepEqual(late.gaps(), ['trimmed']);
});

test('a stream that was deleted and begun anew is a gap, with fewer batches, as many or more', async (t) => {
  for (const count of [1, 3, 5]) {
    await t.test(`${count} batches`, async (t) => {
      const { time, stream, start } = followerHarness(t);
      const { follower, gaps, judged } = start();
      await time.pass(10);
      for (const id of ['1', '2']) await follower.append({ bytes: record(id) });
      await follower.poll();
      const before = follower.readTo();
      stream.lose();
      await time.pass(5);
      for (let at = 0; at < count; at += 1) stream.plant(record('new'));
      await follower.poll();
      assert.equal(gaps().length, 1);
      assert.equal(judged('other', before), 'unknown');
      assert.equal(follower.status().changes, 2 + count);
      await time.pass(1000);
      assert.equal(gaps().length, 1);
    });
  }
});

test('a deleted stream is begun anew by its readers', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower, gaps } = start();
  await time.pass(10);
  await follower.append({ bytes: record('1') });
  await follower.poll();
  stream.lose();
  await time.pass(500);
  assert.deepEqual([stream.held().length, gaps()], [1, ['replaced']]);
});

test('a server that took over with earlier ids under the same numbers is a gap', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower, gaps } = start();
  await time.pass(10);
  await follower.append({ bytes: record('1') });
  await follower.poll();
  const held = [...stream.held()];
  stream.lose();
  time.stepWall(-60_000);
  for (const _ of [...held, 'one more']) stream.plant(record('2'));
  await follower.poll();
  assert.deepEqual(gaps(), ['replaced']);
  assert.equal(follower.status().changes, 4);
});

test('a server that took over with as many batches, some of earlier ids, has all of them read: a deletion is not missed', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower, gaps, judged } = start();
  await time.pass(1000);
  const before = follower.readTo();
  for (const id of ['1', '2']) await follower.append({ bytes: record(id) });
  await follower.poll();
  stream.lose();
  time.stepWall(-100);
  for (const id of ['3', '4']) stream.plant(encodeChange({ id, op: 'delete' }, DOMAIN));
  time.stepWall(200);
  stream.plant(record('5'));
  await follower.poll();
  assert.equal(stream.held().length, 3);
  assert.deepEqual([judged('3', before), judged('4', before), gaps()], ['deleted', 'deleted', ['replaced']]);
});

test('a stream that is absent again as soon as it is begun ends the read', async (t) => {
  const { time, stream, start } = followerHarness(t);
  let reads = 0;
  const read = async () => {
    reads += 1;
    if (reads > 50) return { kind: 'fault', fault: 'store-down' } as const;
    return { kind: 'batches', nowMs: time.wallMs(), last: undefined, batches: [] } as const;
  };
  const { follower } = start({ stream: { ...stream, read } });
  await time.pass(10);
  assert.deepEqual([reads, stream.appends(), follower.hasSynced()], [2, 2, false]);
});

test('a batch that cannot be read is a gap, and the next one is applied', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower, gaps, judged } = start();
  await time.pass(10);
  const before = follower.readTo();
  const whole = record('1');
  for (const bytes of [Buffer.from('nonsense'), whole.subarray(0, -1), Buffer.concat([whole, Buffer.from([1])])]) {
    stream.plant(bytes);
  }
  stream.plant(record('2'));
  await follower.poll();
  assert.deepEqual(gaps(), ['corrupt', 'corrupt', 'corrupt']);
  assert.equal(judged('other', before), 'unknown');
  assert.equal(judged('other', follower.readTo()), undefined);
  assert.equal(follower.status().changes, 1);
});

test('with a key, batches of other writers are refused and named, and those of processes are applied', async (t) => {
  const signing = createSigning({ key: 'x'.repeat(32), required: true }, 'goods');
  const { time, stream, start } = followerHarness(t, { signing });
  const [one, other] = [start(), start()];
  await time.pass(10);
  stream.plant(record('1'));
  await one.follower.append({ bytes: record('2') });
  await Promise.all([one.follower.poll(), other.follower.poll()]);
  for (const { follower, events } of [one, other]) {
    assert.equal(follower.status().changes, 1);
    const refused = events.filter(({ kind }) => kind === 'changes-refused');
    assert.equal(refused.length, 1);
  }
});

test('a poll is a read that begins after its call, and callers at once share it', async (t) => {
  const { time, stream, start } = followerHarness(t);
  const { follower } = start();
  await time.pass(10);
  const held = Promise.withResolvers<void>();
  stream.hold(() => held.promise);
  const early = follower.poll();
  await time.pass(20);
  const before = stream.reads();
  // The read that runs has its answer already.
  await follower.append({ bytes: record('1') });
  const polls = [follower.poll(), follower.poll(), follower.poll()];
  stream.hold(async () => {});
  held.resolve();
  assert.equal(await early, true);
  assert.deepEqual(await Promise.all(polls), [true, true, true]);
  assert.equal(follower.status().changes, 1);
  assert.equal(stream.reads() - before, 1);
});

test('a page from within the lag of the engine is judged again when it is over, once', async (t) => {
  const { time, start } = followerHarness(t, { engineLagMs: 2000 });
  const { follower, log } = start();
  await time.pass(10);
  await follower.append({ bytes: record('1') });
  await follower.poll();
  await time.pass(1000);
  const [within, position] = [log.head(), follower.readTo()];
  assert.equal(log.judge(idsOf('1'), within), undefined);
  await time.pass(1500);
  assert.equal(log.judge(idsOf('1'), within)?.kind, 'changed');
  assert.equal(log.judge(idsOf('1'), log.numberAt(position))?.kind, 'changed');
  const [after, later] = [log.head(), follower.readTo()];
  await time.pass(10_000);
  assert.equal(log.judge(idsOf('1'), after), undefined);
  assert.equal(log.judge(idsOf('1'), log.numberAt(later)), undefined);
  assert.equal(follower.status().changes, 1, 'a change counts once');
});

test('a page of the very moment at which the lag ends is judged again: it may be from before the change', async (t) => {
  const { time, start } = followerHarness(t, { engineLagMs: 2000 });
  const { follower, log } = start();
  await time.pass(10);
  await follower.append({ bytes: record('1') });
  const changedAt = time.wallMs();
  await follower.poll();
  await time.pass(2000);
  assert.equal(time.wallMs() - changedAt, 2000);
  await follower.append({ bytes: record('2') });
  await follower.poll();
  const at = log.head();
  await time.pass(1000);
  assert.equal(log.judge(idsOf('1'), at)?.kind, 'changed');
});

test('a flood within the lag becomes gaps that come while it lasts', async (t) => {
  const { time, start } = followerHarness(t, { engineLagMs: 3000 });
  const { follower, gaps } = start();
  await time.pass(10);
  // Few records, and large ones: the attributes of a deletion are not looked at.
  const names = Array.from({ length: 60 }, (_, at) => `price-${at}`);
  const prices = Array.from({ length: 64 }, (_, at) => at);
  const attributes = names.map((name) => ({ name, type: 'integer', facet: false, sort: false }) as const);
  const change = {
    id: '1',
    op: 'delete',
    attributes: Object.fromEntries(names.map((name) => [name, prices])),
  } as const;
  const large = encodeChange(change, { ...DOMAIN, attributes });
  const batch = Buffer.concat(Array.from({ length: 26 }, () => large));
  assert.ok(batch.length > 800_000);
  // 0.8 MB every 100 ms: more than 16 MiB within the lag, for three times the lag.
  for (let at = 0; at < 90; at += 1) {
    await follower.append({ bytes: batch });
    await time.pass(100);
  }
  const during = gaps().length;
  assert.ok(during > 0, 'no gap came before the end of the flood');
  await time.pass(4000);
  assert.ok(gaps().length > during);
  assert.ok(gaps().every((why) => why === 'lag'));
  const all = gaps().length;
  await follower.append({ bytes: record('x') });
  await time.pass(4000);
  assert.equal(gaps().length, all, 'a change after the flood waits for its lag alone');
});
