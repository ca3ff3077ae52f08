import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint } from '../../src/cache/codec.ts';
import type { ChangeEvent, ChangeStream, StreamRead } from '../../src/changes/feed.ts';
import { createFollower, PER_MS } from '../../src/changes/follower.ts';
import { createChangeLog } from '../../src/changes/log.ts';
import { encodeChange } from '../../src/changes/record.ts';
import { systemClock } from '../../src/runtime.ts';

const START_MS = 1_800_000_000_000;
const change = (id: string): Buffer =>
  encodeChange({ id, op: 'upsert' }, { name: 'goods', attributes: [], context: [], answerProfile: '' });

/** A stream whose clock and entries the test sets. */
function following({ engineLagMs = 0 } = {}) {
  let nowMs = START_MS;
  let monotonicMs = 0;
  let entries: { readonly id: string; readonly number: number; readonly bytes: Buffer }[] = [];
  const events: ChangeEvent[] = [];
  const stream: ChangeStream = {
    append: async () => ({ kind: 'conflict' }),
    read: async (_domain, after): Promise<StreamRead> => {
      const newest = entries.at(-1);
      const isAfter = (id: string): boolean =>
        after === undefined || Number(id.split('-')[0]) > Number(after.split('-')[0]);
      const batches = entries.filter(({ id }) => isAfter(id));
      return { kind: 'batches', nowMs, last: newest && { ...newest, source: '' }, batches };
    },
  };
  const log = createChangeLog({ maxBytes: 2 ** 20 });
  const clock = { ...systemClock, monotonicMs: () => monotonicMs };
  const observe = (event: ChangeEvent): void => void events.push(event);
  const options = { domain: 'goods', stream, shared: true, log, engineLagMs, clock, random: () => 0.5, observe };
  const follower = createFollower(options);
  const add = (number: number, id = `id ${number}`): void =>
    void entries.push({ id: `${nowMs}-0`, number, bytes: change(id) });
  return {
    log,
    follower,
    add,
    /** Passes on the clock of the stream and on that of the process. */
    pass: (streamMs: number, ownMs = streamMs): void => {
      nowMs += streamMs;
      monotonicMs += ownMs;
    },
    empty: (): void => {
      entries = [];
    },
    gaps: () => events.flatMap((event) => (event.kind === 'changes-gap' ? [event.why] : [])),
    /** Whether a page of the store that has this position counts as changed. */
    isChanged: (position: number, ids: string[] = []): boolean =>
      log.judge(ids.map(fingerprint), log.numberAt(position)) !== undefined,
  };
}

test('a page of another process that was computed before the end of a gap counts as changed', async (t) => {
  const { follower, add, pass, empty, gaps, isChanged } = following();
  t.after(follower.close);
  add(1);
  await follower.poll();
  const before = follower.readTo();
  pass(100);
  empty();
  add(1);
  pass(10);
  await follower.poll();
  assert.deepEqual(gaps(), ['replaced']);
  assert.ok(isChanged(before), 'as far as this process had read');
  assert.ok(isChanged(before + 50 * PER_MS), 'further');
  assert.ok(!isChanged(follower.readTo()));
  follower.lose('index');
  const atGap = follower.readTo();
  pass(100);
  await follower.poll();
  assert.ok(isChanged(atGap + 1));
  assert.ok(!isChanged(follower.readTo()));
});

test('a stream that goes on below the ids that were read has replaced them', async (t) => {
  const { follower, add, pass, empty, gaps, isChanged } = following();
  t.after(follower.close);
  for (const number of [1, 2]) add(number);
  await follower.poll();
  const before = follower.readTo();
  pass(-50);
  empty();
  add(3, 'other');
  await follower.poll();
  assert.deepEqual(gaps(), ['replaced']);
  pass(100);
  await follower.poll();
  assert.ok(isChanged(before));
  assert.equal(follower.status().changes, 3);
});

test('a clock of the stream that is set back makes older pages stale, and hides no later change', async (t) => {
  const { follower, add, pass, gaps, isChanged } = following();
  t.after(follower.close);
  add(1);
  pass(3_600_000);
  await follower.poll();
  pass(-3_590_000, 100);
  await follower.poll();
  assert.deepEqual(gaps(), ['replaced']);
  assert.ok(isChanged(START_MS * PER_MS));
  const born = follower.readTo();
  assert.ok(!isChanged(born, ['id 2']));
  pass(10);
  add(2);
  await follower.poll();
  assert.ok(isChanged(born, ['id 2']));
});

test('changes within the lag of the engine count once more at its end, whatever the clock of the stream does', async (t) => {
  const { follower, add, pass, isChanged } = following({ engineLagMs: 1000 });
  t.after(follower.close);
  await follower.poll();
  add(1);
  pass(10);
  await follower.poll();
  for (const [streamMs, ownMs] of [
    [0, 500],
    [5000, 450],
  ] as const) {
    pass(streamMs, ownMs);
    await follower.poll();
    assert.ok(!isChanged(follower.readTo(), ['id 1']), `after ${ownMs} ms`);
  }
  const within = follower.readTo();
  pass(100);
  await follower.poll();
  assert.ok(isChanged(within, ['id 1']));
});
