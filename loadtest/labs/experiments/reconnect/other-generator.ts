import { countText } from '../../../../src/report/format.ts';
import type { Lab } from '../../kit/lab.ts';
import { type Counted, countedBenchmark } from '../many-clients/counted-benchmark.ts';
import { leftAlone, type WideStore } from '../many-clients/wide-store.ts';

export interface OtherRow extends Counted {
  readonly isKept: boolean;
  /** From one answer to the next as each client sees it, connecting included. */
  readonly roundMs: number;
}

const SECONDS = 1.5;
const PILOT_REQUESTS = 4000;
/** The first request of each client has a connection that was opened before the time began. */
const LEAST_OF_EACH = 5;
/** Of one row to one address: it has about 28,000 ports, and each may be held for a minute. */
const MOST_CONNECTS = 20_000;

/** The same by redis-benchmark, which is written in C: what differs from our driver's rows is the generator's own. */
export async function otherGenerator(
  lab: Lab,
  { store, targets }: WideStore,
  rungs: readonly number[],
): Promise<readonly OtherRow[]> {
  const rows: OtherRow[] = [];
  let turn = 0;
  for (const clients of rungs) {
    for (const isKept of [true, false]) {
      lab.say(`redis-benchmark, ${countText(clients)} clients, ${isKept ? 'kept' : 'new each time'}`);
      const once = async (requests: number): Promise<Counted> => {
        await leftAlone(lab, store);
        turn += 1;
        const host = targets[turn % targets.length]?.host ?? store.host;
        return countedBenchmark(lab, { store, host, clients, requests, ...(!isKept && { reconnects: true }) });
      };
      // At two thousand clients a pilot takes as long as the row: the row before says what to expect.
      const expected = rows.findLast((row) => row.isKept === isKept)?.perSecond;
      const rate = expected ?? (await once(PILOT_REQUESTS)).perSecond;
      const wanted = Math.max(clients * LEAST_OF_EACH, Math.round(rate * lab.seconds(SECONDS)));
      const run = await once(isKept ? wanted : Math.min(MOST_CONNECTS, wanted));
      rows.push({ ...run, isKept, roundMs: (clients / run.perSecond) * 1000 });
    }
  }
  return rows;
}
