import type { StoreEvent } from '../cache/store.ts';
import type { Settings, StoreSettings } from '../config/settings.ts';
import type { ControlStore } from '../control/control-store.ts';
import type { CounterStore } from '../popularity/shared.ts';
import type { Clock } from '../runtime.ts';
import { createMemoryControlStore } from './memory/control-store.ts';
import { createRedisStore, type RedisStore } from './redis/store.ts';

/** Where a domain's control document is kept. */
export interface ControlPlace {
  readonly store: ControlStore;
  /** Other processes follow it too. */
  readonly shared: boolean;
  /** Not among the entries: a drill that empties their nodes leaves it alone. */
  readonly elsewhere: boolean;
}

/** The stores that belong to no domain. */
export interface ProcessStores {
  /** @param own the domain's store, if it has one. */
  readonly controlOf: (own: RedisStore | undefined) => ControlPlace;
  readonly counters: CounterStore | undefined;
  readonly close: () => Promise<void>;
}

export interface ProcessStoresOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly observeStore: (name: string, event: StoreEvent) => void;
}

export function createStores(
  { control, counters }: Pick<Settings, 'control' | 'counters'>,
  { clock, random, observeStore }: ProcessStoresOptions,
): ProcessStores {
  const open = (name: string, settings: StoreSettings): RedisStore | undefined =>
    settings.kind === 'none'
      ? undefined
      : createRedisStore({ settings, name, clock, random, observe: (event) => observeStore(name, event) });
  const controlStore = open('control', control);
  const counterStore = open('counters', counters);
  const memory = createMemoryControlStore({ clock });
  return {
    controlOf: (own) => {
      if (controlStore !== undefined) return { store: controlStore.control, shared: true, elsewhere: true };
      if (own !== undefined) return { store: own.control, shared: true, elsewhere: false };
      return { store: memory, shared: false, elsewhere: true };
    },
    counters: (counterStore ?? controlStore)?.counters,
    close: async () => {
      await Promise.all([controlStore?.close(), counterStore?.close()]);
    },
  };
}
