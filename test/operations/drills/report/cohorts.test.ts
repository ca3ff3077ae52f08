import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sample } from '../../../../src/operations/drills/journal.ts';
import { controlConclusion, testedGuard } from '../../../../src/operations/drills/report/conclusions.ts';
import { cohortCurve, trackOf } from '../../../../src/operations/drills/report/track.ts';
import { journalOf, STAGED } from '../../../fakes/journal.ts';

const JOURNAL = journalOf();

/** The journal with its control cohort changed by `change`. */
function withControl(change: (sample: Sample) => { readonly searches: number; readonly hitRatio: number }) {
  const samples = JOURNAL.samples.map((sample) => ({
    ...sample,
    figures: { ...sample.figures, cohorts: [change(sample), ...sample.figures.cohorts.slice(1)] },
  }));
  const learned = JOURNAL.learned.map((one) => ({
    ...one,
    baseline: { ...one.baseline, cohorts: [{ searches: 1000, hitRatio: 0.9 }] },
  }));
  return trackOf({ ...JOURNAL, samples, learned }, 'goods');
}

test('a ratio with few searches is drawn over several samples, but never over two stages', () => {
  const track = withControl(({ stage }) => ({ searches: 5, hitRatio: stage < 2 ? 1 : 0 }));
  const runs = cohortCurve(
    { track, columnMs: 1 },
    ({ figures }) => figures.cohorts[0],
    ({ stage }) => stage,
  );
  const points = runs.flat();
  assert.deepEqual([...new Set(points.map(({ value }) => value))], [1, 0]);
  assert.ok(points.length < JOURNAL.samples.length / 7, `${points.length} points`);
  assert.equal(runs.length, 4);
});

test('a control cohort that varies by chance lost nothing; one that fell shows that the loss spread', () => {
  const same = controlConclusion(
    withControl(() => ({ searches: 3, hitRatio: 0.885 })),
    STAGED,
  );
  assert.match(same?.words ?? '', /did as well as before/);
  const fell = controlConclusion(
    withControl(({ stage }) => ({ searches: 3, hitRatio: stage === 3 ? 0.6 : 0.9 })),
    STAGED,
  );
  assert.match(fell?.words ?? '', /lost hits too/);
  assert.match(fell?.measured ?? '', /^30/);
});

test('a guard held when its figure was above the limit for a moment, and did not hold when it was above it after the stages', () => {
  const [learned] = JOURNAL.learned;
  assert.ok(learned?.after);
  const guard = STAGED.guards.find(({ figure }) => figure === 'engineRateFactor');
  assert.ok(guard);
  const held = (parts: Partial<typeof learned>): string | undefined => {
    return testedGuard(trackOf({ ...JOURNAL, learned: [{ ...learned, ...parts }] }, 'goods'), guard).held;
  };
  assert.equal(held({}), 'passing');
  assert.equal(held({ after: { ...learned.after, engineCallsPerSecond: 9999 } }), 'failed after');
});

test('a time without samples is a gap in every line', () => {
  const samples = JOURNAL.samples.filter(({ atMs }) => atMs < 60_000 || atMs > 90_000);
  const { runs } = trackOf({ ...JOURNAL, samples }, 'goods');
  assert.deepEqual(
    runs.map((run) => run.at(-1)?.toMs),
    [59_500, 225_000],
  );
  assert.equal(runs[1]?.[0]?.fromMs, 90_000);
});
