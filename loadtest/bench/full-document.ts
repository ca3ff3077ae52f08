import { setTimeout as sleep } from 'node:timers/promises';
import { purge, raiseFreshFloors, suppress } from '../../src/control/changes.ts';
import { createControl } from '../../src/control/create-control.ts';
import { MAX_PURGES, MAX_RANGES, MAX_SUPPRESSED } from '../../src/control/document.ts';
import { systemClock } from '../../src/runtime.ts';
import type { HostPort } from '../../src/schema/units.ts';
import { openAdapter } from '../labs/experiments/adapter.ts';

/** Every process has followed the document after this time. */
const FOLLOWED_MS = 1500;

/**
 * Writes a document with the maximum number of purges, suppressions and ranges. None of them matches the measured page or
 * its `bucket`, and every hit of an older entry checks all of them.
 */
export async function fillDocument(domain: string, node: HostPort, bucket: number): Promise<void> {
  const store = openAdapter({ target: node, deadlineMs: 1000 });
  const control = createControl({
    domain,
    store: store.control,
    shared: true,
    locate: () => undefined,
    clock: systemClock,
    random: Math.random,
    observe: () => undefined,
    longestLifeMs: 3_600_000,
    deadlineMs: 1000,
  });
  while (!control.hasSynced()) await sleep(20);
  const atMs = systemClock.wallMs();
  const away = (bucket + 5000) % 9000;
  await control.change((empty) => {
    let document = empty;
    for (let at = 0; at < MAX_RANGES; at += 1) {
      document = raiseFreshFloors(document, [{ from: away + 2 * at, to: away + 2 * at + 1 }], atMs);
    }
    for (let at = 0; at < MAX_PURGES; at += 1) document = purge(document, `nobody asks ${at}`, atMs);
    return suppress(
      document,
      Array.from({ length: MAX_SUPPRESSED }, (_, at) => `no document ${at}`),
      atMs,
    );
  });
  await sleep(FOLLOWED_MS);
  await control.close();
  await store.close();
}
