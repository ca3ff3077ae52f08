import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Overlay } from '../../src/control/document.ts';
import { createOverlayLease, type OverlayLease } from '../../src/control/overlay.ts';
import { createFakeClock } from '../fakes/clock.ts';

const OVERLAY: Overlay = {
  drill: 'd',
  owner: 'o',
  leaseMs: 3000,
  mode: 'drop',
  floor: 2,
  ranges: [],
  blackout: false,
  cohorts: [],
};

interface Scene {
  readonly lease: OverlayLease;
  readonly said: string[];
  /** `agoMs`: when it was asked. */
  readonly hears: (renewals: number | undefined, agoMs?: number) => void;
  readonly pass: (ms: number) => void;
}

function scene(t: TestContext): Scene {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const said: string[] = [];
  const lease = createOverlayLease({ clock, onChange: (state, drill) => said.push(`${state} ${drill}`) });
  return {
    lease,
    said,
    hears: (renewals, agoMs = 0) => lease.heard(renewals, clock.monotonicMs() - agoMs),
    pass: (ms) => {
      clock.advance(ms);
      t.mock.timers.tick(ms);
    },
  };
}

test('renewals that move keep it, to the lease after the last one', (t) => {
  const { lease, said, hears, pass } = scene(t);
  hears(5);
  lease.follow(OVERLAY);
  pass(2000);
  hears(6);
  pass(2000);
  hears(6);
  pass(999);
  assert.equal(lease.live(), OVERLAY);
  pass(1);
  assert.equal(lease.live(), undefined);
  assert.ok(lease.isVoid('d', Number.MAX_SAFE_INTEGER) && !lease.isVoid('other', Number.MAX_SAFE_INTEGER));
  assert.deepEqual(said, ['live d', 'void d']);
});

test('a count that has fallen is no sign of life, and moves from there', (t) => {
  const { lease, hears, pass } = scene(t);
  hears(57);
  lease.follow(OVERLAY);
  pass(2000);
  hears(3);
  pass(500);
  hears(4);
  pass(2900);
  assert.equal(lease.live(), OVERLAY);
  hears(1);
  pass(100);
  assert.equal(lease.live(), undefined);
});

test('the first renewal in a store that held nothing is one', (t) => {
  const { lease, hears, pass } = scene(t);
  hears(57);
  lease.follow(OVERLAY);
  pass(2000);
  hears(undefined);
  hears(1);
  pass(2000);
  assert.equal(lease.live(), OVERLAY);
});

test('what its owner changes is followed at once; another drill is another; an end is said once', (t) => {
  const { lease, said, pass } = scene(t);
  lease.follow(OVERLAY);
  const wider = { ...OVERLAY, ranges: [{ from: 0, to: 10 }] };
  lease.follow(wider);
  assert.equal(lease.live(), wider);
  lease.follow({ ...OVERLAY, drill: 'e' });
  lease.follow(undefined);
  lease.follow(undefined);
  pass(10_000);
  assert.deepEqual(said, ['live d', 'changed d', 'ended d', 'live e', 'ended e']);
});

test('a lease that was made longer is judged anew', (t) => {
  const { lease, pass } = scene(t);
  lease.follow(OVERLAY);
  pass(2000);
  lease.follow({ ...OVERLAY, leaseMs: 6000 });
  pass(3999);
  assert.ok(lease.live());
  pass(1);
  assert.equal(lease.live(), undefined);
});

test('the lease counts from when it was asked, not from when the reply was handled', (t) => {
  const { lease, hears, pass } = scene(t);
  hears(5);
  lease.follow(OVERLAY);
  pass(2000);
  hears(6, 1500);
  pass(1499);
  assert.equal(lease.live(), OVERLAY);
  pass(1);
  assert.equal(lease.live(), undefined);
});

test('a reply older than the lease revives nothing, and the next that has moved does', (t) => {
  const { lease, said, hears, pass } = scene(t);
  hears(5);
  lease.follow(OVERLAY);
  pass(8000);
  hears(6, 3000);
  assert.equal(lease.live(), undefined);
  hears(7, 2999);
  assert.equal(lease.live(), OVERLAY);
  pass(1);
  assert.equal(lease.live(), undefined);
  assert.deepEqual(said, ['live d', 'void d', 'live d', 'void d']);
});

test('the first reading is no movement', (t) => {
  const { lease, hears, pass } = scene(t);
  lease.follow(OVERLAY);
  pass(2000);
  hears(5);
  pass(1000);
  assert.equal(lease.live(), undefined);
});
