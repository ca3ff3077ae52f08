import { systemClock } from '../../../src/runtime.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { controlStoreContract } from '../../contract/control-store.ts';

controlStoreContract('memory', async () => {
  let memory = createMemoryControlStore({ clock: systemClock });
  const client = {
    read: (...args: Parameters<typeof memory.read>) => memory.read(...args),
    swap: (...args: Parameters<typeof memory.swap>) => memory.swap(...args),
    renew: (...args: Parameters<typeof memory.renew>) => memory.renew(...args),
    report: (...args: Parameters<typeof memory.report>) => memory.report(...args),
    reports: (...args: Parameters<typeof memory.reports>) => memory.reports(...args),
  };
  return {
    store: client,
    other: client,
    lose: async () => {
      memory = createMemoryControlStore({ clock: systemClock });
    },
    stop: async () => {},
  };
});
