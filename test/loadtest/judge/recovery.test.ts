import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent, RunRecord, Second } from '../../../loadtest/judge/record.ts';
import { lossesOf, type Recovery, recoveriesOf } from '../../../loadtest/judge/recovery.ts';
import { runOf } from '../../fakes/load-run.ts';
import { pluck } from '../../pluck.ts';

test('each stage of a drill is its own loss, and the start of the drill is none', () => {
  const record = runOf({ script: 'flush-survival' });
  const losses = lossesOf(record);
  assert.deepEqual(
    pluck(losses, 'fromMs'),
    record.events.flatMap(({ kind, atMs }) => (kind === 'drill-stage' ? [atMs] : [])),
  );
  assert.deepEqual(pluck(losses, 'step'), ['flush', 'flush', 'flush']);
});

test('the deeper the loss, the lower the ratio and the longer the recovery', () => {
  const [first, second, third] = recoveriesOf(runOf({ script: 'flush-survival' }));
  assert.ok(first && second && third);
  assert.ok(first.hitRatioLowest > second.hitRatioLowest && second.hitRatioLowest > third.hitRatioLowest);
  assert.equal(first.recoveredAfterMs, 0, 'a hundredth of the keys is within two points');
  assert.ok((second.recoveredAfterMs ?? 0) > 0 && (third.recoveredAfterMs ?? 0) > (second.recoveredAfterMs ?? 0));
  assert.ok((third.engineCallsPerSecondMost ?? 0) > 3 * (third.engineCallsPerSecondBefore ?? 0));
});

test('a hit ratio that never comes back has no recovery time', () => {
  const last = recoveriesOf(runOf({ script: 'flush-survival', refillSeconds: Number.POSITIVE_INFINITY })).at(-1);
  assert.ok(last);
  assert.equal(last.recoveredAfterMs, undefined);
});

test('recovery is when the ratio stays back, not when it first touches the threshold', () => {
  const ratios = [...flat(0.9, 10), 0.3, 0.5, 0.9, 0.9, 0.9, 0.9, 0.4, 0.7, ...flat(0.9, 30)];
  assert.equal(only(flushed(ratios, 10)).recoveredAfterMs, 9000);
});

test('a dip that begins some seconds after the flush still belongs to it', () => {
  const ratios = [...flat(0.9, 14), 0.3, 0.3, ...flat(0.9, 30)];
  const { recoveredAfterMs, hitRatioLowest } = only(flushed(ratios, 10));
  assert.equal(recoveredAfterMs, 7000);
  assert.ok(hitRatioLowest < 0.6);
});

test('the stages of a drill are compared with the time before the first of them', () => {
  const plain = flushed([...flat(0.9, 10), ...flat(0.5, 10), ...flat(0.3, 3), ...flat(0.5, 20)], 10, 20);
  assert.ok(Math.abs((recoveriesOf(plain)[1]?.hitRatioBefore ?? 0) - 0.5) < 1e-9);
  const record = { ...plain, events: plain.events.map((event) => ({ ...event, drill: 'one' })) };
  const second = recoveriesOf(record)[1];
  assert.ok(second);
  assert.ok(Math.abs(second.hitRatioBefore - 0.9) < 1e-9);
  assert.equal(second.recoveredAfterMs, undefined);
});

test('sheds and failures of a loss are counted up to the next loss', () => {
  const record = flushed([...flat(0.9, 10), ...flat(0.4, 30)], 10, 20);
  const seconds = record.seconds.map((second, at) => {
    const outcomes = { ...second.outcomes, shed: at, failed: at === 12 ? 4 : 0 };
    return { ...second, outcomes };
  });
  const [first, second] = recoveriesOf({ ...record, seconds });
  assert.equal(first?.shed, 145, '10 to 19');
  assert.deepEqual([first?.dishonest, second?.dishonest], [4, 0]);
});

function flat(ratio: number, seconds: number): readonly number[] {
  return Array.from({ length: seconds }, () => ratio);
}

/** A hit ratio for each second, and flushes at the given seconds. */
function flushed(ratios: readonly number[], ...flushes: readonly number[]): RunRecord {
  const record = runOf({ script: 'flush-survival' });
  const { startedAtMs } = record.summary;
  const seconds = ratios.map((ratio, at): Second => {
    const hits = Math.round(1000 * ratio);
    const outcomes = { 'hit-l1': hits, engine: 1000 - hits };
    return {
      atMs: startedAtMs + (at + 1) * 1000,
      searches: 1000,
      errors: 0,
      dropped: 0,
      vus: 1,
      receivedBytes: 0,
      outcomes,
    };
  });
  const events = flushes.map((at): RunEvent => ({ atMs: startedAtMs + at * 1000, kind: 'flush', text: 'goods' }));
  return { ...record, seconds, events };
}

function only(record: RunRecord): Recovery {
  const found = recoveriesOf(record);
  assert.equal(found.length, 1);
  return found[0] as Recovery;
}
