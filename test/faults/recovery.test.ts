import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ArrivalResult, createRecovery } from './recovery.ts';

const HIT: ArrivalResult = { hit: true, answered: true };
const MISS: ArrivalResult = { hit: false, answered: true };
const REFUSED: ArrivalResult = { hit: false, answered: false };

/** Feeds arrivals `from`… to both; the control always hits. */
function feed(recovery: ReturnType<typeof createRecovery>, from: number, halves: readonly ArrivalResult[]): void {
  for (const [at, half] of halves.entries()) {
    recovery.add('subject', from + at, half);
    recovery.add('control', from + at, HIT);
  }
}

const times = (count: number, half: ArrivalResult): ArrivalResult[] => new Array<ArrivalResult>(count).fill(half);

test('a subject that misses what the control has is not recovered', () => {
  const recovery = createRecovery({ window: 50, points: 0.02 });
  recovery.begin(0);
  for (let n = 0; n < 500; n += 1) feed(recovery, n, [n % 10 === 0 ? MISS : HIT]);
  assert.equal(recovery.recoveredAt(), undefined);
  assert.equal(recovery.hitGap(), 0.1);
});

test('it is recovered with the arrival that makes the window good enough', () => {
  const recovery = createRecovery({ window: 50, points: 0.02 });
  recovery.begin(100);
  feed(recovery, 100, [...times(20, MISS), ...times(80, HIT)]);
  // Of the last fifty arrivals one may miss: the window reaches from the last miss on.
  assert.equal(recovery.recoveredAt(), 100 + 19 + 49);
});

test('nothing is said before a whole window of arrivals after the fault', () => {
  const recovery = createRecovery({ window: 50, points: 0.02 });
  recovery.begin(10);
  feed(recovery, 0, times(59, HIT));
  assert.equal(recovery.recoveredAt(), undefined);
  feed(recovery, 59, times(1, HIT));
  assert.equal(recovery.recoveredAt(), 59);
});

test('what both miss counts for neither, whoever answers first', () => {
  const recovery = createRecovery({ window: 20, points: 0 });
  recovery.begin(0);
  for (let n = 0; n < 20; n += 1) {
    recovery.add(n % 2 === 0 ? 'subject' : 'control', n, MISS);
    recovery.add(n % 2 === 0 ? 'control' : 'subject', n, MISS);
  }
  assert.equal(recovery.recoveredAt(), 19);
});

test('a subject that refuses is not recovered, although the control misses as well', () => {
  const recovery = createRecovery({ window: 20, points: 0.02 });
  recovery.begin(0);
  for (let n = 0; n < 100; n += 1) {
    recovery.add('subject', n, n % 15 === 0 ? REFUSED : HIT);
    recovery.add('control', n, n % 15 === 0 ? MISS : HIT);
  }
  assert.equal(recovery.recoveredAt(), undefined);
});
