import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ControlRead, ControlStore } from '../../src/control/control-store.ts';
import { type ControlDocument, emptyDocument } from '../../src/control/document.ts';
import { encodeDocument } from '../../src/control/document-codec.ts';
import { createFollower, type StoreView } from '../../src/control/follower.ts';
import { createOverlayLease } from '../../src/control/overlay.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { ASKED } from './harness.ts';

const DRILLING: ControlDocument = {
  ...{ ...emptyDocument, revision: 1, stamp: 'a', generation: 2 },
  overlay: { ...ASKED, floor: 2 },
};

const drilling = (renewals: number): ControlRead => ({ kind: 'value', ...encodeDocument(DRILLING), renewals });
const unchanged = (renewals: number): ControlRead => ({ kind: 'unchanged', renewals });
const endOf = (view: StoreView): string => {
  assert.equal(view.kind, 'valid');
  if (view.kind !== 'valid') return '';
  assert.equal(view.newest.overlay === undefined, view.writeBack !== undefined);
  return view.writeBack === undefined ? 'goes on' : 'is over';
};

function harness(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const replies: ((read: ControlRead) => void)[] = [];
  const never = (): Promise<never> => Promise.reject(new Error('not asked here'));
  const store: ControlStore = {
    read: () => new Promise((resolve) => replies.push(resolve)),
    ...{ swap: never, renew: never, report: never, reports: never },
  };
  const lease = createOverlayLease({ clock, onChange: () => {} });
  const follower = createFollower({
    ...{ domain: 'goods', store, clock, lease, deadlineMs: 200 },
    stamp: () => 'end',
    onAdopted: () => {},
    observe: () => {},
  });
  const sends = () => {
    const view = follower.read();
    return (read: ControlRead): Promise<StoreView> => {
      replies.shift()?.(read);
      return view;
    };
  };
  return {
    lease,
    /** Reads now; the reply is handled when the test gives it. */
    sends,
    reads: (read: ControlRead) => sends()(read),
    pass: (ms: number): void => {
      clock.advance(ms);
      t.mock.timers.tick(ms);
    },
  };
}

for (const [name, renewals] of [
  ['has risen', 6],
  ['has not risen yet', 5],
] as const) {
  test(`a process that was stopped for longer than the lease ends no drill by an old reply with a count that ${name}`, async (t) => {
    const { lease, pass, sends, reads } = harness(t);
    await reads(drilling(5));
    const handled = sends();
    pass(5000);
    assert.equal(lease.live(), undefined);
    assert.equal(endOf(await handled(unchanged(renewals))), 'goes on');
    assert.equal(lease.live(), undefined, 'the old reply proves nothing');
    pass(50);
    // A live owner may not have renewed in between.
    if (renewals === 6) assert.equal(endOf(await reads(unchanged(6))), 'goes on');
    pass(400);
    assert.equal(endOf(await reads(unchanged(15))), 'goes on');
    assert.equal(lease.live()?.drill, 'rehearsal');
  });

  test(`it still ends the drill of a dead owner after an old reply with a count that ${name}`, async (t) => {
    const { pass, sends, reads } = harness(t);
    await reads(drilling(5));
    const handled = sends();
    pass(5000);
    await handled(unchanged(renewals));
    pass(renewals === 6 ? 3000 : 50);
    assert.equal(endOf(await reads(unchanged(renewals))), 'is over');
  });
}

test('a reply to a read from before the end of the lease ends no drill, one from after it does', async (t) => {
  const { pass, sends, reads } = harness(t);
  await reads(drilling(5));
  pass(2999);
  const handled = sends();
  pass(1);
  assert.equal(endOf(await handled(unchanged(5))), 'goes on');
  assert.equal(endOf(await reads(unchanged(5))), 'is over');
});

test('the first renewal in an empty store extends the lease', async (t) => {
  const { lease, pass, reads } = harness(t);
  await reads(drilling(57));
  pass(1000);
  await reads({ kind: 'absent' });
  pass(1000);
  await reads(drilling(1));
  pass(2000);
  assert.equal(lease.live()?.drill, 'rehearsal');
});

test('an unchanged reply without an earlier read counts as a fault', async (t) => {
  const { reads } = harness(t);
  assert.equal((await reads(unchanged(3))).kind, 'away');
});
