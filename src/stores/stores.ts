import type { StoreEvent } from '../cache/store.ts';
import type { Settings, StoreSettings } from '../config/settings.ts';
import type { Runtime } from '../runtime.ts';
import { createMemoryChangeStream } from './memory/change-stream.ts';
import { createMemoryControlStore } from './memory/control-store.ts';
import { createRedisStore, type RedisStore } from './redis/store.ts';

interface StoresRuntime extends Pick<Runtime<never>, 'clock' | 'random'> {
  /** `name`: the name of a domain, `control` or `counters`. */
  readonly observeStore: (name: string, event: StoreEvent) => void;
}

/**
 * Opens the stores that the settings name. A domain's control document is kept in the control store if there is one,
 * else in the domain's own store if it has one, else in this process.
 */
export function createStores(
  { control, counters }: Pick<Settings, 'control' | 'counters'>,
  { clock, random, observeStore }: StoresRuntime,
) {
  /** Opens a store of a domain, and the domain closes it. Undefined when none is configured. */
  const open = (
    name: string,
    settings: StoreSettings,
    observe: (event: StoreEvent) => void = observeStore.bind(undefined, name),
  ): RedisStore | undefined =>
    settings.kind === 'none' ? undefined : createRedisStore({ settings, name, clock, random, observe });
  const controlStore = open('control', control);
  const counterStore = open('counters', counters);
  const memory = createMemoryControlStore({ clock });
  return {
    open,
    /**
     * `shared`: other processes read it too. `elsewhere`: not on the nodes of the entries, so a drill that flushes those nodes
     * does not touch it.
     * @param own the domain's store, if it has one.
     */
    controlOf: (own: RedisStore | undefined) => {
      if (controlStore !== undefined) return { store: controlStore.control, shared: true, elsewhere: true };
      if (own !== undefined) return { store: own.control, shared: true, elsewhere: false };
      return { store: memory, shared: false, elsewhere: true };
    },
    /** The feed of changes of a domain is beside its control document. @param own the domain's store, if it has one. */
    changesOf: (own: RedisStore | undefined, key: string | undefined, from: 'control' | 'store' | undefined) => {
      const nearest = controlStore ?? own;
      const holder = from === 'store' ? own : nearest;
      return {
        stream: nearest?.changes ?? createMemoryChangeStream({ clock }),
        shared: nearest !== undefined,
        source: key === undefined ? undefined : holder?.sourceOf(key),
      };
    },
    counters: (counterStore ?? controlStore)?.counters,
    /** Closes the control store and the counter store. */
    close: async (): Promise<void> => {
      await Promise.all([controlStore?.close(), counterStore?.close()]);
    },
  };
}

export type ProcessStores = ReturnType<typeof createStores>;
