import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLeast } from '../../src/popularity/popularity.ts';
import { seededRandom } from '../fakes/clock.ts';

test('the slot taken has the least count, whichever were counted on and however they were scaled', () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const random = seededRandom(seed);
    const counts = new Float64Array(5 + seed).fill(1);
    const least = createLeast(counts);
    for (const slot of counts.keys()) least.enter(slot);
    for (let step = 0; step < 2000; step += 1) {
      const what = random();
      if (what < 0.01) {
        const factor = random();
        for (const slot of counts.keys()) counts[slot] = (counts[slot] ?? 0) * factor;
        least.scale(factor);
      } else {
        const taken = what < 0.7;
        const slot = taken ? least.take() : Math.floor(counts.length * random());
        if (taken) assert.equal(counts[slot], Math.min(...counts), `seed ${seed}, step ${step}`);
        counts[slot] = (counts[slot] ?? 0) + 1;
        if (taken) least.enter(slot);
      }
    }
  }
});
