import assert from 'node:assert/strict';
import { test } from 'node:test';
import { othersCores, timesOf } from '../../../../loadtest/labs/kit/meters.ts';

/** The text of /proc/stat on Linux, for counts of ticks of 10 ms. */
function times(ticks: { atMs: number; each?: readonly number[]; ownTicks?: number; stolen?: number }) {
  const [first = 0, second = 0] = ticks.each ?? [];
  const line = (name: string, user: number): string => `${name} ${user} 10 20 9999 99 50 60 ${ticks.stolen ?? 0} 0 0`;
  const stat = `${line('cpu ', 999_999)}\n${line('cpu0', first)}\n${line('cpu1', second)}\n${line('cpu10', 77_777)}\nintr 1`;
  const own = `7 (a ) name) S 1 7 7 0 -1 0 1 2 3 4 ${ticks.ownTicks ?? 0} 1 2 3 20 0 1 0 5 6`;
  return timesOf({ stat, own, allowed: '0-1', atMs: ticks.atMs });
}

test('the processor time of the machine minus our own is the time of other processes', () => {
  const before = times({ atMs: 0 });
  const after = times({ atMs: 10_000, each: [500, 300], ownTicks: 600 });
  assert.equal(othersCores(before, after), 0.2);
});

test('without readings the result is undefined', () => {
  assert.equal(othersCores(undefined, times({ atMs: 1 })), undefined);
  assert.equal(othersCores(times({ atMs: 1 }), undefined), undefined);
  assert.equal(othersCores(times({ atMs: 1 }), times({ atMs: 1 })), undefined);
});
