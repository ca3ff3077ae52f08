import { beginOverlay } from '../../src/control/overlay.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import type { Process, Scene } from './scene.ts';

export const LEASE_MS = 3000;
export const WHOLE = [{ from: 0, to: 10_000 }];
export const ASKED = {
  drill: 'rehearsal',
  owner: 'owner',
  leaseMs: LEASE_MS,
  mode: 'drop',
  ranges: WHOLE,
  blackout: false,
  cohorts: [],
} as const;
const NAME = { storeName: 'sc1:goods:{x}', bucket: 4711 };
const entry = entryOf(createFakeClock());

export const isFlushed = ({ control }: Process): boolean => control.rules.judge(entry, NAME) === 'flushed';
export const states = ({ events }: Process): string =>
  events.flatMap((event) => (event.kind === 'overlay' ? [event.state] : [])).join(' ');

/** An owner that renews every half second until the moment it is told to die. */
export async function drill(scene: Scene, owner: Process): Promise<{ readonly dies: () => void }> {
  await scene.settle(owner.control.change((document) => beginOverlay(document, ASKED)));
  let lives = true;
  const renew = async (): Promise<void> => {
    while (lives) {
      await owner.control.renew();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  void renew();
  return {
    dies: () => {
      lives = false;
      owner.meets('away');
    },
  };
}
