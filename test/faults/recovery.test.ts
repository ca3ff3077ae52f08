import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ArrivalResult, createRecovery } from './recovery.ts';

const HIT: ArrivalResult = { hit: true, answered: true };
const MISS: ArrivalResult = { hit: false, answered: true };
const REFUSED: ArrivalResult = { hit: false, answered: false };

/** Adds these results for the subject, from arrival `from` on, and hits for the control. */
function feed(recovery: ReturnType<typeof createRecovery>, from: number, results: readonly ArrivalResult[]): void {
  for (const [at, result] of results.entries()) {
    recovery.add('subject', from + at, result);
    recovery.add('control', from + at, HIT);
  }
}

const times = (count: number, result: ArrivalResult): ArrivalResult[] => new Array<ArrivalResult>(count).fill(result);

test('a subject that misses entries of the control has not recovered', () => {
  const recovery = createRecovery({ window: 50, points: 0.02 });
  recovery.begin(0);
  for (let n = 0; n < 500; n += 1) feed(recovery, n, [n % 10 === 0 ? MISS : HIT]);
  assert.equal(recovery.recoveredAt(), undefined);
  assert.equal(recovery.hitGap(), 0.1);
});

test('it has recovered at the first arrival whose window is good enough', () => {
  const recovery = createRecovery({ window: 50, points: 0.02 });
  recovery.begin(100);
  feed(recovery, 100, [...times(20, MISS), ...times(80, HIT)]);
  // One of the last fifty arrivals may miss, so the window begins at the last miss.
  assert.equal(recovery.recoveredAt(), 100 + 19 + 49);
});

test('there is no result before a full window of arrivals after the fault', () => {
  const recovery = createRecovery({ window: 50, points: 0.02 });
  recovery.begin(10);
  feed(recovery, 0, times(59, HIT));
  assert.equal(recovery.recoveredAt(), undefined);
  feed(recovery, 59, times(1, HIT));
  assert.equal(recovery.recoveredAt(), 59);
});

test('a search that misses in both processes does not count, whatever the order of the answers', () => {
  const recovery = createRecovery({ window: 20, points: 0 });
  recovery.begin(0);
  for (let n = 0; n < 20; n += 1) {
    recovery.add(n % 2 === 0 ? 'subject' : 'control', n, MISS);
    recovery.add(n % 2 === 0 ? 'control' : 'subject', n, MISS);
  }
  assert.equal(recovery.recoveredAt(), 19);
});

test('a subject that refuses has not recovered, although the control misses as well', () => {
  const recovery = createRecovery({ window: 20, points: 0.02 });
  recovery.begin(0);
  for (let n = 0; n < 100; n += 1) {
    recovery.add('subject', n, n % 15 === 0 ? REFUSED : HIT);
    recovery.add('control', n, n % 15 === 0 ? MISS : HIT);
  }
  assert.equal(recovery.recoveredAt(), undefined);
});
