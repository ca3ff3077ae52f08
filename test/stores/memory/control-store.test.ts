import { systemClock } from '../../../src/runtime.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { controlStoreContract } from '../../contract/control-store.ts';

controlStoreContract('memory', async () => {
  let memory = createMemoryControlStore({ clock: systemClock });
  return {
    get store() {
      return memory;
    },
    get other() {
      return memory;
    },
    lose: async () => {
      memory = createMemoryControlStore({ clock: systemClock });
    },
    stop: async () => {},
  };
});
