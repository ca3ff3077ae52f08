import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Figures, figuresOf, timeouts } from '../../../../loadtest/labs/experiments/timeouts.ts';
import { figureOf } from './harness.ts';

const second = (answered: number, failed: number) => ({ answered, failed });

function spell(eachSecond = [second(1000, 0), second(500, 500), second(500, 500), second(1000, 0)]): Figures {
  const load = {
    seconds: 4,
    answered: 3000,
    perSecond: 750,
    meanMs: 2,
    p50Ms: 1,
    p99Ms: 9,
    maxMs: 12,
    storeUs: 1,
    generatorUs: 1,
    errors: { late: 600, broken: 300, refused: 0, unsent: 100, unconnected: 7 },
    connects: 0,
    receivedBytes: 0,
    processorSeconds: 1,
    watchedCores: [0.9],
    eachSecond,
    storeCores: 0.9,
    generatorCores: 0.25,
    limit: 'store' as const,
  };
  return figuresOf({ load, opened: 12, mostOpen: 420, waitedShare: 0 });
}

const CLOSES: Figures = { ...spell(), meanOfAllMs: 41, lostShare: 0.8, opened: 6000 };
const KEEPS: Figures = { ...spell(), meanOfAllMs: 10, lostShare: 0.15, opened: 0 };

/** The rows with TLS decide nothing: they are the opposite of a gain. */
function findingOf(closes: Figures, abandons: Figures, calmLostShare = 0) {
  const calm = { ...closes, lostShare: calmLostShare };
  const measured = (kept: Figures) => ({
    rows: [
      { ...closes, variant: 'closes' as const },
      { ...kept, variant: 'abandons' as const },
    ],
    calm: { closes: calm, abandons: calm },
    neighbourShare: 0.3,
  });
  return timeouts.findingOf({ plain: measured(abandons), tls: measured(closes) });
}

for (const [name, found, verdict, gain] of [
  ['half the time and half the connections: it holds', findingOf(CLOSES, KEEPS), 'yes', 4.1],
  ['a smaller gain holds in part', findingOf({ ...CLOSES, meanOfAllMs: 15 }, KEEPS), 'partly', 1.5],
  ['no gain, and as many connections', findingOf(CLOSES, CLOSES), 'no', 1],
  [
    'a store that loses commands without a slow spell gives no result',
    findingOf(CLOSES, KEEPS, 0.3),
    'unseen',
    undefined,
  ],
] as const)
  test(name, () => {
    assert.equal(found.verdict, verdict);
    assert.equal(figureOf(found, /^mean of all/), gain);
  });

test('a lost command is counted at its deadline, and a connection attempt is not a command', () => {
  const { lostShare, unsentShare, meanOfAllMs } = spell();
  assert.deepEqual([lostShare, unsentShare, meanOfAllMs], [0.25, 0.1, (3000 * 2 + 1000 * 50) / 4000]);
});

test('the loss lasts from the first to the last second that lost more than 1 %', () => {
  const { slowSeconds, isSlowAtEnd } = spell();
  assert.deepEqual([slowSeconds, isSlowAtEnd], [2, false]);
  const longer = spell([second(1000, 0), second(500, 500), second(995, 5), second(500, 500)]);
  assert.deepEqual([longer.slowSeconds, longer.isSlowAtEnd], [3, true]);
});
