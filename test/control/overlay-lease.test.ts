import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Overlay } from '../../src/control/document.ts';
import { createOverlayLease } from '../../src/control/overlay.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { ASKED } from './harness.ts';

const OVERLAY: Overlay = { ...ASKED, drill: 'd', floor: 2, ranges: [] };

function harness(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const changes: string[] = [];
  const lease = createOverlayLease({ clock, onChange: (state, drill) => changes.push(`${state} ${drill}`) });
  return {
    lease,
    changes,
    /** `agoMs`: the time since the read was sent. */
    reads: (renewals: number | undefined, agoMs = 0): void => lease.noteRenewals(renewals, clock.monotonicMs() - agoMs),
    pass: (ms: number): void => {
      clock.advance(ms);
      t.mock.timers.tick(ms);
    },
  };
}

test('a rising count of renewals keeps the overlay live, until one lease time after the last rise', (t) => {
  const { lease, changes, reads, pass } = harness(t);
  reads(5);
  lease.track(OVERLAY);
  pass(2000);
  reads(6);
  pass(2000);
  reads(6);
  pass(999);
  assert.equal(lease.live(), OVERLAY);
  pass(1);
  assert.equal(lease.live(), undefined);
  assert.ok(lease.hasExpired('d', Number.MAX_SAFE_INTEGER) && !lease.hasExpired('other', Number.MAX_SAFE_INTEGER));
  assert.deepEqual(changes, ['live d', 'void d']);
});

test('a count that has fallen is no renewal, and a rise from there is one', (t) => {
  const { lease, reads, pass } = harness(t);
  reads(57);
  lease.track(OVERLAY);
  pass(2000);
  reads(3);
  pass(500);
  reads(4);
  pass(2900);
  assert.equal(lease.live(), OVERLAY);
  reads(1);
  pass(100);
  assert.equal(lease.live(), undefined);
});

test('a changed overlay is live at once; another drill ends the one before; an end is reported once', (t) => {
  const { lease, changes, pass } = harness(t);
  lease.track(OVERLAY);
  const wider = { ...OVERLAY, ranges: [{ from: 0, to: 10 }] };
  lease.track(wider);
  assert.equal(lease.live(), wider);
  lease.track({ ...OVERLAY, drill: 'e' });
  lease.track(undefined);
  lease.track(undefined);
  pass(10_000);
  assert.deepEqual(changes, ['live d', 'changed d', 'ended d', 'live e', 'ended e']);
});

test('a longer lease time applies to the running lease', (t) => {
  const { lease, pass } = harness(t);
  lease.track(OVERLAY);
  pass(2000);
  lease.track({ ...OVERLAY, leaseMs: 6000 });
  pass(3999);
  assert.ok(lease.live());
  pass(1);
  assert.equal(lease.live(), undefined);
});

test('the lease runs from the moment the read was sent, not from when its reply was handled', (t) => {
  const { lease, reads, pass } = harness(t);
  reads(5);
  lease.track(OVERLAY);
  pass(2000);
  reads(6, 1500);
  pass(1499);
  assert.equal(lease.live(), OVERLAY);
  pass(1);
  assert.equal(lease.live(), undefined);
});

test('a reply older than the lease time does not revive the overlay, and a newer one with a higher count does', (t) => {
  const { lease, changes, reads, pass } = harness(t);
  reads(5);
  lease.track(OVERLAY);
  pass(8000);
  reads(6, 3000);
  assert.equal(lease.live(), undefined);
  reads(7, 2999);
  assert.equal(lease.live(), OVERLAY);
  pass(1);
  assert.equal(lease.live(), undefined);
  assert.deepEqual(changes, ['live d', 'void d', 'live d', 'void d']);
});

test('the first count that is read is no renewal', (t) => {
  const { lease, reads, pass } = harness(t);
  lease.track(OVERLAY);
  pass(2000);
  reads(5);
  pass(1000);
  assert.equal(lease.live(), undefined);
});
