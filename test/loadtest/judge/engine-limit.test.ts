import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overLimit, withinLimit } from '../../../loadtest/judge/verdict.ts';
import type { Sample } from '../../../loadtest/sample/sample.ts';
import { runOf } from '../../fakes/load-run.ts';

const RUN = runOf();

/** The number of busy slots at each sample, of four. */
function holding(...held: readonly number[]): readonly Sample[] {
  return held.map((engineInFlight, at) => {
    const sample = RUN.samples[at] ?? assert.fail();
    const replicas = sample.replicas.map((replica) => ({
      ...replica,
      domains: Object.fromEntries(
        Object.entries(replica.domains).map(([name, own]) => [name, { ...own, engineInFlight, engineCeiling: 4 }]),
      ),
    }));
    return { ...sample, replicas };
  });
}

test('the engine may be used up to its limit, and above it in a single sample', () => {
  assert.deepEqual(overLimit(holding(4, 4, 5, 4, 6, 0)), []);
  assert.deepEqual(withinLimit(RUN.verdict, holding(4, 5, 4)), RUN.verdict);
});

test('an engine that gets more calls than its limit fails the run, even if every search was answered', () => {
  const verdict = withinLimit(RUN.verdict, holding(4, 5, 6, 4));
  assert.equal(verdict.kind, 'failed');
  assert.match(verdict.detail, /held 6 places at the engine of goods, 4 are allowed/);
});
