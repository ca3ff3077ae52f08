import type { TestContext } from 'node:test';
import { seededRandom } from '../../loadtest/random.ts';
import { createSigning, type SigningKeys } from '../../src/cache/signing.ts';
import type { ControlEvent } from '../../src/control/control.ts';
import type { ControlStore, ControlValue } from '../../src/control/control-store.ts';
import { createControl } from '../../src/control/create-control.ts';
import { beginOverlay } from '../../src/control/overlay.ts';
import { createMemoryControlStore } from '../../src/stores/memory/control-store.ts';
import { createFakeClock, createVirtualTime } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

/** The store as one process finds it. `silent`: commands take effect, but no reply comes. */
export type StoreCondition = 'up' | 'down' | 'silent';

export type Process = ReturnType<Harness['join']>;

/** Settings that may differ between the processes of one fleet. */
interface OwnSettings {
  /** An hour by default. */
  readonly longestLifeMs?: number;
  readonly keys?: SigningKeys;
}

export type Harness = ReturnType<typeof createHarness>;

/** The time in which the store replies. */
const REPLY_MS = 2;

/** A fleet around one store, in virtual time. */
export function createHarness(t: TestContext) {
  const time = createVirtualTime(t);
  let memory = createMemoryControlStore({ clock: time });
  let members = 0;

  const client = (condition: () => StoreCondition): ControlStore => {
    const ask = async <Reply, Fault>(act: () => Promise<Reply>, fault: Fault): Promise<Reply | Fault> => {
      const now = condition();
      if (now === 'down') return fault;
      await new Promise((resolve) => setTimeout(resolve, REPLY_MS));
      const reply = await act();
      return now === 'silent' ? fault : reply;
    };
    const fault = { kind: 'fault', fault: 'store-slow' } as const;
    return {
      read: (...args) => ask(() => memory.read(...args), fault),
      swap: (...args) => ask(() => memory.swap(...args), fault),
      renew: (...args) => ask(() => memory.renew(...args), fault),
      report: (...args) => ask(() => memory.report(...args), false),
      reports: (...args) => ask(() => memory.reports(...args), fault),
    };
  };
  const store = client(() => 'up');

  return {
    /** The store as an observer sees it: always up. */
    store,
    /** Adds a process to the fleet, with a wall clock that is wrong by `skewMs`. */
    join: (name: string, skewMs = 0, { longestLifeMs = 3_600_000, keys }: OwnSettings = {}) => {
      members += 1;
      let condition: StoreCondition = 'up';
      const events: ControlEvent[] = [];
      const startedMs = members * 7_919;
      const control = createControl({
        domain: 'goods',
        store: client(() => condition),
        shared: true,
        locate: () => undefined,
        clock: {
          wallMs: () => 1_800_000_000_000 + time.monotonicMs() + skewMs,
          monotonicMs: () => time.monotonicMs() - startedMs,
        },
        random: seededRandom(members * 1000 + name.length),
        observe: (event) => events.push(event),
        longestLifeMs,
        signing: keys && createSigning(keys, 'goods'),
      });
      t.after(async () => {
        condition = 'down';
        await time.settled(control.close());
      });
      return {
        control,
        events,
        /** Sets the condition of the store for this process. */
        storeIs: (next: StoreCondition): void => {
          condition = next;
        },
      };
    },
    /** The store loses all data. */
    wipe: (): void => {
      memory = createMemoryControlStore({ clock: time });
    },
    write: async (value: ControlValue): Promise<void> => {
      const there = await memory.read('goods', undefined, 0);
      await memory.swap('goods', there.kind === 'value' ? there.tag : undefined, value, 0);
    },
    /** Lets time pass for all processes, 10 ms at a time. */
    pass: time.pass,
    /** Advances time in one step, while no process runs; then one second in which all processes poll. */
    leap: async (ms: number): Promise<void> => {
      time.advance(ms);
      await time.pass(1000);
    },
    /** Lets time pass until the condition holds, and returns the time it took. */
    until: async (holds: () => boolean): Promise<number> => {
      const fromMs = time.monotonicMs();
      await time.until(`${holds}`, holds);
      return time.monotonicMs() - fromMs;
    },
    /** Lets time pass until the promise is settled. */
    settle: time.settled,
  };
}

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
export const hides = ({ control }: Process, id = 'banned'): boolean => control.rules.hides()?.(id) === true;
export const kinds = ({ events }: Process): string[] => events.map(({ kind }) => kind);
/** The tag of the stored document; `absent` without one. */
export const storedTag = async ({ settle, store }: Harness): Promise<string> => {
  const read = await settle(store.read('goods', undefined, 0));
  return read.kind === 'value' ? read.tag : read.kind;
};
export const states = ({ events }: Process): string =>
  events.flatMap((event) => (event.kind === 'overlay' ? [event.state] : [])).join(' ');

/** Begins a drill whose owner renews it every half second until `dies` is called. */
export async function drill(harness: Harness, owner: Process): Promise<{ readonly dies: () => void }> {
  await harness.settle(owner.control.change((document) => beginOverlay(document, ASKED)));
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
      owner.storeIs('down');
    },
  };
}
