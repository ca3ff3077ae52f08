import type { TestContext } from 'node:test';
import { createSigning, type SigningKeys } from '../../src/cache/signing.ts';
import type { ControlEvent } from '../../src/control/control.ts';
import type { ControlStore, ControlValue } from '../../src/control/control-store.ts';
import { createControl, type PollingControl } from '../../src/control/create-control.ts';
import { createMemoryControlStore } from '../../src/stores/memory/control-store.ts';
import { seededRandom } from '../fakes/clock.ts';
import { idle } from '../fakes/idle.ts';

/** What one process meets when it asks the store. `deaf`: what it asks is done, but no reply comes. */
export type Weather = 'well' | 'away' | 'deaf';

export interface Process {
  readonly control: PollingControl;
  readonly events: ControlEvent[];
  /** From now on. */
  readonly meets: (weather: Weather) => void;
}

/** What processes of one fleet may be configured with differently. */
interface OwnSettings {
  /** Of entries; an hour unless said. */
  readonly longestLifeMs?: number;
  readonly keys?: SigningKeys;
}

export interface Scene {
  /** Another process of the fleet, whose wall clock is wrong by so much. */
  readonly join: (name: string, skewMs?: number, own?: OwnSettings) => Process;
  /** As any process's, unskewed and always well. */
  readonly store: ControlStore;
  /** The store forgets all it held. */
  readonly wipe: () => void;
  readonly write: (value: ControlValue) => Promise<void>;
  /** Milliseconds pass for everybody, ten at a time. */
  readonly pass: (ms: number) => Promise<void>;
  /** As much time passes at once, for which nobody was there; then a second in which all poll. */
  readonly leap: (ms: number) => Promise<void>;
  /** Lets time pass until it holds, and says how long that took. */
  readonly until: (holds: () => boolean, maxMs?: number) => Promise<number>;
  /** Lets time pass until it is settled. */
  readonly settle: <Result>(promise: Promise<Result>) => Promise<Result>;
}

const STEP_MS = 10;
/** What a store needs for an answer. */
const REPLY_MS = 2;

/** A fleet around one store, in virtual time. */
export function createScene(t: TestContext): Scene {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 1_000_000;
  let memory = createMemoryControlStore({ clock: { monotonicMs: () => nowMs } });
  let members = 0;

  const client = (weather: () => Weather): ControlStore => {
    const ask = async <Reply, Fault>(act: () => Promise<Reply>, fault: Fault): Promise<Reply | Fault> => {
      const now = weather();
      if (now === 'away') return fault;
      await new Promise((resolve) => setTimeout(resolve, REPLY_MS));
      const reply = await act();
      return now === 'deaf' ? fault : reply;
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
  const pass = async (ms: number): Promise<void> => {
    await idle();
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      nowMs += STEP_MS;
      t.mock.timers.tick(STEP_MS);
      await idle();
    }
  };
  const until = async (holds: () => boolean, maxMs = 60_000): Promise<number> => {
    let waitedMs = 0;
    while (!holds()) {
      if (waitedMs > maxMs) throw new Error(`not within ${maxMs} ms: ${holds}`);
      await pass(STEP_MS);
      waitedMs += STEP_MS;
    }
    return waitedMs;
  };
  const store = client(() => 'well');

  return {
    store,
    join: (name, skewMs = 0, { longestLifeMs = 3_600_000, keys } = {}) => {
      members += 1;
      let weather: Weather = 'well';
      const events: ControlEvent[] = [];
      const startedMs = members * 7_919;
      const control = createControl({
        domain: 'goods',
        store: client(() => weather),
        shared: true,
        locate: () => undefined,
        clock: { wallMs: () => 1_800_000_000_000 + nowMs + skewMs, monotonicMs: () => nowMs - startedMs },
        random: seededRandom(members * 1000 + name.length),
        observe: (event) => events.push(event),
        longestLifeMs,
        ...(keys === undefined ? {} : { signing: createSigning(keys, 'goods') }),
      });
      t.after(async () => {
        weather = 'away';
        const closing = control.close();
        await pass(1000);
        await closing;
      });
      return {
        control,
        events,
        meets: (next) => {
          weather = next;
        },
      };
    },
    wipe: () => {
      memory = createMemoryControlStore({ clock: { monotonicMs: () => nowMs } });
    },
    write: async (value) => {
      const there = await memory.read('goods', undefined, 0);
      await memory.swap('goods', there.kind === 'value' ? there.tag : undefined, value, 0);
    },
    pass,
    leap: async (ms) => {
      nowMs += ms;
      await pass(1000);
    },
    until,
    settle: async (promise) => {
      let isSettled = false;
      const mark = (): void => {
        isSettled = true;
      };
      promise.then(mark, mark);
      await until(() => isSettled);
      return promise;
    },
  };
}
