import { setTimeout as sleep } from 'node:timers/promises';
import type { LabStore } from '../../kit/lab.ts';

/**
 * A break of the network between a master and its replicas: they stand still, so that none connects again, and their
 * connections are cut. Standing still alone is no break on loopback, where the kernel holds megabytes for whoever sleeps.
 */
export async function breakLinks(
  master: LabStore,
  replicas: readonly LabStore[],
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    await Promise.all(replicas.map((replica) => replica.pause()));
    await master.command('CLIENT', 'KILL', 'TYPE', 'replica');
    await sleep(seconds * 1000, undefined, { signal });
  } finally {
    for (const replica of replicas) replica.resume();
  }
}
