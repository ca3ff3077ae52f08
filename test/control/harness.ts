import type { TestContext } from 'node:test';
import { createSigning, type SigningKeys } from '../../src/cache/signing.ts';
import type { ControlEvent } from '../../src/control/control.ts';
import type { ControlStore, ControlValue } from '../../src/control/control-store.ts';
import { createControl, type PollingControl } from '../../src/control/create-control.ts';
import { beginOverlay } from '../../src/control/overlay.ts';
import { seededRandom } from '../../src/runtime.ts';
import { createMemoryControlStore } from '../../src/stores/memory/control-store.ts';
import { createFakeClock, createVirtualTime } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

/** The store as one process finds it. `silent`: commands take effect, but no reply comes. */
export type StoreCondition = 'up' | 'down' | 'silent';

export interface Process {
  readonly control: PollingControl;
  readonly events: ControlEvent[];
  /** Sets the condition of the store for this process. */
  readonly storeIs: (condition: StoreCondition) => void;
}

/** Settings that may differ between the processes of one fleet. */
interface OwnSettings {
  /** An hour by default. */
  readonly longestLifeMs?: number;
  readonly keys?: SigningKeys;
}

export interface Harness {
  /** Adds a process to the fleet, with a wall clock that is wrong by `skewMs`. */
  readonly join: (name: string, skewMs?: number, own?: OwnSettings) => Process;
  /** The store as an observer sees it: always up. */
  readonly store: ControlStore;
  /** The store loses all data. */
  readonly wipe: () => void;
  readonly write: (value: ControlValue) => Promise<void>;
  /** Lets time pass for all processes, 10 ms at a time. */
  readonly pass: (ms: number) => Promise<void>;
  /** Advances time in one step, while no process runs; then one second in which all processes poll. */
  readonly leap: (ms: number) => Promise<void>;
  /** Lets time pass until the condition holds, and returns the time it took. */
  readonly until: (holds: () => boolean) => Promise<number>;
  /** Lets time pass until the promise is settled. */
  readonly settle: <Result>(promise: Promise<Result>) => Promise<Result>;
}

/** The time in which the store replies. */
const REPLY_MS = 2;

/** A fleet around one store, in virtual time. */
export function createHarness(t: TestContext): Harness {
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
    store,
    join: (name, skewMs = 0, { longestLifeMs = 3_600_000, keys } = {}) => {
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
        ...(keys === undefined ? {} : { signing: createSigning(keys, 'goods') }),
      });
      t.after(async () => {
        condition = 'down';
        await time.settled(control.close());
      });
      return {
        control,
        events,
        storeIs: (next) => {
          condition = next;
        },
      };
    },
    wipe: () => {
      memory = createMemoryControlStore({ clock: time });
    },
    write: async (value) => {
      const there = await memory.read('goods', undefined, 0);
      await memory.swap('goods', there.kind === 'value' ? there.tag : undefined, value, 0);
    },
    pass: time.pass,
    leap: async (ms) => {
      time.advance(ms);
      await time.pass(1000);
    },
    until: async (holds) => {
      const fromMs = time.monotonicMs();
      await time.until(`${holds}`, holds);
      return time.monotonicMs() - fromMs;
    },
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
