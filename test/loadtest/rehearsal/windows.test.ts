import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answered, Load } from '../../../loadtest/rehearsal/load.ts';
import {
  addedP99,
  compareInTurns,
  cpuMsPerSearch,
  p99Of,
  type Window,
  worstSecond,
} from '../../../loadtest/rehearsal/windows.ts';

const answer = (atMs: number, tookMs: number, result: Answered['result'] = 'hit-l1'): Answered => ({
  sentMs: atMs - tookMs,
  atMs,
  result,
  body: '',
});

/** 100 answers, one of them slow: the 99th percentile is that of the others, the maximum is not. */
const windowOf = (tookMs: number, cpuMs = 1): Window => {
  const answers = [...Array.from({ length: 99 }, () => answer(0, tookMs)), answer(0, 1000)];
  return { fromMs: 0, answers, errors: 0, p99Ms: tookMs, hitRatio: 1, cpuMsPerSearch: cpuMs };
};

describe('windows of the load', () => {
  test('the p99 is a duration that 99 of 100 answers did not exceed', () => {
    assert.equal(p99Of(windowOf(5).answers), 5);
    assert.ok(Number.isNaN(p99Of([])));
  });

  test('the worst second is the lowest hit ratio of a second with enough answers', () => {
    const second = (number: number, hits: number, misses: number): Answered[] => [
      ...Array.from({ length: hits }, () => answer(number * 1000 + 1, 1)),
      ...Array.from({ length: misses }, () => answer(number * 1000 + 1, 1, 'engine')),
    ];
    const answers = [...second(0, 150, 0), ...second(1, 135, 15), ...second(2, 10, 80)];
    assert.equal(worstSecond({ fromMs: 0, answers }), 0.9);
  });

  test('the added p99 is relative, and the noise is the difference between halves of the windows without a shadow', () => {
    const { offMs, onMs, added, noise } = addedP99({
      off: [windowOf(10), windowOf(8), windowOf(10), windowOf(8)],
      on: [windowOf(11), windowOf(11), windowOf(11), windowOf(11)],
    });
    assert.deepEqual([offMs, onMs], [10, 11]);
    assert.ok(Math.abs(added - 0.1) < 1e-9, `${added}`);
    assert.ok(Math.abs(noise - 0.2) < 1e-9, `${noise}`);
  });

  test('the processor time per search is weighted by the answers of each window', () => {
    const small = { ...windowOf(1, 4), answers: windowOf(1).answers.slice(0, 50) };
    assert.equal(cpuMsPerSearch([windowOf(1, 1), small]), 2);
  });

  test('windows with and without a shadow take turns, and each kind comes first in half of the pairs', async () => {
    const turns: boolean[] = [];
    const load: Load = { answers: [], onAnswer: () => undefined, lagMs: () => 0, stop: () => undefined };
    const timing = { pairs: 4, windowMs: 0, settleMs: 0 };
    const { off, on } = await compareInTurns({ load, pids: [] }, timing, async (isOn) => {
      turns.push(isOn);
    });
    assert.deepEqual([off.length, on.length], [4, 4]);
    assert.deepEqual(turns, [false, true, false, true, false]);
  });
});
