import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { patienceLimitMs } from '../../../src/operations/drills/guards.ts';
import { figuresBetween } from '../../../src/operations/meter/figures.ts';
import { createMeter } from '../../../src/operations/meter/meter.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { createRig, planOf } from './rig.ts';

/** The p99 as guards are told it, of searches that all took that long. */
function p99Of(durationMs: number): number {
  const clock = createFakeClock();
  const levels = { inFlight: 0, queued: 0, maxConcurrent: 1, ceiling: 1, breaker: 'closed' } as const;
  const meter = createMeter({ buckets: 1, engine: () => levels, clock });
  const before = new Map([['only', meter.read()]]);
  for (let n = 0; n < 100; n += 1) meter.noteRequest({ outcome: 'engine', durationMs });
  clock.advance(1000);
  return figuresBetween(before, new Map([['only', meter.read()]])).p99Ms ?? Number.NaN;
}

test('an answer at the end of the patience breaks no guard, and one that is clearly later does', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 60_000 }), (patienceMs) => {
      const max = patienceLimitMs(patienceMs);
      assert.ok(p99Of(patienceMs) <= max, `${patienceMs} ms is told as ${p99Of(patienceMs)}, the limit is ${max}`);
      assert.ok(p99Of(patienceMs + 200) <= max);
      assert.ok(p99Of(max + 1) > max, `${max + 1} ms is told as ${p99Of(max + 1)}`);
      assert.ok(max <= patienceMs * 1.5 + 600, `${max} for ${patienceMs}`);
    }),
  );
});

test('every ready-made plan guards the slowest answers by the patience of the domain it is run on', async (t) => {
  const rig = createRig({ domains: ['goods', 'auto'], patienceMs: { auto: 4000 }, nodes: ['a:1'] });
  t.after(rig.close);
  const limits = (plan: { readonly guards: readonly { readonly figure: string; readonly max: number }[] }) =>
    plan.guards.filter(({ figure }) => figure === 'p99Ms').map(({ max }) => max);
  for (const { name } of rig.drills.plans()) {
    assert.deepEqual(limits((await rig.drills.preview({ plan: name, domains: ['goods'] })).plan), [2250], name);
    assert.deepEqual(limits((await rig.drills.preview({ plan: name, domains: ['auto'] })).plan), [5000], name);
  }
  const own = planOf({ guards: [Object.fromEntries([...GUARD, ['max', 'patience']])] });
  assert.deepEqual(limits((await rig.drills.preview({ plan: own, domains: ['auto'] })).plan), [5000]);
  const fixed = planOf({ guards: [Object.fromEntries([...GUARD, ['max', 700]])] });
  assert.deepEqual(limits((await rig.drills.preview({ plan: fixed, domains: ['auto'] })).plan), [700]);
});

test('of several domains the most patient one counts', async (t) => {
  const rig = createRig({ domains: ['goods', 'auto', 'jobs'], patienceMs: { auto: 4000 } });
  t.after(rig.close);
  const { plan } = await rig.drills.preview({ plan: 'domain-by-domain' });
  assert.deepEqual(
    plan.guards.flatMap(({ figure, max }) => (figure === 'p99Ms' ? [max] : [])),
    [5000],
  );
});

const GUARD = [
  ['figure', 'p99Ms'],
  ['forMs', 500],
  ['then', 'rollback'],
] as const;
