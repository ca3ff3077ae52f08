import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Overlay } from '../../../src/control/document.ts';
import { createFleetReadings, createMeter, type FleetReadings } from '../../../src/operations/meter/meter.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { idle } from '../../fakes/idle.ts';

const OVERLAY: Overlay = {
  drill: 'd',
  owner: 'a',
  leaseMs: 3000,
  mode: 'drop',
  floor: 2,
  ranges: [],
  blackout: false,
  cohorts: [[{ from: 0, to: 5 }]],
};

interface Harness {
  readonly process: (id: string) => FleetReadings;
  readonly reports: Map<string, unknown>;
  overlay: Overlay | undefined;
  away: boolean;
  readonly pass: (ms: number) => Promise<void>;
}

function createHarness(t: TestContext): Harness {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reports = new Map<string, unknown>();
  const made: Harness = {
    reports,
    overlay: OVERLAY,
    away: false,
    pass: async (ms) => {
      t.mock.timers.tick(ms);
      await idle();
    },
    process: (processId) => {
      const engine = () => ({ inFlight: 0, queued: 0, maxConcurrent: 2, ceiling: 2, breaker: 'closed' as const });
      const readings = createFleetReadings({
        control: {
          overlay: () => made.overlay,
          report: async (id, value) => void reports.set(id, JSON.parse(JSON.stringify(value))),
          reports: async () => (made.away ? undefined : reports),
        },
        meter: createMeter({ buckets: 10, engine, clock: createFakeClock() }),
        processId,
        intervalMs: 400,
      });
      t.after(readings.close);
      return readings;
    },
  };
  return made;
}

test('the readings of all processes are collected, with the cohorts of the overlay', async (t) => {
  const { process, reports, pass } = createHarness(t);
  const [owner] = [process('a'), process('b')];
  await pass(400);
  assert.equal(reports.size, 2);
  const collected = await owner.collect();
  assert.deepEqual([...(collected?.keys() ?? [])].sort(), ['a', 'b']);
  assert.equal(collected?.get('b')?.cohorts.length, 1);
});

test('without a drill no process reports', async (t) => {
  const made = createHarness(t);
  made.overlay = undefined;
  made.process('a');
  await made.pass(4000);
  assert.equal(made.reports.size, 0);
  made.overlay = OVERLAY;
  await made.pass(400);
  assert.deepEqual([...made.reports.keys()], ['process:a'], 'it reports as soon as a drill runs');
});

test('other reports in the same place, and damaged ones, are left out', async (t) => {
  const { process, reports } = createHarness(t);
  reports.set('drill', { id: 'd' });
  reports.set('process:old', { atMs: 'yesterday' });
  reports.set('process:odd', null);
  const { outcomes, ...whole } = process('c').own();
  const { failed: _failed, ...fewer } = outcomes;
  reports.set('process:newer', { ...whole, outcomes: fewer });
  assert.deepEqual([...((await process('a').collect())?.keys() ?? [])], ['a']);
});

test('reports with impossible counts are left out', async (t) => {
  const { process, reports } = createHarness(t);
  const whole = process('c').own();
  const cohort = { searches: 1, hits: 1 };
  for (const fields of [
    { atMs: -1 },
    { atMs: 1e300 },
    { outcomes: { ...whole.outcomes, failed: 1e300 } },
    { durations: whole.durations.map(() => -1) },
    { engine: { ...whole.engine, maxConcurrent: 1e13 } },
    { cohorts: Array.from({ length: 257 }, () => cohort) },
    { cohorts: [{ ...cohort, hits: '1' }] },
  ]) {
    reports.set('process:planted', { ...whole, ...fields });
    assert.deepEqual([...((await process('a').collect())?.keys() ?? [])], ['a'], JSON.stringify(fields).slice(0, 60));
  }
});

test('the result is undefined, not empty, when the control store cannot be asked', async (t) => {
  const made = createHarness(t);
  made.away = true;
  assert.equal(await made.process('a').collect(), undefined);
});
