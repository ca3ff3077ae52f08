import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../loadtest/random.ts';
import { createMinTracker } from '../../src/popularity/popularity.ts';

test('the removed slot has the lowest count, after any notes and any scaling', () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const random = seededRandom(seed);
    const counts = new Float64Array(5 + seed).fill(1);
    const tracker = createMinTracker(counts);
    for (const slot of counts.keys()) tracker.enter(slot);
    for (let step = 0; step < 2000; step += 1) {
      const what = random();
      if (what < 0.01) {
        const factor = random();
        for (const slot of counts.keys()) counts[slot] = (counts[slot] ?? 0) * factor;
        tracker.scale(factor);
      } else {
        const taken = what < 0.7;
        const slot = taken ? tracker.take() : Math.floor(counts.length * random());
        if (taken) assert.equal(counts[slot], Math.min(...counts), `seed ${seed}, step ${step}`);
        counts[slot] = (counts[slot] ?? 0) + 1;
        if (taken) tracker.enter(slot);
      }
    }
  }
});
