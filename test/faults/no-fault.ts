import { createClient } from '../../loadtest/traffic/client.ts';
import type { RunOptions } from './arguments.ts';
import { type Bed, startBed, targetOf } from './bed.ts';
import { HUNG_MS } from './configuration.ts';
import type { Felt } from './felt.ts';
import type { Row } from './row.ts';

/** Searches that are repeated, and documents indexed: enough for traffic, quick to start. */
const SMALL_BED = { repeated: 60, documents: 600 };

/**
 * Prepares each row, reads its evidence before and after some traffic, and injects no fault.
 * @returns whether no row found evidence of a fault, and every reading worked.
 */
export async function readWithoutFaults(
  rows: readonly Row[],
  { print, ...subject }: Pick<RunOptions, 'checkout' | 'server'> & { readonly print: (line: string) => void },
): Promise<boolean> {
  let held = true;
  for (const [layout, own] of Map.groupBy(rows, (row) => row.layout ?? 'plain')) {
    const bed = await startBed({ ...subject, ...SMALL_BED, layout });
    try {
      for (const [first, ...others] of Map.groupBy(own, ({ store }) => store).values()) {
        if (first === undefined) continue;
        await bed.prepare(first);
        bed.engineProxy.resetCounts();
        const watches: (readonly [name: string, traceOf: Awaited<ReturnType<Felt['watch']>>])[] = [];
        // One after the other: the connection of one reading must not be there for another.
        for (const row of [first, ...others]) watches.push([row.name, await row.felt.watch(bed)]);
        await traffic(bed);
        for (const [name, traceOf] of watches) {
          const { felt, evidence } = await traceOf();
          const isRight = !felt && !evidence.includes('could not be read');
          print(`${isRight ? 'no trace' : 'WRONG   '} ${name.padEnd(22)} ${evidence}`);
          held &&= isRight;
        }
      }
    } finally {
      await bed.stop();
    }
  }
  return held;
}

/** Searches that were asked before, and some that were not: counters that traffic alone raises must rise. */
async function traffic(bed: Bed): Promise<void> {
  const client = createClient({ baseUrl: bed.subject.url, boundMs: HUNG_MS, maxConnections: 4 });
  for (const text of bed.queries.repeated) await client.get(targetOf(text));
  for (let search = 0; search < 20; search += 1) await client.get(targetOf(bed.once()));
  client.close();
}
