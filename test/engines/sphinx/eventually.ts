import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 20_000;

/** Until it holds, with the last reason why not. */
export async function eventually(holds: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await holds();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
}
