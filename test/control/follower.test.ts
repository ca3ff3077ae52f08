import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ControlRead, ControlStore } from '../../src/control/control-store.ts';
import { type ControlDocument, emptyDocument } from '../../src/control/document.ts';
import { encodeDocument } from '../../src/control/document-codec.ts';
import { createFollower, type Follower, type Standing } from '../../src/control/follower.ts';
import { createOverlayLease, type OverlayLease } from '../../src/control/overlay.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { ASKED } from './rehearsal.ts';

const DRILLING: ControlDocument = {
  ...{ ...emptyDocument, revision: 1, stamp: 'a', generation: 2 },
  overlay: { ...ASKED, floor: 2 },
};

interface Scene {
  readonly follower: Follower;
  readonly lease: OverlayLease;
  readonly pass: (ms: number) => void;
  /** Asks now; the reply is handled when the test gives it. */
  readonly asks: () => (read: ControlRead) => Promise<Standing>;
  readonly hears: (read: ControlRead) => Promise<Standing>;
}

const drilling = (renewals: number): ControlRead => ({ kind: 'value', ...encodeDocument(DRILLING), renewals });
const unchanged = (renewals: number): ControlRead => ({ kind: 'unchanged', renewals });
const endOf = (standing: Standing): string => {
  assert.equal(standing.kind, 'there');
  if (standing.kind !== 'there') return '';
  assert.equal(standing.newest.overlay === undefined, standing.owed !== undefined);
  return standing.owed === undefined ? 'goes on' : 'is over';
};

function scene(t: TestContext): Scene {
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
  const asks = () => {
    const standing = follower.look();
    return (read: ControlRead): Promise<Standing> => {
      replies.shift()?.(read);
      return standing;
    };
  };
  return {
    follower,
    lease,
    asks,
    hears: (read) => asks()(read),
    pass: (ms) => {
      clock.advance(ms);
      t.mock.timers.tick(ms);
    },
  };
}

for (const [name, renewals] of [
  ['has moved', 6],
  ['has not moved yet', 5],
] as const) {
  test(`a process that stood still beyond the lease ends no drill by an old reply, which ${name}`, async (t) => {
    const { lease, pass, asks, hears } = scene(t);
    await hears(drilling(5));
    const handled = asks();
    pass(5000);
    assert.equal(lease.live(), undefined);
    assert.equal(endOf(await handled(unchanged(renewals))), 'goes on');
    assert.equal(lease.live(), undefined, 'it does not know yet');
    pass(50);
    // An owner that lives need not have renewed in between.
    if (renewals === 6) assert.equal(endOf(await hears(unchanged(6))), 'goes on');
    pass(400);
    assert.equal(endOf(await hears(unchanged(15))), 'goes on');
    assert.equal(lease.live()?.drill, 'rehearsal');
  });

  test(`it still ends one whose owner is dead, after an old reply which ${name}`, async (t) => {
    const { pass, asks, hears } = scene(t);
    await hears(drilling(5));
    const handled = asks();
    pass(5000);
    await handled(unchanged(renewals));
    pass(renewals === 6 ? 3000 : 50);
    assert.equal(endOf(await hears(unchanged(renewals))), 'is over');
  });
}

test('a reply asked for before the lease was over ends nothing, one asked for after it does', async (t) => {
  const { pass, asks, hears } = scene(t);
  await hears(drilling(5));
  pass(2999);
  const handled = asks();
  pass(1);
  assert.equal(endOf(await handled(unchanged(5))), 'goes on');
  assert.equal(endOf(await hears(unchanged(5))), 'is over');
});

test('after a store held nothing the first renewal in it is a sign of life', async (t) => {
  const { lease, pass, hears } = scene(t);
  await hears(drilling(57));
  pass(1000);
  await hears({ kind: 'absent' });
  pass(1000);
  await hears(drilling(1));
  pass(2000);
  assert.equal(lease.live()?.drill, 'rehearsal');
});

test('a store that says unchanged of what was never read is not believed', async (t) => {
  const { hears } = scene(t);
  assert.equal((await hears(unchanged(3))).kind, 'away');
});
